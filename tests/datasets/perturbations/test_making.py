"""Minimal pairs from a user's own texts: proposals, rejections, rows, the files they are read from and written to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.fetch import load
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.perturbations import making, source
from blindspot.datasets.perturbations.making import Form, propose, rows
from blindspot.datasets.perturbations.rules import KINDS
from blindspot.errors import InputError
from blindspot.settings import Settings
from tests.support.tables import each

TEXTS = tuple((Path(__file__).parent / "sentences.txt").read_text("utf-8").splitlines())
SOME = TEXTS[:20]


def loaded(path: Path, found: list[dict[str, str]], settings: Settings) -> MinimalPairSet:
    path.write_bytes(making.as_jsonl(found))
    data = load(find_dataset(f"file:{path}"), settings)
    assert isinstance(data, MinimalPairSet)
    return data


def test_pairs_load_as_a_file_with_their_kinds(tmp_path: Path, settings: Settings) -> None:
    made = propose(TEXTS)
    found = rows(made)
    data = loaded(tmp_path / "made.jsonl", found, settings)
    assert data.subsets == (making.KEPT_MEANING, making.CHANGED_MEANING)
    assert len(data.originals) == len(found)
    columns = {column.name: column for column in data.own_columns}
    assert set(columns) == {making.KIND, making.KEPT_BY}
    assert columns[making.KIND].cells == [row["own: kind"] for row in found]
    for row in found:
        assert len({row["original"], row["rewrite:kept_meaning"], row["rewrite:changed_meaning"]}) == 3
    # every accepted rewrite that changes the meaning has a row if its text has one that keeps it
    kept = {p.number for p in made.proposals if p.rule.keeps}
    assert len(found) == sum(not p.rule.keeps and p.number in kept for p in made.proposals)


def test_columns_load_as_a_file(tmp_path: Path, settings: Settings) -> None:
    found = rows(propose(SOME, ["position", "case", "truncation"]), form=Form.COLUMNS)
    data = loaded(tmp_path / "made.jsonl", found, settings)
    assert set(data.subsets) == {*(f"kept_position_{n}" for n in range(1, 11)), "kept_case", "changed_truncation"}
    assert all(len(row) == 13 for row in found)


def test_one_meaning_alone_makes_columns() -> None:
    made = propose(SOME, ["case", "spacing"])
    assert set(rows(made)[0]) == {"original", "rewrite:kept_case", "rewrite:kept_spacing"}
    with pytest.raises(InputError, match="kinds of both"):
        rows(made, form=Form.PAIRS)


def test_the_seed_decides_and_neither_kinds_nor_other_texts_do() -> None:
    def ids(*asked: object) -> set[str]:
        return {p.id for p in propose(*asked).proposals if p.rule.kind == "typo"}  # type: ignore[arg-type]

    assert ids(SOME) == ids(SOME, ["typo"]) == ids(tuple(reversed(SOME)), ["typo"])
    assert ids(SOME[:5]) < ids(SOME)
    assert ids(SOME, ["typo"], 1) != ids(SOME, ["typo"])


def test_what_is_rejected_is_in_no_row() -> None:
    made = propose(SOME)
    refused = [p for p in made.proposals if p.rule.kind in {"case", "date"}]
    found = rows(made, {p.id for p in refused})
    texts = {row[name] for row in found for name in ("rewrite:kept_meaning", "rewrite:changed_meaning")}
    assert texts.isdisjoint(p.rewrite for p in refused)
    counts = {rule.name: n for rule, n in made.counts({p.id for p in refused}).items()}
    assert (counts["case"], counts["date"]) == (0, 0)
    assert counts["typo"] == sum(p.rule.kind == "typo" for p in made.proposals)


def test_every_text_and_rule_has_a_rewrite_or_a_reason() -> None:
    made = propose(SOME)
    assert len(made.proposals) + len(made.skipped) == len(SOME) * len(made.rules)
    for rule in made.rules:
        assert sum(n for _, n in made.reasons(rule)) + made.counts()[rule] == len(SOME)
    kinds = {one.kind: one for one in made.by_kind()}
    assert list(kinds) == list(dict.fromkeys(rule.kind for rule in made.rules))
    for kind, one in kinds.items():
        assert one.rewrites == sum(proposal.rule.kind == kind for proposal in made.proposals)
        assert one.passed_over == sum(skip.rule.kind == kind for skip in made.skipped)
        assert [n for _, n in one.reasons] == sorted((n for _, n in one.reasons), reverse=True)


def test_texts_that_no_rule_can_change() -> None:
    with pytest.raises(InputError, match="no rule can change any of these 2 texts"):
        propose(["12 34", "56"], ["negation_inserted", "date"])
    with pytest.raises(InputError, match="at least 2"):
        rows(propose(["She went home."]), form=Form.COLUMNS)


# --- the texts


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "one two\n\n  three  \none two\n"),
        ("a.csv", "text\none two\nthree\n"),
        ("a.csv", "id,text\n1,one two\n2,three\n"),
        ("a.tsv", "text\none two\nthree\n"),
        ("a.jsonl", '{"text": "one two"}\n{"text": "three"}\n'),
        ("a.jsonl", '{"title": "x", "text": "one two"}\n{"title": "y", "text": "three"}\n'),
    ],
)
def test_texts_of_a_file(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    assert source.read(path) == ("one two", "three")


@each(
    ("name", "content", "says"),
    [
        ("a.txt", b"", "has no text"),
        ("a.txt", b" \n\t\n", "has no text"),
        ("a.csv", b"", "is empty"),
        ("a.txt", b"\x89PNG\r\n\x1a\n\xff", "not UTF-8"),
        ("a.txt", b"a\0b", "zero byte"),
        ("a.txt", b"PK\x03\x04", "zip archive"),
        ("a.docx", b"x", "cannot tell the format"),
        ("a.jsonl", b"{not json", "line 1"),
        ("a.csv", b"left,right\nx y,z\nu,v w\n", "which column"),
    ],
)
def test_wrong_files_have_one_line(name: str, content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=says) as error:
        source.read(path)
    assert "\n" not in str(error.value)


def test_texts_of_a_parquet_file_of_one_or_more_columns(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    path, texts = tmp_path / "a.parquet", pa.array(["one two", None, "three", "one two"])
    for columns in ({"only": texts}, {"id": pa.array([1, 2, 3, 4]), "text": texts}):
        parquet.write_table(pa.table(columns), path)
        assert source.read(path) == ("one two", "three")
    parquet.write_table(pa.table({"id": pa.array([1, 2])}), path)
    with pytest.raises(InputError, match="one column, 'id'"):
        source.read(path)
    for broken in (b"", b"PAR1 and no more"):
        path.write_bytes(broken)
        with pytest.raises(InputError) as error:
            source.read(path)
        assert "\n" not in str(error.value)


def test_limits_and_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("left,right\nx y,z\nu,v w\n")
    assert source.read(path, "right") == ("z", "v w")
    with pytest.raises(InputError, match="'right'"):
        source.read(path, "rightt")
    with pytest.raises(InputError, match="at most 1"):
        source.parse(Path("a.txt"), b"one\ntwo\n", most=1)
    with pytest.raises(InputError, match="has no columns"):
        source.parse(Path("a.txt"), b"one\n", "text")
    with pytest.raises(InputError):
        source.read(tmp_path / "nowhere.txt")


# --- the command


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    from blindspot.cli import main

    code = main(["make", "minimal-pairs", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.txt"
    path.write_text("\n".join(SOME), "utf-8")
    return path


def test_the_command_writes_and_previews(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--texts", str(texts), "--kinds", "typo,date", "--preview", "2", "--json")
    shown = json.loads(out)
    assert code == 0
    assert not list(texts.parent.glob("*.jsonl"))
    assert [row["kind"] for row in shown["preview"]] == ["date", "date", "typo", "typo"]
    (texts.parent / "no.txt").write_text(shown["preview"][0]["id"])
    code, out, _ = run(capsys, "--texts", str(texts), "--kinds", "typo,date", "--rejected", "no.txt", "--json")
    wrote = json.loads(out)
    assert (code, wrote["rejected"]) == (0, 1)
    assert wrote["kinds"]["date"]["rewrites"] == shown["kinds"]["date"]["rewrites"] - 1
    lines = Path(wrote["file"]).read_text("utf-8").splitlines()
    assert (wrote["file"], len(lines)) == ("mine-minimal-pairs.jsonl", wrote["rows"])
    assert shown["preview"][0]["rewrite"] not in {json.loads(line)["rewrite:changed_meaning"] for line in lines}
    code, out, _ = run(capsys, "--texts", str(texts), "--preview", "1")
    assert code == 0
    assert all(kind in out for kind in KINDS)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--kinds", "quantifer"), "'quantifier'"),
        (("--kinds", "typo,"), "empty name"),
        (("--output", "here.docx"), ".jsonl"),
        (("--output", "nowhere/here.jsonl"), "no folder"),
        (("--rejected", "nowhere.txt"), "nowhere.txt"),
        (("--rejected", "large.txt"), "4,194,304"),
    ],
)
def test_wrong_options_have_one_line(
    arguments: tuple[str, ...], says: str, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (texts.parent / "large.txt").open("wb") as file:
        file.truncate(4 * 2**20 + 1)
    code, _, err = run(capsys, "--texts", str(texts), *arguments)
    assert code == 2
    assert says in err
    assert err.count("\n") == 1
