"""Names of models and datasets: what references say, what tells alike ones apart, which names are refused."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot import names
from blindspot.datasets.catalog import DATASETS
from blindspot.errors import InputError
from blindspot.names import (
    LONGEST,
    Kind,
    Names,
    checked,
    in_address,
    in_force,
    name_of_dataset,
    name_of_model,
    shortened,
)
from blindspot.settings import Settings
from blindspot.store import naming
from blindspot.store.naming import names_of
from blindspot.store.repository import Repository
from blindspot.variants import Variant
from tests.support.tables import each


@each(
    "typed, reference",
    [
        ("support", "file:/a/support.csv"),
        ("support.csv", "file:/a/support.csv"),
        ("SUPPORT.CSV", "file:/a/support.csv"),
        ("Demo-Pairs", "demo-pairs"),
        ("pairs.tsv", "file:/a/pairs.tsv"),
        ("kb.csv", None),
        ("kb (old)", "file:/old/kb.csv"),
        ("a/support.csv", None),
    ],
)
def test_data_is_found_by_its_file_too_if_only_one_is_called_so(typed: str, reference: str | None) -> None:
    files = dict.fromkeys(("file:/a/support.csv", "file:/a/pairs.tsv", "file:/new/kb.csv", "file:/old/kb.csv"), "")
    of = Names.of([], {"demo-pairs": "Pairs"} | files, {(Kind.DATASET, "file:/a/pairs.tsv"): "Tickets of May"})
    assert of.reference(Kind.DATASET, typed) == reference


def test_a_model_is_found_by_its_folder_with_its_transform() -> None:
    of = Names.of(["minilm", "dir:/m/kb-ft", "vectors:/m/glove.txt"], {}, {(Kind.MODEL, "dir:/m/kb-ft"): "Ours"})
    assert of.reference(Kind.MODEL, "ours~center") == "dir:/m/kb-ft~center"
    assert of.reference(Kind.MODEL, "KB-ft~center") == "dir:/m/kb-ft~center"
    assert of.reference(Kind.MODEL, "glove.txt") == "vectors:/m/glove.txt"
    assert of.reference(Kind.MODEL, "m") is None


@each(
    ("reference", "name"),
    [
        ("minilm", "minilm"),
        ("dir:/a/b/minilm-kb-ft-v3", "minilm-kb-ft-v3"),
        ("dir:/a/b/minilm/", "minilm"),
        ("dir:/a/b/minilm?max_length=128&prompt=query%3A", "minilm (max length 128, prompt query:)"),
        ("dir:/a/e5?document_prompt=p%3A%20&query_prompt=q%3A%20", "e5 (document p:, query q:)"),
        ("hf:ORG/NAME", "NAME"),
        ("hf:ORG/NAME@0123456789abcdef", "NAME (@01234567)"),
        ("vectors:/a/glove.6B.300d.txt.gz", "glove.6B.300d"),
        ("table:/a/b/vectors.parquet", "vectors"),
        ("dir:/a/<b>x`y`</b>", "b_"),
        ("dir:/a/\u202egnp", "gnp"),
        ("dir:/a/नमस्ते", "नमस्ते"),
        ("dir:/", "dir"),
    ],
)
def test_a_model_is_called_by_what_its_reference_ends_with(reference: str, name: str) -> None:
    assert name_of_model(reference) == name


def test_a_dataset_is_called_by_its_file() -> None:
    assert name_of_dataset("file:/a/b/my pairs.csv?query=a&match=b") == "my pairs"
    assert name_of_dataset("file:/cache/uploads/0123456789ab/pairs.jsonl") == "pairs"


def test_a_file_is_known_by_its_name_in_an_address() -> None:
    for reference, name in (
        ("dir:/models/mine", "mine"),
        ("file:/texts/my pairs.csv", "my_pairs"),
        ("minilm", ""),
        ("hf:org/name", ""),
        ("minilm~center", ""),
    ):
        assert names.file_in_address(names.in_address(reference)) == name


def test_an_address_has_no_path_and_tells_equal_names_apart() -> None:
    for reference in (
        "demo-pairs",
        "minilm~center",
        "hf:ORG/NAME@0123~abtt:2",
        "python:mine/step-20",
        "fuse:bm25+minilm",
    ):
        assert in_address(reference) == reference
    references = [
        "file:/secret/a/my pairs.csv",
        "file:/secret/b/my pairs.csv",
        "file:/secret/a/my pairs.csv?query=x&match=secret",
        "dir:/secret/a/my pairs",
        "table:/secret/a.jsonl",
        "run:/secret/bm25.run",
        "vectors:/secret/glove.txt",
        "fuse:bm25+dir%3A%2Fsecret%2Fmodel",
        "dir:/secret/of~tilde/model",
    ]
    found = [in_address(reference) for reference in references]
    assert len(set(found)) == len(found)
    assert not [address for address in found if "secret" in address or "/" in address or "%" in address]
    assert found[0].startswith("my_pairs~")
    model = in_address("dir:/secret/model")
    assert in_address("dir:/secret/model~center+whiten:128") == f"{model}~center+whiten:128"


def test_the_label_is_the_name_and_the_transform() -> None:
    variant = Variant("dir:/secret/minilm-kb-ft-v3-of-the-spring", "center")
    assert variant.label == "minilm-kb-ft-v3-of-the-spring + center"
    short = variant.label_within(24)
    assert len(short) == 24
    assert short.startswith("minilm")
    assert short.endswith("spring + center"), "beginning and end of the model and the whole transform are left"
    with names.in_force(Names.of([variant.encoder], {}, {(Kind.MODEL, variant.encoder): "KB"})):
        assert variant.label == "KB + center"
    assert variant.label == "minilm-kb-ft-v3-of-the-spring + center"


def test_another_thread_has_names_of_its_own() -> None:
    found: list[str] = []
    with names.in_force(Names({"minilm": "mine"}, {})):
        thread = threading.Thread(target=lambda: found.append(Variant("minilm", "none").label))
        thread.start()
        thread.join()
    assert found == ["minilm"]


def test_alike_names_are_told_apart() -> None:
    found = Names.of(
        ["minilm", "dir:/x/one/m", "dir:/x/two/m", "dir:/z/minilm", "hf:a/N", "hf:b/N", "dir:/x/one/m?max_length=9"],
        {"demo-pairs": "Demo pairs", "file:/u/0123456789ab/p.jsonl": "", "file:/u/ba9876543210/p.jsonl": ""},
    )
    assert list(found.models.values()) == [
        "minilm",
        "m (one)",
        "m (two)",
        "minilm (z)",
        "N (a)",
        "N (b)",
        "m (max length 9)",
    ]
    assert list(found.datasets.values()) == ["Demo pairs", "p", "p (2)"], "no hash of an upload's folder"


def test_a_chosen_name_is_kept_and_others_give_way() -> None:
    found = Names.of(["dir:/x/m", "dir:/y/other"], {}, {("model", "dir:/y/other"): "m"})
    assert found.models == {"dir:/y/other": "m", "dir:/x/m": "m (x)"}


_REFERENCES = st.builds(
    "{}{}".format, st.sampled_from(["dir:/", "hf:a/", "vectors:/b/", "table:/b/c/", ""]), st.text(min_size=1)
)


@given(
    st.lists(_REFERENCES, max_size=12, unique=True),
    st.dictionaries(st.tuples(st.just("model"), _REFERENCES), st.sampled_from(["a", "b", "m (2)"]), max_size=3),
)
def test_no_two_names_are_alike_and_all_are_plain(references: list[str], chosen: dict[tuple[str, str], str]) -> None:
    found = Names.of(references, {}, chosen).models
    assert set(found) == {*references, *(reference for _, reference in chosen)}
    assert len({name.casefold() for name in found.values()}) == len(found)
    assert all(0 < len(name) <= LONGEST for name in found.values())
    assert not any(c in "<>`$*[]|\n\t" for name in found.values() for c in name)


@each(
    "name",
    [
        "",
        "   ",
        "x" * 300,
        "<b>x</b>",
        "`x`",
        "**x**",
        "[x](http://y)",
        "$x$",
        "a\u202eb",
        "a\u200bb",
        "a\x00b",
        "…",
        "--",
    ],
)
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        checked(name)


@each("name", ["MiniLM, fine-tuned (v2)", "מודל", "模型 2", "é", "a/b & c"])
def test_what_is_a_name_is_kept(name: str) -> None:
    assert checked(f"  {name} ") == name


@given(st.text(), st.integers(min_value=3, max_value=50))
def test_a_shortened_name_keeps_its_ends(name: str, width: int) -> None:
    found = shortened(name, width)
    assert len(found) <= max(width, 0)
    assert found == name if len(name) <= width else "…" in found


def test_names_follow_the_catalog(settings: Settings, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(DATASETS, "stsb-all", replace(DATASETS["stsb-all"], title="another title"))
        assert names_of(repository, settings).dataset("stsb-all") == "another title"
    assert names_of(repository, settings).dataset("stsb-all") == DATASETS["stsb-all"].title


def test_a_name_that_another_has_is_refused_and_ones_own_may_be_written_anew(
    settings: Settings, repository: Repository
) -> None:
    with in_force(Names({"dir:/x/one": "First", "dir:/x/two": "Second"})):
        with pytest.raises(InputError, match="already called 'second'"):
            naming.rename(Kind.MODEL, "dir:/x/one", "second", settings, repository)
        naming.rename(Kind.MODEL, "dir:/x/one", "FIRST", settings, repository)
        naming.rename(Kind.MODEL, "dir:/x/two", "Third", settings, repository)
