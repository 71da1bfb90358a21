"""Grades that run the other way: asked about where every model and keyword search contradict them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest

from blindspot.api.place import Place
from blindspot.api.results import Run
from blindspot.datasets.published.retrieval import Judgment
from blindspot.datasets.user_data.retrieval import about_grades
from blindspot.diagnostics.retrieval.grades import are_reversed, turned
from blindspot.diagnostics.retrieval.outcomes import QueryTable
from blindspot.names import in_address
from blindspot.studies.findings.collection import Selection, collect
from tests.support.commands import Command
from tests.support.pages import OpenApp, written
from tests.support.small_world import GramEncoder
from tests.support.world import World

OWN = "file:/mine.csv"


def table(*, grades: Sequence[int], runs: Mapping[str, Sequence[int | None]], keywords: Sequence[str]) -> QueryTable:
    """Ten queries with the same judged documents a, b, c: their places in each run, and keyword search's list."""
    about = pd.DataFrame(
        {"item_no": range(10), "query_id": map(str, range(10)), "query": [f"query {n}" for n in range(10)]}
    ).assign(relevant=3)

    def rows(places: Sequence[int | None]) -> pd.DataFrame:
        judged = [
            json.dumps(
                [(f"{letter}{n}", grade, place, 0) for letter, grade, place in zip("abc", grades, places, strict=True)]
            )
            for n in range(10)
        ]
        top = [json.dumps([(f"{letter}{n}", 9.0 - place) for place, letter in enumerate(keywords)]) for n in range(10)]
        return pd.DataFrame({"judged": judged, "bm25_top": top})

    return QueryTable(about, {name: rows(places) for name, places in runs.items()})


FALLING, RISING = (0, 1, 2), (2, 1, 0)  # places of documents of grades 1, 2 and 3


@pytest.mark.parametrize(
    ("grades", "runs", "keywords", "reverse"),
    [
        ((1, 2, 3), {"m": FALLING}, "abc", True),
        ((1, 2, 3), {"m": (0, None, None)}, "ab", True),
        ((1, 2, 3), {"m": RISING}, "abc", False),
        ((1, 2, 3), {"m": FALLING, "n": RISING}, "abc", False),
        ((1, 2, 3), {"m": FALLING}, "cba", False),
        ((1, 1, 1), {"m": FALLING}, "abc", False),
        ((0, 1, 1), {"m": FALLING}, "abc", False),
    ],
)
def test_grades_are_in_question_where_all_contradict_them(
    grades: Sequence[int], runs: Mapping[str, Sequence[int | None]], keywords: str, reverse: bool
) -> None:
    queries = table(grades=grades, runs=runs, keywords=list(keywords))
    assert are_reversed(OWN, queries) is reverse
    assert not are_reversed("cranfield", queries), "the catalog's are read as published"
    assert turned(table(grades=(1, 2, 4), runs=runs, keywords="")) == 5


def test_grades_that_may_be_ranks_are_said_to_be_read_as_grades() -> None:
    def said(*grades_of_queries: Sequence[int]) -> str:
        return " ".join(
            about_grades(Judgment(q, d, g) for q, of in enumerate(grades_of_queries) for d, g in enumerate(of))
        )

    assert "as ranks are" in said((1, 2, 3), (2, 1))
    assert "4 minus" in said((1, 2, 3), (2, 1))
    assert "as ranks are" not in said((1, 2, 3), (3, 3))
    assert "6 minus" in said((1, 5), (3,))
    assert said((0, 1, 2), (1, 2)) == said((1, 1), (1,)) == ""


def mine(folder: Path, sign: int) -> str:
    """Twelve queries of six words, each with three documents that share five, three and one; ``sign`` of that is up."""
    rows = [
        {
            "query": " ".join(f"{letter}{n}" for letter in "abcdef"),
            "document": " ".join([f"{letter}{n}" for letter in "abcdef"[:shared]] + [f"x{n}{shared}"] * (6 - shared)),
            "relevance": 3 + sign * (shared - 3) // 2,
        }
        for n in range(12)
        for shared in (5, 3, 1)
    ]
    path = folder / f"mine{sign}.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return f"file:{path}"


def test_notes_and_findings_ask_where_grades_fall(world: World, tmp_path: Path) -> None:
    world.add(GramEncoder())
    place = Place(world.settings, is_kept=True)
    down, up = (mine(tmp_path, sign) for sign in (-1, 1))
    of_down, of_up = (Run.of(world.run("retrieval", "trigrams", dataset), place) for dataset in (down, up))
    assert sum("keyword search" in note and "6 minus" in note for note in of_down.notes) == 1
    assert not any("keyword search" in note for note in of_up.notes)
    kinds = {
        dataset: {
            d.finding.kind
            for d in collect(world.repository, world.settings, Selection(datasets=(dataset,))).discoveries
        }
        for dataset in (down, up)
    }
    assert "grades-reversed" in kinds[down]
    assert "bm25" not in kinds[down]
    assert "grades-reversed" not in kinds[up]


@pytest.mark.heavy
def test_the_page_and_the_command_ask(world: World, tmp_path: Path, open_app: OpenApp, blindspot: Command) -> None:
    world.add(GramEncoder(), GramEncoder("bigrams", size=2))
    down, up = (mine(tmp_path, sign) for sign in (-1, 1))
    for dataset in (down, up):
        for model in ("trigrams", "bigrams"):
            world.run("retrieval", model, dataset)
    said = {
        dataset: (
            written(open_app(world.cache, "retrieval", data=in_address(dataset))),
            blindspot.out("compare", "trigrams", "bigrams", "--dataset", dataset),
        )
        for dataset in (down, up)
    }
    assert all("by keyword search" in " ".join(text.split()) for text in said[down])
    assert not any("by keyword search" in " ".join(text.split()) for text in said[up])
