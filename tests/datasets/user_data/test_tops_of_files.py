"""What comes before a header, and quotes in tab-separated files: left out and said, or asked about."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.user_data.columns import UnclearColumns
from blindspot.datasets.user_data.pairs import OwnPairs
from blindspot.errors import InputError
from tests.support.tables import each

PAIRS = (("a b", "c d"), ("e f", "g h"), ("i j", "k l"))


def rows(separator: str = ",", header: str = "query{}match") -> str:
    return "\n".join([header.format(separator), *(separator.join(pair) for pair in PAIRS), ""])


@each(
    "name, content, said",
    [
        ("t.csv", f"sep=;\n{rows(';')}", "separated by ';'"),
        ("t.csv", f'"sep=;"\r\n{rows(";")}', "separated by ';'"),
        ("t.csv", f"\ufeffsep=,\n{rows()}", "separated by ','"),
        ("t.csv", f"\ufeff\ufeff{rows()}", ""),
        ("t.csv", f"\n\n{rows()}", ""),
        ("t.csv", f"Our golden set\n{rows()}", "'Our golden set'"),
        ("t.csv", f"Our golden set\n\nof May\n{rows()}", "'of May'"),
        ("t.csv", f"# made, by hand\n{rows()}", "'# made by hand'"),
        ("t.tsv", f"# made\tby hand\n{rows(chr(9))}", "made"),
        ("t.csv", rows() + rows(), "the header again, in line 5"),
        ("t.csv", rows().replace("e f", "query").replace("g h", "match"), "the header again, in line 3"),
        ("t.tsv", '"query"\t"match"\n' + "".join(f'"{a}"\t"{b}"\n' for a, b in PAIRS), "quotes around all cells"),
        ("t.tsv", "query\tmatch\n" + "".join(f'"{a}"\t"{b}"\n' for a, b in PAIRS), "quotes around all cells"),
        ("t.csv", "Titel,,\n" + rows(header="query{}match,note").replace("\na b,c d\n", "\na b,c d,\n"), None),
    ],
)
def test_what_is_no_row_is_left_out_and_said(tmp_path: Path, name: str, content: str, said: str | None) -> None:
    (tmp_path / name).write_text(content, "utf-8", newline="")
    if said is None:  # the other rows are narrower
        with pytest.raises(InputError, match=r"line 4: 2 cell\(s\)"):
            find_dataset(f"file:{tmp_path / name}")
        return
    own = find_dataset(f"file:{tmp_path / name}").own
    assert isinstance(own, OwnPairs)
    kept = PAIRS if "in line 3" not in said else (PAIRS[0], PAIRS[2])
    assert own.pairs[: len(kept)] == kept
    assert said in own.assumptions
    assert bool(own.assumptions) == bool(said)


@each(
    "content, pairs, is_said",
    [
        ('query, match\n"a b", "c d"\n"e f", "g h"\n', (("a b", "c d"), ("e f", "g h")), True),
        ('"query"; "match"\n"a; b";  "c\nd"\n"e ""f""";  "g; h"\n', (("a; b", "c\nd"), ('e "f"', "g; h")), True),
        ('query, match, nr\na b, "c, d", 1\ne f, "g, h", 1\n', (("a b", "c, d"), ("e f", "g, h")), True),
        ('query,match\na b, "c d" is said\ne f, "g"\n', (("a b", ' "c d" is said'), ("e f", ' "g"')), False),
        ("query,match\na b, c d\ne f, g h\n", (("a b", " c d"), ("e f", " g h")), False),
        ('query,match\n"a, ""b""",c\n"d, ""e""",f\n', (('a, "b"', "c"), ('d, "e"', "f")), False),
    ],
)
def test_quotes_after_a_space_hold_cells_together(
    tmp_path: Path, content: str, pairs: tuple[tuple[str, str], ...], is_said: bool
) -> None:
    """Where a column has them in every cell, or nothing else makes rows; else spaces and quotes are text."""
    (tmp_path / "t.csv").write_text(content, "utf-8")
    own = find_dataset(f"file:{tmp_path / 't.csv'}").own
    assert isinstance(own, OwnPairs)
    assert own.pairs == pairs
    assert ("spaces between" in own.assumptions) is is_said


def test_quotes_around_some_cells_are_text(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text('query\tmatch\n"a b"\tc d\ne f\tg h\n', "utf-8")
    own = find_dataset(f"file:{tmp_path / 't.tsv'}").own
    assert isinstance(own, OwnPairs)
    assert own.pairs[0] == ('"a b"', "c d")


@each(
    "content, said",
    [
        ("query,\na b,c d\ne f,g h\n", "a title, or a header without a name"),
        (",match\na b,c d\ne f,g h\n", "a title, or a header without a name"),
        ("query,match\na;b\nc;d\ne;f\n", "',' in 'query,match' and by ';' below it"),
        ("query;match\na,b\nc,d\ne,f\n", "';' in 'query;match' and by ',' below it"),
        ("query,match,\na b,c d,x\ne f,g h,y\n", "column 3 has no name"),
        ("query,match\na b,c d,x\ne f,g h,y\n", "line 2: 3 cell(s)"),
    ],
)
def test_a_first_line_that_may_be_the_header_is_asked_about(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "t.csv").write_text(content, "utf-8")
    with pytest.raises(InputError) as caught:
        find_dataset(f"file:{tmp_path / 't.csv'}")
    assert said in str(caught.value)


@each(
    "kind, header, cells",
    [
        (DatasetKind.SCORED_PAIRS, "text1,text2,score", [f"a {n},b {n},{n}" for n in range(6)]),
        (DatasetKind.LABELED_TEXTS, "text,label", [f"a text {n},{'xy'[n % 2]}" for n in range(30)]),
        (DatasetKind.VOCABULARY, "word,count", [f"{word},{n + 1}" for n, word in enumerate("abcdef")]),
        (DatasetKind.MINIMAL_PAIR_SET, "original,negation", [f"a {n},not a {n}" for n in range(6)]),
        (DatasetKind.RETRIEVAL, "query,document", [f"a {n},b {n}" for n in range(6)]),
    ],
)
def test_every_kind_of_file_has_the_same_top(tmp_path: Path, kind: DatasetKind, header: str, cells: list[str]) -> None:
    plain = "\n".join([header, *cells, ""])
    tops = {
        "plain": plain,
        "top": f"sep=,\n{plain}",
        "title": f"\ufeffOf May\n\n{plain}",
        "twice": f"{plain}{header}\n",
    }
    digests = set()
    for name, content in tops.items():
        (tmp_path / name).mkdir()
        path = tmp_path / name / "t.csv"
        path.write_text(content, "utf-8")
        entry = find_dataset(f"file:{path}")
        assert entry.kind is kind
        digests.add(entry.load(entry.id, ()).content_digest)
    assert len(digests) == 1


def test_tables_of_a_folder_have_it_too(tmp_path: Path) -> None:
    for name, content in {
        "corpus.csv": "sep=;\nid;text\nd1;a b\nd2;c d\n",
        "queries.csv": "Asked in May\n\nid,text\nq1,e f\n",
        "qrels.csv": "\ufeff# by hand\nqid,docid,rel\nq1,d1,1\n",
    }.items():
        (tmp_path / name).write_text(content, "utf-8")
    entry = find_dataset(f"dir:{tmp_path}")
    data = entry.load(entry.id, ())
    assert isinstance(data, RetrievalDataset)
    assert (data.document_ids, data.query_ids, data.grades.tolist()) == (("d1", "d2"), ("q1",), [1])


@each(
    "first, is_header",
    [(("ham", "hello there"), False), (("kind", "said"), True), (("DESC:date", "when was it"), False)],
)
def test_a_first_line_with_one_of_the_classes_is_no_header(
    tmp_path: Path, first: tuple[str, str], is_header: bool
) -> None:
    classes = ("spam", "ham", "DESC:date")
    lines = ["\t".join(first), *(f"{classes[i % 3]}\tthis is message {i}" for i in range(60))]
    (tmp_path / "sms.tsv").write_text("\n".join(lines), "utf-8")
    with pytest.raises(UnclearColumns) as caught:
        find_dataset(f"file:{tmp_path / 'sms.tsv'}")
    assert (f"has '{first[0]}'" in str(caught.value)) is not is_header
    confirmed = find_dataset(f"file:{tmp_path / 'sms.tsv'}?text={quote(first[1])}&label={quote(first[0])}")
    assert confirmed.kind is DatasetKind.LABELED_TEXTS
