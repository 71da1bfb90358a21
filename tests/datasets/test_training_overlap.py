"""Pairs that stand in a training set."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.datasets import fetch, training_overlap
from blindspot.datasets.catalog import SOURCES, find_dataset
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.training_overlap import overlap, parse, read_file, training_set
from blindspot.errors import InputError
from blindspot.files import tables
from blindspot.settings import Settings
from blindspot.texts import near_duplicate_key
from tests.support.commands import Command
from tests.support.small_world import CAT, DOG, DOG_IS, SMALL_PAIRS, GramEncoder
from tests.support.tables import each
from tests.support.world import World

TEXT = st.sampled_from(["a b", "A B!", "ab", "c", "C.", "!!", "??", "d e f"])


@given(
    st.lists(st.lists(TEXT, min_size=1, max_size=3), min_size=1, max_size=6),
    st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6),
)
def test_a_pair_is_found_as_a_loop_over_rows_finds_it(rows: list[list[str]], pairs: list[tuple[str, str]]) -> None:
    def same(one: str, other: str) -> bool:
        return (
            near_duplicate_key(one) == near_duplicate_key(other)
            if near_duplicate_key(one) or near_duplicate_key(other)
            else one == other
        )

    found = overlap([q for q, _ in pairs], [m for _, m in pairs], training_set("t", rows))
    for (query, match), both, any_text in zip(pairs, found.both, found.any_text, strict=True):
        in_one_row = False
        for row in rows:
            for i, one in enumerate(row):
                for j, other in enumerate(row):
                    in_one_row |= i != j and same(one, query) and same(other, match)
        assert both == in_one_row
        assert any_text == any(same(text, query) or same(text, match) for row in rows for text in row)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.txt", "A dog.\tA hound.\nalone\n\n"),
        ("t.csv", 'label,first,second\n1,"A dog.",A hound.\n0,alone,\n'),
        ("t.tsv", "first\tsecond\nA dog.\tA hound.\nalone\t\n"),
        ("t.jsonl", '{"a": "A dog.", "b": "A hound.", "n": 1}\n{"a": "alone", "b": "", "n": 2}\n'),
    ],
)
def test_files_of_every_kind_are_read(tmp_path: Path, name: str, text: str) -> None:
    found = read_file(write(tmp_path / name, text))
    assert (found.name, found.rows) == (name, 2)
    assert found.texts == {"adog", "ahound", "alone"}
    assert found.pairs == {frozenset({"adog", "ahound"})}


def test_parquet_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": ["A dog."], "b": ["A hound."], "score": [0.5]}).to_parquet(path)
    assert read_file(path).pairs == {frozenset({"adog", "ahound"})}


def test_a_file_without_a_header_loses_no_row() -> None:
    data = b"A dog.,A hound.\nA cat.,A kitten.\n"
    assert parse(Path("t.csv"), data, header=False).rows == 2
    assert parse(Path("t.csv"), data).rows == 1


@each(
    ("name", "data", "message"),
    [
        ("t.txt", b"", "t.txt has no texts"),
        ("t.txt", b"\xff\xfe", "not UTF-8"),
        ("t.doc", b"x", "cannot tell the format"),
        ("t.csv", b"a,b\n1,2\n", "no column of text"),
        ("t.csv", b"", "is empty"),
        ("t.csv", b"only one\nx\n", "has one column"),
        ("t.tsv", "\t".join("abcdefghijk").encode() + b"\n" + "\t".join("lmnopqrstuv").encode(), "11 columns of text"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(name: str, data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(Path(name), data)


def test_the_limits_are_those_of_own_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tables, "MAX_ROWS", 2)
    with pytest.raises(InputError, match="3 rows"):
        parse(Path("t.txt"), b"a\nb\nc\n")
    monkeypatch.setattr(tables, "MAX_BYTES", 3)
    with pytest.raises(InputError, match="6 bytes"):
        read_file(write(tmp_path / "t.txt", "a\nb\nc\n"))
    with pytest.raises(InputError, match="there is no file"):
        read_file(tmp_path / "none.txt")


def test_the_command_gives_the_score_on_the_rest(world: World, blindspot: Command, tmp_path: Path) -> None:
    small = world.add(SMALL_PAIRS, GramEncoder())
    run = small.run("evalrank", "trigrams", "small-pairs")
    path = write(tmp_path / "train.txt", f"{DOG_IS.upper()}\t{DOG}\n{CAT}\n")
    printed = blindspot("runs", "overlap", run.run_id, "--training", str(path), "--json").json
    # (DOG, DOG_IS) and its reverse; (DOG, DOG_THE), (CAT, CAT) and (CAT, DOG) have a text in it
    assert (printed["pairs"], printed["pairs_in_training"], printed["pairs_with_a_text_in_training"]) == (9, 2, 5)
    assert printed["scores"]["rest"]["raw"]["pairs"] == 7
    again = blindspot("runs", "overlap", run.run_id, "--training", f"file:{path}", "--json")  # as --dataset has it
    assert again.json == printed
    done = blindspot("run", "evalrank", "--encoder", "trigrams", "--dataset", "small-pairs")
    assert done.code == 0
    (warning,) = [line for line in done.err.splitlines() if line.startswith("warning:")]
    assert "train.txt" in warning
    assert "2 of 9" in warning
    training_overlap.forget(small.settings.training, run.plan.dataset_digest)
    assert training_overlap.remembered(small.settings.training, run.plan.dataset_digest) == ()
    refused = blindspot("runs", "overlap", run.run_id, "--training", str(tmp_path / "none.csv"))
    assert refused.code == 2
    assert "there is no file" in refused.error


@pytest.mark.realdata
def test_sentence_pairs_that_stand_in_stsb_training_part(shared_settings: Settings) -> None:
    entry = find_dataset("evalrank-sent")
    pairs, scored = fetch.load(entry, shared_settings), fetch.load(SOURCES[entry.sources], shared_settings)
    assert isinstance(pairs, PairSet)
    assert isinstance(scored, ScoredPairs)
    training = training_overlap.of_sts_benchmark("STS-B", scored)
    queries, matches = [pairs.items[i] for i in pairs.queries], [pairs.items[i] for i in pairs.matches]
    found = overlap(queries, matches, training)
    assert training.rows == 5_749
    assert found.both.sum() == 3_224  # directed: more than stand there to the letter, since STR took some, cased anew
    seen = zip(queries, matches, found.both.tolist(), strict=True)
    assert len({frozenset((query, match)) for query, match, both in seen if both}) == 1_618
    assert found.any_text.sum() == 3_448
