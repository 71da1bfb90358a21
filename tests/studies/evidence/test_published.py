"""Published evidence: every number against the papers' text, where that is here, and what the tables say of themselves.

The papers are not part of the repository: ``papers/`` lies beside the folder of a mirror.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from math import fsum
from pathlib import Path
from statistics import fmean

import pytest

from blindspot.datasets.catalog import DATASETS
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.diagnostic import all_diagnostics
from blindspot.diagnostics.words.schnabel_table import table_1
from blindspot.files.reference import printed
from blindspot.studies.evidence import beside, published
from blindspot.studies.evidence.published import PublishedCorrelation
from tests.support.tables import each

WANG, SCHNABEL = "wang2022_evalrank.md", "schnabel2015_evaluation_methods.md"
TABLES = (3, 6, 7, 11)
# Copied from the paper by hand, its corners and some in the middle: (table, evaluator, positives, task) and rho * 100.
COPIED = [
    (3, "WS-353-All", "", "SCICITE", 62.87),
    (3, "WS-353-All", "", "SICK-E", 57.96),
    (3, "MEN-TR-3K", "", "SUBJ", 1.70),
    (3, "RW-STANFORD", "", "SST2", 81.50),
    (3, "EvalRank Hits@3", "", "SCICITE", 90.11),
    (3, "EvalRank Hits@3", "", "SICK-E", 62.77),
    (6, "STS12", "", "SCICITE", 32.96),
    (6, "STS12", "", "TREC", 30.79),
    (6, "STR", "", "MPQA", -29.57),
    (6, "EvalRank Hits@3", "", "SCICITE", 63.35),
    (6, "EvalRank Hits@3", "", "TREC", 74.70),
    (7, "EvalRank MRR", "STS-B + STR", "SCICITE", 65.95),
    (7, "EvalRank Hits@3", "STR", "SST2", 79.42),
    (7, "EvalRank MRR", "STS-B", "MR", 75.85),
    (11, "STS12", "", "SCICITE", 35.45),
    (11, "STS12", "", "TREC", 42.58),
    (11, "STR", "", "CR", -7.81),
    (11, "EvalRank MRR", "", "TREC", 85.69),
    (11, "EvalRank Hits@3", "", "SCICITE", 83.92),
    (11, "EvalRank Hits@3", "", "TREC", 86.51),
]


def _paper(name: str) -> str:
    """The text of a paper; the test is skipped where it is not here."""
    mirror = os.environ.get("BLINDSPOT_MIRROR", "")
    path = Path(mirror).parent / "papers" / name
    if not mirror or "://" in mirror or not path.is_file():
        pytest.skip(f"the paper's text, {name}, is not here: it lies in papers/ beside the folder of a mirror")
    return path.read_text("utf-8")


def _html_tables(text: str) -> Iterator[tuple[int, list[list[str]]]]:
    """The number of each numbered HTML table and its rows of cells, with their markup."""
    for found in re.finditer(r"<table(?:(?!</table>).)*</table>(?=\s*Table (\d+):)", text, re.DOTALL):
        rows = re.findall(r"<tr>(.*?)</tr>", found[0], re.DOTALL)
        yield int(found[1]), [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]


def _plain(cell: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", cell)).split())


def _markdown_rows(text: str, table: int) -> list[list[str]]:
    """The cells of the markdown table above ``Table N:``, its line of dashes left out."""
    above = text[: text.index(f"Table {table}: ")].rstrip().split("\n\n")[-1]
    rows = [[_plain(cell.strip()) for cell in line.strip().strip("|").split("|")] for line in above.splitlines()]
    return [row for row in rows if not set("".join(row)) <= set("-: ")]


@pytest.mark.realdata
@each("table", TABLES)
def test_every_correlation_is_the_papers(table: int) -> None:
    rows = dict(_html_tables(_paper(WANG)))[table]
    tasks = [_plain(cell) for cell in rows[0]][2:]
    expected, group = [], ""
    for row in rows[1:]:
        head, values = row[: -len(tasks)], row[-len(tasks) :]
        group = _plain(head[0]) if len(head) == 2 else group
        name = f"EvalRank {_plain(head[-1])}" if group else _plain(head[-1])
        positives = group.partition("(")[2].rstrip(")")
        expected += [(name, positives, task, float(_plain(v))) for task, v in zip(tasks, values, strict=True)]
    found = [(c.evaluator, c.positives, c.task, pytest.approx(100 * c.rho)) for c in published.of_table(table)]
    assert expected == found


@pytest.mark.realdata
@each("table", [3, 6, 11])
def test_what_the_paper_prints_bold_is_the_highest_here_too(table: int) -> None:
    """A misread digit would show: bold is the best of a column."""
    rows = dict(_html_tables(_paper(WANG)))[table]
    tasks = [_plain(cell) for cell in rows[0]][2:]
    for place, task in enumerate(tasks):
        bold = [float(_plain(cell)) for row in rows[1:] if "<b>" in (cell := row[place - len(tasks)])]
        column = [100 * cell.rho for cell in published.of_table(table) if cell.task == task]
        assert bold == [pytest.approx(max(column))]


@pytest.mark.realdata
def test_every_score_of_schnabel_is_the_papers() -> None:
    text = _paper(SCHNABEL)
    first = [row for row in _markdown_rows(text, 1) if len(row) > 2 and re.fullmatch(r"-?\d+\.\d", row[1])]
    assert len(first) == 6
    for row, (model, scores) in zip(first, table_1().items(), strict=True):
        assert row[0] == model
        assert [float(v) for v in row[1:]] == pytest.approx([100 * v for v in scores.values()])
    chunking = {(row[0], part): (row[i], row[3]) for row in _markdown_rows(text, 4)[1:] for part, i in PARTS}
    sentiment = {(row[0], "test"): (row[1], _power(row[2])) for row in _markdown_rows(text, 5)[1:]}
    assert (len(chunking), len(sentiment)) == (14, 7)
    for table, rows in ((4, chunking), (5, sentiment)):
        mine = [score for score in published.task_scores() if score.table == table]
        assert len(mine) == len(rows)
        for score in mine:
            f1, p_value = rows[score.model, score.part]
            assert 100 * score.f1 == pytest.approx(float(f1))
            assert score.p_value == (p_value if score.part == "test" else "")


@pytest.mark.realdata
@each("table", ["1a", "1b", "4", "10"])
def test_the_other_tables_of_wang_are_the_papers(table: str) -> None:
    """1a and 1b, two tables above one caption; 4; and of 10 the second share of each two, which add up."""
    text = _paper(WANG)
    end = text.index("(a)\n" if table == "1a" else "(b)\n" if table == "1b" else f"Table {table}: ")
    cells = [
        [_plain(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in re.findall(r"<tr>(.*?)</tr>", text[text.rindex("<table", 0, end) : end], re.DOTALL)
    ]
    found = printed("Wang, Kuo and Li 2022", table)
    rows = {name: row[1:] for row in cells if (name := row[0].replace("l_2", "l2")) in found}
    if table == "10":
        shares = {name: [re.findall(r"([\d.]+)%", cell) for cell in row] for name, row in rows.items()}
        assert all(fsum(map(float, both)) == pytest.approx(100) for row in shares.values() for both in row if both)
        expected = {
            name: {side: float(both[1]) for side, both in zip(("words", "sentences"), row, strict=True) if both}
            for name, row in shares.items()
        }
    else:
        expected = {
            name: {c: float(re.sub(r"[ (↑↓].*", "", cell)) for c, cell in zip(found[name], row, strict=True)}
            for name, row in rows.items()
        }
    assert found == expected
    assert len(found) == {"1a": 6, "1b": 5, "4": 4, "10": 27}[table]


def test_ranks_of_table_1a_are_as_printed_and_table_4_begins_with_table_3s_row() -> None:
    places = {(row, column): place for (row, column), place in beside._places(printed(beside.WANG, "1a")).items()}
    assert [places["GloVe", c] for c in ("STS-B", "SST2", "MR")] == [4, 6, 5]
    assert [places["BERT-flow", c] for c in ("STS-B", "SST2", "MR")] == [2, 4, 6]
    whole = {c.task: 100 * c.rho for c in published.of_table(3) if c.evaluator == "EvalRank MRR"}
    assert {
        task: pytest.approx(rho) for task, rho in printed(beside.WANG, "4")["EvalRank"].items()
    }.items() <= whole.items()


@pytest.mark.realdata
def test_table_2_of_eger_and_figure_4_of_schnabel_are_the_papers() -> None:
    """Numbers and names are separate lists there; the differences are printed, too."""
    text = _paper("eger2019_pitfalls_fragments.md")
    block = text[text.index("Normalized\n\n0.41") : text.index("Table 2: ")]
    values, names = re.findall(r"^0\.\d\d$", block, re.MULTILINE), re.findall(r"^[\w-]+-\d+d$", block, re.MULTILINE)
    found = printed(beside.EGER, "2")
    assert list(found) == names
    assert [row["standard"] for row in found.values()] == list(map(float, values[:9]))
    assert [row["normalized"] for row in found.values()] == list(map(float, values[9:]))
    gains = [int(gain) for gain in re.findall(r"^\+(\d+)$", block, re.MULTILINE)]
    assert [round(100 * (row["normalized"] - row["standard"])) for row in found.values()] == gains
    law = printed("Schnabel et al. 2015", "figure 4")["C&W"]
    schnabel = _paper(SCHNABEL)
    assert f"nn-rank}} \\sim {law['a']:.0f} \\cdot \\text{{corpus-rank}}^{{{law['b']}}}" in schnabel
    assert f"{law['words']:,.0f} words for all nearest-neighbor experiments" in schnabel


PARTS = (("dev", 1), ("test", 2))


def _power(cell: str) -> str:
    r"""``$7.47 \cdot 10^{-12}$`` as ``7.47e-12``."""
    return re.sub(r"\$(\d\.\d\d) \\cdot 10\^\{(-\d+)\}\$", r"\1e\2", cell)


@each(("table", "evaluator", "positives", "task", "percent"), COPIED)
def test_cells_copied_by_hand(table: int, evaluator: str, positives: str, task: str, percent: float) -> None:
    (cell,) = (
        c for c in published.of_table(table) if (c.evaluator, c.positives, c.task) == (evaluator, positives, task)
    )
    assert 100 * cell.rho == pytest.approx(percent)


def test_the_tables_are_whole_and_say_over_what_they_are() -> None:
    assert Counter(cell.table for cell in published.correlations()) == {3: 12 * 10, 6: 11 * 8, 7: 9 * 3, 11: 11 * 8}
    assert {(c.table, c.level) for c in published.correlations()} == {
        (3, "word"),
        (6, "sentence"),
        (7, "sentence"),
        (11, "sentence"),
    }
    assert {c.table: c.models.count for c in published.correlations()} == {3: 38, 6: 67, 7: 67, 11: 34}
    assert all(-1 <= cell.rho <= 1 for cell in published.correlations())


@pytest.mark.realdata
def test_models_are_counted_as_the_paper_lists_them() -> None:
    """Tables 8 and 9: numbers, type (sentences only), name, details, and whether there is a post-processed one too."""
    tables = dict(_html_tables(_paper(WANG)))
    lists = {number: [[_plain(cell) for cell in row] for row in tables[number][1:]] for number in (8, 9)}
    for table, number, where in ((3, 8, 1), (6, 9, 2)):
        count = sum(len(row[0].split("/")) for row in lists[number])
        names = {re.sub(r" ?\(.*", "", row[where]).casefold() for row in lists[number]}
        processed = sum("/" in row[-1] or row[-1] == "N/A" for row in lists[number])  # N/A: BERT-flow is itself
        assert published.MODELS[table] == published.Models(count, len(names), processed)
    plain = {row[2].casefold() for row in lists[9] if row[-1] != "N/A"}
    six = published.MODELS[6]
    assert published.MODELS[11] == published.Models(six.count - six.post_processed, len(plain), 0)


def test_rows_that_two_tables_share_agree() -> None:
    def rho(table: int) -> dict[tuple[str, str], float]:
        return {(c.evaluator, c.task): c.rho for c in published.of_table(table) if c.positives in {"", "STS-B + STR"}}

    assert rho(7).items() <= rho(6).items()


def test_the_average_of_table_1_is_the_mean_of_the_other_columns() -> None:
    """A column that was lost or misread would show."""
    for scores in table_1().values():
        *columns, average = scores.values()
        assert len(columns) == 14
        assert fmean(columns) == pytest.approx(average, abs=0.0005)


def test_what_stands_here_for_evaluators_and_tasks_is_there() -> None:
    cells: list[PublishedCorrelation] = [cell for cell in published.correlations() if cell.measure_id]
    for cell in cells:
        diagnostic, dataset, metric = cell.measure_id.split(":")
        assert DATASETS[dataset].kind is all_diagnostics()[diagnostic].dataset_kind
        assert DATASETS[dataset].unit == cell.level
        assert metric in {m.name for m in all_diagnostics()[diagnostic].metrics}
    assert all(DATASETS[c.task_id].kind is DatasetKind.LABELED_TEXTS for c in published.correlations())
    names = {(c.level, c.evaluator): c.measure_id for c in cells}
    assert len(set(names.values())) == len(names)  # no two evaluators are taken for one
    assert {c.positives for c in published.correlations() if not c.measure_id} == {"STS-B", "STR"}


def test_of_six_embeddings_the_best_of_table_1_is_not_the_best_at_chunking() -> None:
    average = {model: scores["average"] for model, scores in table_1().items()}
    f1 = {(s.task, s.model): s.f1 for s in published.task_scores() if s.part == "test"}
    assert max(average, key=average.__getitem__) == "CBOW"
    assert max(average, key=lambda model: f1["noun phrase chunking", model]) == "C&W"
    assert max(average, key=lambda model: f1["sentiment", model]) == "CBOW"
