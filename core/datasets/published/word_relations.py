"""Analogies and categories: questions of words, and words in classes, as the word-benchmarks repository has them.

A reader raises ``DataCorrupt`` for a file of another form.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from blindspot.datasets import packaged
from blindspot.datasets.entries import DatasetEntry, github_file
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.relations import Analogies, Categories
from blindspot.datasets.published.text_lines import text_of
from blindspot.errors import DataCorrupt
from blindspot.settings import ASSETS
from blindspot.texts import caseless

CANDIDATES = 30_000  # frequent words beside the questions' own; as many as word2vec's own test takes
DEMO_CANDIDATES = 5_000
_REPOSITORY = "vecto-ai/word-benchmarks"
_REVISION = "9b61d0e067e2e68af22160d09450f82d9544cd70"
_SOURCE = "word_benchmarks_vecto"


@dataclass(frozen=True)
class Question:
    """a is to b as c is to d."""

    section: str
    group: str
    a: str
    b: str
    c: str
    d: str


def analogies(dataset_id: str, questions: Sequence[Question], frequent: Sequence[str]) -> Analogies:
    """Questions, answered among their own words and ``frequent`` ones.

    A frequent word that a question spells with other capitals is no other candidate: many encoders have one vector
    for both, and the right word would be tied with itself.

    Raises:
        DataCorrupt: no questions, or an answer that is one of its question's own words, which are no candidates.
    """
    if not questions:
        raise DataCorrupt(f"'{dataset_id}' has no questions", expected="one or more")
    number: dict[str, int] = {}
    for q in questions:
        for word in (q.a, q.b, q.c, q.d):
            number.setdefault(word, len(number))
        if q.d in (q.a, q.b, q.c):
            raise DataCorrupt(
                f"'{dataset_id}': the answer of {q.a} : {q.b} = {q.c} : {q.d} is a word of the question",
                expected="another word, since words of the question are not candidates",
            )
    own = len(number)
    spelled = {caseless(word) for word in number}
    for word in frequent:
        if caseless(word) not in spelled:
            number.setdefault(word, len(number))
    sections = list(dict.fromkeys(q.section for q in questions))
    groups = {q.section: q.group for q in questions}
    return Analogies(
        dataset_id,
        tuple(number),
        tuple(sections),
        tuple(groups[s] for s in sections),
        np.array([sections.index(q.section) for q in questions], dtype=np.int32),
        np.array([[number[q.a], number[q.b], number[q.c]] for q in questions], dtype=np.int32),
        np.array([number[q.d] for q in questions], dtype=np.int32),
        own,
    )


def categories(dataset_id: str, rows: Sequence[tuple[str, str]]) -> Categories:
    """Rows of (class, word), without blank words. A repeated row counts once."""
    rows = list(dict.fromkeys(rows))
    if not rows:
        raise DataCorrupt(f"'{dataset_id}' has no words", expected="one or more")
    words = {word: i for i, word in enumerate(dict.fromkeys(word for _, word in rows))}
    classes = {name: i for i, name in enumerate(dict.fromkeys(name for name, _ in rows))}
    return Categories(
        dataset_id,
        tuple(words),
        tuple(classes),
        np.array([words[word] for _, word in rows], dtype=np.int32),
        np.array([classes[name] for name, _ in rows], dtype=np.int32),
    )


def read_questions(path: Path) -> list[Question]:
    """A file with the columns type, word1, word2, word3 and target; sections called ``gram...`` and those of MSR
    (``JJ_JJR``) are syntactic, the others semantic.
    """
    out = []
    for number, row in enumerate(_rows(path, ("type", "word1", "word2", "word3", "target")), 2):
        cells = [row[name].strip() for name in ("word1", "word2", "word3", "target")]
        if not all(cells):
            raise DataCorrupt(f"{path}, line {number}: an empty cell", expected="four words")
        section = row["type"]
        group = "syntactic" if section.startswith("gram") or section.isupper() else "semantic"
        out.append(Question(section, group, *cells))
    return out


def read_categories(path: Path, delimiter: str = ",") -> list[tuple[str, str]]:
    """A file with the columns category and word; rows with a blank word, of which some files have one per class, are
    dropped.
    """
    return [
        (row["category"], word) for row in _rows(path, ("category", "word"), delimiter) if (word := row["word"].strip())
    ]


def read_pairs(path: Path) -> list[Question]:
    """The built-in pairs: within a section each pair is asked about with each other one."""
    rows = _rows(path, ("section", "group", "first", "second"), "\t")
    return [
        Question(x["section"], x["group"], x["first"], x["second"], y["first"], y["second"])
        for x in rows
        for y in rows
        if x is not y and x["section"] == y["section"]
    ]


def _rows(path: Path, columns: Sequence[str], delimiter: str = ",") -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text_of(path), newline=""), delimiter=delimiter, restval="")
    found = reader.fieldnames or ()
    if not set(columns) <= set(found):
        raise DataCorrupt(f"{path} has the columns {', '.join(found)}", expected=f"among them {', '.join(columns)}")
    return [{name: row[name] for name in columns} for row in reader]


def _analogies(
    dataset_id: str, title: str, description: str, counts: tuple[int, int], citation: str, file: str
) -> DatasetEntry:
    """``counts`` are of questions and words."""
    return DatasetEntry(
        id=dataset_id,
        title=title,
        description=f"{description} Answers are sought among the questions' words and the {CANDIDATES:,} most frequent "
        "English words.",
        kind=DatasetKind.ANALOGIES,
        unit="word",
        size=f"{counts[0]:,} questions, {counts[1]:,} words",
        pairs=counts[0],
        texts=counts[1],
        licence="as published by its authors; frequent words CC BY-SA 4.0 (wordfreq)",
        citation=f"{citation}; Speer 2022, wordfreq",
        url=f"https://github.com/{_REPOSITORY}",
        revision=_REVISION,
        files=(github_file(_SOURCE, _REPOSITORY, _REVISION, f"word-analogy/monolingual/en/{file}"),),
        load=lambda dataset_id, paths: analogies(
            dataset_id, read_questions(paths[0]), packaged.frequent_words(CANDIDATES)
        ),
    )


def _categories(
    dataset_id: str, title: str, description: str, counts: tuple[int, int, int], citation: str, file: str
) -> DatasetEntry:
    """``counts`` are of rows, words and classes."""
    return DatasetEntry(
        id=dataset_id,
        title=title,
        description=description,
        kind=DatasetKind.CATEGORIES,
        unit="word",
        size=f"{counts[1]:,} words in {counts[2]} classes",
        pairs=counts[0],
        texts=counts[1],
        licence="as published by its authors; none stated by the repository",
        citation=citation,
        url=f"https://github.com/{_REPOSITORY}",
        revision=_REVISION,
        files=(github_file(_SOURCE, _REPOSITORY, _REVISION, f"word-categorization/monolingual/en/{file}"),),
        load=lambda dataset_id, paths: categories(dataset_id, read_categories(paths[0])),
    )


_DEMO_CITATION = "Blindspot's own words"

RELATIONS = {
    entry.id: entry
    for entry in (
        DatasetEntry(
            id="demo-analogies",
            title="Demo analogies",
            description="Capitals, family, plurals, comparatives and past tenses, answered among their words and the "
            f"{DEMO_CANDIDATES:,} most frequent English words.",
            kind=DatasetKind.ANALOGIES,
            unit="word",
            size="120 questions, 5,018 words",
            pairs=120,
            texts=5_018,
            licence="Apache-2.0; frequent words CC BY-SA 4.0 (wordfreq)",
            citation=f"{_DEMO_CITATION}; Speer 2022, wordfreq",
            load=lambda dataset_id, _: analogies(
                dataset_id, read_pairs(ASSETS / "demo" / "analogy_pairs.tsv"), packaged.frequent_words(DEMO_CANDIDATES)
            ),
        ),
        DatasetEntry(
            id="demo-categories",
            title="Demo categories",
            description="Eight words each of eight classes, from bird to emotion.",
            kind=DatasetKind.CATEGORIES,
            unit="word",
            size="64 words in 8 classes",
            pairs=64,
            texts=64,
            licence="Apache-2.0",
            citation=_DEMO_CITATION,
            load=lambda dataset_id, _: categories(
                dataset_id, read_categories(ASSETS / "demo" / "categories.tsv", "\t")
            ),
        ),
        _analogies(
            "analogy-google",
            "Google analogies",
            "Semantic questions (capitals, currencies, cities in states, family) and syntactic ones (grammatical "
            "forms); 171 of them are in two sections.",
            (19_544, 30_113),
            "Mikolov, Chen, Corrado and Dean 2013, Efficient Estimation of Word Representations in Vector Space",
            "google-analogies.csv",
        ),
        _analogies(
            "analogy-msr",
            "MSR analogies",
            "Syntactic questions: forms of adjectives, nouns (possessives among them) and verbs, by their tags.",
            (8_000, 30_085),
            "Mikolov, Yih and Zweig 2013, Linguistic Regularities in Continuous Space Word Representations",
            "msr.csv",
        ),
        _categories(
            "categories-ap",
            "Almuhareb and Poesio",
            "Nouns of WordNet in balanced classes, from illness to tree; 21 rows with a blank word are dropped.",
            (402, 402, 21),
            "Almuhareb 2006, Attributes in Lexical Acquisition",
            "ap.csv",
        ),
        _categories(
            "categories-battig",
            "Battig",
            "Words that people name for a precious stone, a relative, a color, ...: 5,231 rows, 2 of them twice; "
            "a word in several classes is one word. It is not the file behind the purities that papers publish.",
            (5_229, 4_668, 56),
            "Battig and Montague 1969, Category norms for verbal items in 56 categories",
            "battig.csv",
        ),
        _categories(
            "categories-bless",
            "BLESS",
            "Concrete nouns in classes, from bird to weapon; 17 rows with a blank word are dropped.",
            (200, 200, 17),
            "Baroni and Lenci 2011, How we BLESSed distributional semantic evaluation",
            "bless.csv",
        ),
        _categories(
            "categories-esslli",
            "ESSLLI 2008, verbs",
            "Verbs in classes of five, from communication to motion; published purities are of its 44 concrete nouns.",
            (45, 45, 9),
            "Baroni, Evert and Lenci 2008, ESSLLI workshop on distributional lexical semantics",
            "essli-2008.csv",
        ),
    )
}
