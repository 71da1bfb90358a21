"""Columns of two values beside a pair: which rows are matches, and as what a file is read by whom."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from blindspot.datasets.catalog import DatasetRef, find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data.columns import FIRST, SCORE, SECOND
from blindspot.datasets.user_data.files import UnclearKind, tabulate
from blindspot.datasets.user_data.judged import positive_of
from blindspot.datasets.user_data.pairs import OwnPairs
from blindspot.datasets.user_data.retrieval import OwnRetrieval
from blindspot.datasets.user_data.scored_pairs import OwnScoredPairs
from blindspot.errors import InputError
from tests.support.tables import each

N = 6
MARKED = (0, 2, 3)  # rows
FIRSTS = [f"who waters the plant number {i}" for i in range(N)]
SECONDS = [f"the person that pours for pot {i}" for i in range(N)]
READ_AS = (DatasetKind.PAIR_SET, DatasetKind.SCORED_PAIRS, DatasetKind.RETRIEVAL)
WORDS: dict[str, tuple[object, object]] = {
    "digits": ("0", "1"),
    "decimals": ("0.0", "1.0"),
    "signs": ("-1", "1"),
    "truth": ("false", "true"),
    "capitals": ("FALSE", "TRUE"),
    "letters": ("n", "y"),
    "yes": ("No", "Yes"),
    "negated": ("not_paraphrase", "paraphrase"),
    "prefixed": ("irrelevant", "relevant"),
    "spaced": ("not a match", "a match"),
    "entailed": ("not_entailment", "entailment"),
    "in Italian": ("FALSO", "VERO"),
    "in Dutch": ("Onwaar", "Waar"),
    "in Russian": ("нет", "да"),
}
HEADERS = (
    ("question1", "question2", "is_duplicate"),
    ("#1 String", "#2 String", "Quality"),
    ("sentence1", "sentence2", "label"),
    ("text_a", "text_b", "labels"),
    ("source", "target", "is_match"),
    ("left sentence", "right sentence", "similar"),
    ("sentence1", "sentence2", "paraphrase"),
    ("one wording", "other wording", "verdict of anna"),
    ("query", "wording", "match"),  # elsewhere the name of the second text
)


def rows_of(header: tuple[str, str, str], no: object, yes: object) -> list[dict[str, object]]:
    return [dict(zip(header, (FIRSTS[i], SECONDS[i], yes if i in MARKED else no), strict=True)) for i in range(N)]


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    else:
        between = "\t" if path.suffix == ".tsv" else ","
        lines = [between.join(map(str, row.values())) for row in rows]
        path.write_text("\n".join([between.join(rows[0]), *lines, ""]), "utf-8")
    return path


def wrong_readings(path: Path) -> list[str]:
    """What is wrong with a file's readings as the three kinds."""
    pairs, scored, retrieval = (DatasetRef(f"file:{path}").of_kind(kind).entry().own for kind in READ_AS)
    wrong = []
    if not (isinstance(pairs, OwnPairs) and pairs.pairs == tuple((FIRSTS[i], SECONDS[i]) for i in MARKED)):
        wrong.append("pairs")
    elif "3 of 6" not in pairs.assumptions:
        wrong.append("pairs without a word")
    if not (
        isinstance(scored, OwnScoredPairs) and {i for i, row in enumerate(scored.pairs) if row[2] == 1} == {*MARKED}
    ):
        wrong.append("scored")
    grades = {j.query: j.grade for j in retrieval.judgments} if isinstance(retrieval, OwnRetrieval) else {}
    if len(grades) != N or {i for i, grade in grades.items() if grade == 1} != {*MARKED}:
        wrong.append("retrieval")
    return wrong


def test_marks_are_told_by_their_values_in_every_format(tmp_path: Path) -> None:
    wrong = {}
    for name, (no, yes) in WORDS.items():
        for ending in ("csv", "tsv", "jsonl", "parquet"):
            path = written(tmp_path / f"{name}.{ending}", rows_of(HEADERS[0], no, yes))
            if bad := wrong_readings(path):
                wrong[path.name] = bad
    for header in HEADERS:
        path = written(tmp_path / f"{header[2]}.tsv", rows_of(header, 0, 1))
        if bad := wrong_readings(path):
            wrong[path.name] = bad
    for ending in ("jsonl", "parquet"):
        path = written(tmp_path / f"booleans.{ending}", rows_of(HEADERS[0], no=False, yes=True))
        if bad := wrong_readings(path):
            wrong[path.name] = bad
    assert not wrong


@each(
    "classes, marked",
    [
        (["entailment", "not_entailment"], {"b", "d"}),  # as in GLUE's RTE and QNLI
        (["not_equivalent", "equivalent"], {"a", "c"}),
        (["0", "1"], {"a", "c"}),  # PAWS: no names
    ],
)
def test_numbers_of_classes_are_what_the_file_says_that_they_are(
    tmp_path: Path, classes: list[str], marked: set[str]
) -> None:
    """Hugging Face's Parquet files name the classes that their numbers stand for."""
    feature = {"label": {"names": classes, "_type": "ClassLabel"}, "one": {"dtype": "string", "_type": "Value"}}
    metadata = {b"huggingface": json.dumps({"info": {"features": feature}}).encode()}
    table = pa.table({"sentence1": [*"abcd"], "sentence2": [*"efgh"], "label": [1, 0, 1, 0]})
    parquet.write_table(table.replace_schema_metadata(metadata), path := tmp_path / "train.parquet")
    pairs, scored, _ = (DatasetRef(f"file:{path}").of_kind(kind).entry().own for kind in READ_AS)
    assert isinstance(pairs, OwnPairs)
    assert isinstance(scored, OwnScoredPairs)
    assert {query for query, _ in pairs.pairs} == marked == {first for first, _, score in scored.pairs if score == 1}


@each(
    "metadata", [b"", b"[]", b'{"info": 1}', b'{"info": {"features": {"label": {"_type": "ClassLabel", "names": 3}}}}']
)
def test_damaged_names_of_classes_are_left_alone(metadata: bytes) -> None:
    table = pa.table({"text": ["a", "b"], "label": pa.array([-1, 2])}).replace_schema_metadata(
        {b"huggingface": metadata}
    )
    parquet.write_table(table, sink := pa.BufferOutputStream())
    assert list(tabulate(Path("x.parquet"), sink.getvalue().to_pybytes()).table.cells[1]) == [-1, 2]


def test_without_a_diagnostic_the_readings_are_named_ready_to_copy(tmp_path: Path) -> None:
    for header in HEADERS:
        path = written(tmp_path / f"{header[2]}.csv", rows_of(header, "no", "yes"))
        with pytest.raises(UnclearKind) as caught:
            find_dataset(f"file:{path}")
        assert set(caught.value.readings) >= set(READ_AS)
        for kind, reference in caught.value.readings.items():
            if kind in READ_AS:
                assert f'"{reference}"' in str(caught.value)
                assert find_dataset(reference).kind is kind


def test_names_that_decide_are_not_asked_about(tmp_path: Path) -> None:
    for header, kind in (
        (("query", "passage", "relevance"), DatasetKind.RETRIEVAL),
        (("query", "document", "is_relevant"), DatasetKind.RETRIEVAL),
        (("question", "answer", "relevant"), DatasetKind.RETRIEVAL),
        (("query", "document", "label"), DatasetKind.RETRIEVAL),
        (("sentence1", "sentence2", "score"), DatasetKind.SCORED_PAIRS),
    ):
        path = written(tmp_path / f"{'-'.join(header)}.csv", rows_of(header, 0, 1))
        entry = find_dataset(f"file:{path}")
        assert entry.kind is kind, header
        assert wrong_readings(path) == [], header


def test_grades_beside_a_passage_are_grades(tmp_path: Path) -> None:
    rows = [{"query": FIRSTS[i], "passage": SECONDS[i], "relevance": i % 4} for i in range(N)]
    found = find_dataset(f"file:{written(tmp_path / 'grades.csv', rows)}").own
    assert isinstance(found, OwnRetrieval)
    assert [judged.grade for judged in found.judgments] == [0, 1, 2, 3, 0, 1]
    assert not found.columns_as(DatasetKind.PAIR_SET), "no advice drops the grades"


def test_no_advice_drops_the_marks(tmp_path: Path) -> None:
    rows = [
        {"query": f"how {i}?", "match": f"so {i}. " * 9, "is_match": i % 2, "team": "ab"[i % 4 // 2]} for i in range(20)
    ]
    found = DatasetRef(f"file:{written(tmp_path / 'x.jsonl', rows)}").of_kind(DatasetKind.PAIR_SET).entry().own
    assert isinstance(found, OwnPairs)
    assert found.doubt
    assert "relevance=is_match" in found.instead(DatasetKind.RETRIEVAL)
    (own,) = found.own_columns
    assert own.cells == ["ab"[i % 4 // 2] for i in range(20) if i % 2], "groups follow the kept rows"


def test_what_marks_nothing(tmp_path: Path) -> None:
    """Columns about a row, ids of two rows, and values that do not say which is the match."""
    for name, values in (
        ("lang", ("no", "yes")),
        ("annotator", (0, 1)),
        ("place", ("tea", "coffee")),
        ("topic", (0, 1)),
    ):
        path = written(tmp_path / f"{name}.jsonl", rows_of(("query", "match", name), *values))
        found = find_dataset(f"file:{path}").own
        assert isinstance(found, OwnPairs)
        assert len(found.pairs) == N
    assert positive_of(["a", "b"]) is None
    assert positive_of([1, 1, 1]) is None
    assert positive_of(["1", "0", "2"]) is None


def test_broken_marks_are_refused(tmp_path: Path) -> None:
    header = HEADERS[0]
    rows = rows_of(header, "0", "1")
    rows[4][header[2]] = ""
    path = written(tmp_path / "gap.csv", rows)
    with pytest.raises(InputError, match="line 6, column 'is_duplicate': nothing there"):
        DatasetRef(f"file:{path}").of_kind(DatasetKind.PAIR_SET).entry()
    path = written(tmp_path / "two.csv", [row | {"is_match": i % 2} for i, row in enumerate(rows_of(header, 0, 1))])
    with pytest.raises(InputError, match="'is_duplicate', 'is_match'"):
        DatasetRef(f"file:{path}").of_kind(DatasetKind.PAIR_SET).entry()
    path = written(tmp_path / "one.csv", [row | {header[2]: int(i == 1)} for i, row in enumerate(rows)])
    with pytest.raises(InputError, match="marks 1 of 6 rows"):
        DatasetRef(f"file:{path}").of_kind(DatasetKind.PAIR_SET).entry()


def test_the_upload_form_starts_with_the_mark_as_the_score(tmp_path: Path) -> None:
    header = HEADERS[0]
    path = written(tmp_path / "t.csv", rows_of(header, 0, 1))
    table = tabulate(path, path.read_bytes()).table
    assert OwnScoredPairs.preselected(table) == {FIRST: 0, SECOND: 1, SCORE: 2}
