"""Rows that are none, and scores on two scales: left out where it is certain, said where it is likely."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.user_data.columns import OwnFile, UnclearColumns
from tests.support.retrieval_folders import BEIR, folder
from tests.support.tables import each

TEXTS = [f"a text of number {n}" for n in range(30)]
SCORES = [round(float(x), 1) for x in np.random.default_rng(0).uniform(0, 5, 30)]


def read(tmp_path: Path, content: str) -> OwnFile:
    (tmp_path / "t.csv").write_text(content, "utf-8")
    own = find_dataset(f"file:{tmp_path / 't.csv'}").own
    assert isinstance(own, OwnFile)
    return own


SCORED = "text1,text2,score\n" + "".join(f"{t},other {t},{s}\n" for t, s in zip(TEXTS, SCORES, strict=True))
PAIRS = "query,match\n" + "".join(f"{t},other {t}\n" for t in TEXTS)
LABELED = "text,label\n" + "".join(f"{t},{'ab'[n % 2]}\n" for n, t in enumerate(TEXTS))
WORDS = "word,count\n" + "".join(f"word{n},{50 - n}\n" for n in range(30))


def under_header(content: str, row: str) -> str:
    header, rest = content.split("\n", 1)
    return f"{header}\n{row}\n{rest}"


@each(
    "content, line",
    [
        (under_header(SCORED, "string,string,float"), 2),
        (under_header(PAIRS, "str,str"), 2),
        (under_header(LABELED, "text,category"), 2),
        (SCORED + f"Mean,,{np.mean(SCORES):.2f}\n", 32),
        (SCORED + f",Total:,{sum(SCORES):.1f}\n", 32),
        (LABELED + "Total,30\n", 32),
        (WORDS + f"Summe,{sum(50 - n for n in range(30))}\n", 32),
        (WORDS + f"max,50\nmean,{np.mean([50 - n for n in range(30)]):g}\n", 33),
    ],
)
def test_rows_that_are_none_are_left_out_and_said(tmp_path: Path, content: str, line: int) -> None:
    own = read(tmp_path, content)
    assert own.rows == 30
    assert str(line) in own.assumptions


@each(
    "content, rows, said",
    [
        (PAIRS, 30, ""),
        (SCORED, 30, ""),
        (WORDS + "min,21\n", 31, ""),  # the least count again
        (WORDS + "sum,3\n", 31, "line 32"),
        (under_header(PAIRS, "Anfrage,Treffer"), 31, "line 2"),
        (under_header(PAIRS, "who is it,Treffer"), 31, ""),
        (PAIRS.replace("query", "nr,query").replace("\na text", "\n1,a text"), 30, ""),
        (
            under_header(PAIRS.replace("query", "nr,query").replace("\na text", "\n1,a text"), "Nr,wer ist,was hat"),
            31,
            "line 2",
        ),
    ],
)
def test_rows_that_may_be_none_are_rows_and_said(tmp_path: Path, content: str, rows: int, said: str) -> None:
    own = read(tmp_path, content)
    assert own.rows == rows
    assert (said in own.assumptions) if said else (own.assumptions == "")


def scored(scores: list[float], sources: str = "") -> str:
    head = "text1,text2,score" + (",source" if sources else "")
    rows = [f"a text {n},other {n},{s:g}" + (f",{sources[n]}" if sources else "") for n, s in enumerate(scores)]
    return "\n".join([head, *rows, ""])


SMALL = np.random.default_rng(1).uniform(0, 1, 20).round(2).tolist()
LARGE = [0.4, *np.random.default_rng(2).uniform(0, 5, 29).round(1).tolist()]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (scored([*SMALL, *LARGE]), "first 2"),
        (scored([*LARGE, *SMALL]), "last 2"),
        (scored([*SMALL, *(20 * x for x in LARGE)]), "two scales"),
        (scored([x for pair in zip(SMALL, LARGE[:20], strict=True) for x in pair], "xy" * 20), "'x'"),
        (scored(LARGE), ""),
        (scored(sorted(LARGE)), ""),
        (scored(sorted(LARGE, reverse=True)), ""),
        (scored(SMALL), ""),
        (scored([x for pair in zip(LARGE, LARGE, strict=True) for x in pair], "xy" * 30), ""),
    ],
)
def test_scores_on_two_scales_are_said(tmp_path: Path, content: str, said: str) -> None:
    assumed = read(tmp_path, content).assumptions
    assert ("two scales" in assumed) is bool(said)
    assert said in assumed


def test_a_byte_order_mark_inside_joined_files_is_no_text(tmp_path: Path) -> None:
    own = read(tmp_path, f"\ufeff{PAIRS}\ufeff{PAIRS}\ufeffa b,c d\n")
    assert own.rows == 61
    assert "line 32" in own.assumptions
    assert list(own.kept_rows())[-1]["query"] == "a b"


@each(
    "content",
    [
        ("word,count\n" + "".join(f"word{n},{n + 1}.000\n" for n in range(20))),
        ("word,count\n" + "".join(f"word{n},{n + 900 if n < 100 else '1.234'}\n" for n in range(120))),
        ("query,match,match.1\n" + "".join(f"{t},other {t},third {t}\n" for t in TEXTS)),
    ],
)
def test_thousands_and_a_second_match_are_asked_about(tmp_path: Path, content: str) -> None:
    with pytest.raises(UnclearColumns):
        read(tmp_path, content)


def test_decimals_are_no_thousands(tmp_path: Path) -> None:
    for counts in (("1.25", "2.125", "3"), ("0.125", "0.250", "0.375"), ("1", "2", "3")):
        read(tmp_path, "word,count\n" + "".join(f"word{n},{count}\n" for n, count in enumerate(counts)))


def test_cells_for_nothing_in_other_languages_are_said(tmp_path: Path) -> None:
    for nothing in ("k.A.", "n/d", "нет данных", "#NV"):
        assert repr(nothing) in read(tmp_path, PAIRS.replace(f"other {TEXTS[3]}\n", f"{nothing}\n")).assumptions


def test_titles_for_nothing_in_a_folder_are_said(tmp_path: Path) -> None:
    corpus = BEIR["corpus.jsonl"]
    assert isinstance(corpus, str)
    for title, is_said in (("None", True), ("nan", True), ("No one", False)):
        path = folder(tmp_path, BEIR, {"corpus.jsonl": corpus.replace("One", title)})
        own = find_dataset(f"dir:{path}").own
        assert own is not None
        assert (repr(title) in own.assumptions) is is_said


def test_tags_of_html_are_said(tmp_path: Path) -> None:
    for tag in ("<br>", "</p>", "<a href=x>"):
        assert tag in read(tmp_path, PAIRS.replace(f"other {TEXTS[3]}\n", f"some {tag} text\n")).assumptions
    assert read(tmp_path, PAIRS.replace(f"other {TEXTS[3]}\n", "a <b and b> c <other> <- <id>\n")).assumptions == ""
