"""Columns of texts and of pairs in files whose header has no known name."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data import guess as own_guess
from blindspot.datasets.user_data.columns import (
    GROUPS,
    LABEL,
    MATCH,
    QUERY,
    SCORE,
    TEXT,
    UNUSED,
    OwnFile,
    UnclearColumns,
)
from tests.support.tables import each

ROWS = 30
QUESTIONS = [f"How do I change setting number {row} of my plan?" for row in range(ROWS)]
CHUNKS = [
    f"To change setting {row}, open the page of your plan and choose it there. It is saved." for row in range(ROWS)
]
IDS = [f"T-{row:05}" for row in range(ROWS)]
PRODUCTS = [("Desk", "Cloud", "Shop app")[row % 3] for row in range(ROWS)]
INTENTS = [("billing_dispute", "how_to", "account")[row % 3] for row in range(ROWS)]
DATES = [f"2024-03-{row + 1:02} 10:00" for row in range(ROWS)]


def read(folder: Path, **columns: list[str]) -> OwnFile:
    path = folder / "kb.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return own.read(path)


def pair_of(found: OwnFile) -> tuple[str, str]:
    assert found.kind is DatasetKind.PAIR_SET
    return found.used[QUERY].name, found.used[MATCH].name


def test_ids_labels_and_dates_are_no_texts(tmp_path: Path) -> None:
    """The names of these two say nothing, so what the cells hold decides."""
    found = read(tmp_path, ticket=IDS, at=DATES, left=QUESTIONS, right=CHUNKS, shop=PRODUCTS, aim=INTENTS)
    assert pair_of(found) == ("left", "right")
    whys = {column.name: column.why.partition(";")[0] for column in found.columns if column.use == UNUSED}
    assert whys == {"ticket": own_guess.IDS, "at": own_guess.NO_LETTERS}
    assert [column.name for column in found.columns if column.use == GROUPS] == ["shop", "aim"]


def test_the_support_desks_file(tmp_path: Path) -> None:
    """``intent`` is also a name of labels, which two texts outweigh."""
    found = read(
        tmp_path, ticket_id=IDS, customer_question=QUESTIONS, kb_article_chunk=CHUNKS, product=PRODUCTS, intent=INTENTS
    )
    assert pair_of(found) == ("customer_question", "kb_article_chunk")


def test_one_cell_of_two_words_makes_no_column_of_sentences(tmp_path: Path) -> None:
    """Beside two columns of sentences a column of single words would be ids; these three have words, all of them."""
    words = [consonant + vowel for consonant in "bdfgk" for vowel in "aeiouy"]
    with pytest.raises(UnclearColumns):
        read(tmp_path, left=["ba be", *words[1:]], right=["da de", *words[:0:-1]], lemma=words[::-1])
    assert pair_of(read(tmp_path, left=QUESTIONS, right=CHUNKS, lemma=words)) == ("left", "right")


def test_what_says_nothing_about_a_row_is_no_text_of_a_pair(tmp_path: Path) -> None:
    prompts = ["Find the page that answers what was asked here:"] * ROWS
    whys = {"task_prompt": own_guess.ONE_VALUE, "cleaned": own_guess.SAME_TEXTS}
    for name, column in (("task_prompt", prompts), ("cleaned", QUESTIONS)):
        found = read(tmp_path, left=QUESTIONS, right=CHUNKS, **{name: column})
        assert pair_of(found) == ("left", "right")
        with pytest.raises(UnclearColumns, match=f"'{name}' \\({whys[name]}\\)"):
            read(tmp_path, left=QUESTIONS, **{name: column})
    assert pair_of(read(tmp_path, search_query=prompts, hit=CHUNKS)) == ("search_query", "hit"), "one query of many"


def test_the_two_longest_are_a_pair_where_they_clearly_are(tmp_path: Path) -> None:
    titles = [f"plan {row}" for row in range(ROWS)]
    found = read(tmp_path, heading=titles, left=QUESTIONS, right=CHUNKS)
    assert pair_of(found) == ("left", "right")
    assert found.used[QUERY].why == own_guess.LONGEST


def test_what_is_asked_for_is_the_query_wherever_it_stands(tmp_path: Path) -> None:
    assert pair_of(read(tmp_path, kb_chunk=CHUNKS, userQuestion=QUESTIONS)) == ("userQuestion", "kb_chunk")
    assert pair_of(read(tmp_path, answers=CHUNKS, x=QUESTIONS)) == ("answers", "x"), "only whole words are known"
    assert pair_of(read(tmp_path, answer=CHUNKS, x=QUESTIONS)) == ("x", "answer")


def test_several_that_are_as_long_are_refused_with_a_line_to_copy(tmp_path: Path) -> None:
    others = [text.replace("How", "When") for text in QUESTIONS]
    with pytest.raises(UnclearColumns) as error:
        read(tmp_path, nr=IDS, **{"asked by": QUESTIONS, "said": others, "third": others[::-1]})
    assert all(f"'{name}'" in str(error.value) for name in ("nr", "asked by", "said", "third"))
    assert "--query-column 'asked by' --match-column said" in str(error.value)


def test_an_id_is_not_paired_with_the_only_text(tmp_path: Path) -> None:
    with pytest.raises(UnclearColumns, match="--query-column"):
        read(tmp_path, ticket=IDS, body=QUESTIONS)
    with pytest.raises(UnclearColumns):
        read(tmp_path, body=QUESTIONS, shop=PRODUCTS)


def test_words_are_texts_where_all_are_words(tmp_path: Path) -> None:
    """Few different words are labels only beside other texts."""
    assert pair_of(read(tmp_path, left=PRODUCTS, right=INTENTS)) == ("left", "right")
    terms = [f"{a}{b}" for a in "abcdef" for b in "vwxyz"]
    assert pair_of(read(tmp_path, term=terms, meaning=CHUNKS)) == ("term", "meaning")


def test_a_script_without_spaces_is_text(tmp_path: Path) -> None:
    chinese = [f"如何更改第{row}项设置" for row in range(ROWS)]
    assert pair_of(read(tmp_path, nr=IDS, left=chinese, right=chinese[::-1])) == ("left", "right")


def test_few_queries_with_many_matches_are_no_labels(tmp_path: Path) -> None:
    assert pair_of(read(tmp_path, search_term=PRODUCTS, found_document=CHUNKS)) == ("search_term", "found_document")


@each("answers", [("yes", "no"), ("accept", "reject", "ignore"), ("A", "B", "C", "D"), ("Paris", "Rom")])
def test_answers_of_one_word_that_repeat_are_no_matches(tmp_path: Path, answers: tuple[str, ...]) -> None:
    cells = [answers[row % len(answers)] for row in range(ROWS)]
    for header in ("answer", "Response"):
        with pytest.raises(UnclearColumns):
            read(tmp_path, request_text=QUESTIONS, **{header: cells})


def test_the_only_text_beside_a_label_is_labeled(tmp_path: Path) -> None:
    found = read(tmp_path, ticket_id=IDS, customer_message=QUESTIONS, product=PRODUCTS, intent=INTENTS)
    assert found.kind is DatasetKind.LABELED_TEXTS
    assert (found.used[TEXT].name, found.used[LABEL].name) == ("customer_message", "intent")


def test_scored_texts_are_not_the_ids(tmp_path: Path) -> None:
    scores = [str(row % 5) for row in range(ROWS)]
    found = read(tmp_path, nr=IDS, left=QUESTIONS, right=CHUNKS, rating=scores)
    assert found.kind is DatasetKind.SCORED_PAIRS
    assert [column.name for column in found.used.values()] == ["left", "right", "rating"]
    assert found.used[SCORE].why == "by its name"
    with pytest.raises(UnclearColumns, match="--text1-column left --text2-column right --score-column rating"):
        read(tmp_path, left=QUESTIONS, right=QUESTIONS[::-1], third=CHUNKS[::-1], rating=scores)
