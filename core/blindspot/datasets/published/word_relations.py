"""Analogy questions, words in classes, groups with outliers, and events, as public repositories have them.

A reader raises ``DataCorrupt`` for a file that has another form.
"""

from __future__ import annotations

import ast
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from blindspot.datasets import packaged
from blindspot.datasets.entries import DatasetEntry, github_file
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.relations import Analogies, Categories, Events, Outliers
from blindspot.datasets.published.text_lines import text_of
from blindspot.errors import DataCorrupt
from blindspot.settings import ASSETS
from blindspot.texts import caseless

CANDIDATES = 30_000  # frequent words beside the questions' own; as many as in word2vec's own test
DEMO_CANDIDATES = 5_000
_REPOSITORY = "vecto-ai/word-benchmarks"
_REVISION = "9b61d0e067e2e68af22160d09450f82d9544cd70"
_SOURCE = "word_benchmarks_vecto"
DTFIT_LICENCE = "none stated"
DTFIT_CITATION = (
    "Vassallo, Chersoni, Santus, Lenci and Blache 2018, Event Knowledge in Sentence Processing (DTFit); as published "
    "by Kauf et al. 2023, Event Knowledge in Large Language Models"
)
DTFIT = ("event_knowledge", "carina-kauf/lm-event-knowledge", "ac6fca04224b47498895cc7ee4dc4d8d771666af")
DTFIT_PATH = "analyses/clean_data/clean_DTFit_SentenceSet.csv"
_EVENT = re.compile(r"The (?P<agent>\S+) (?P<verb>\S+) the (?P<patient>\S.*)\.")
_PLAUSIBILITY = ("Plausible", "Implausible")


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
    """Questions, with their own words and ``frequent`` ones as candidates for answers.

    A frequent word that a question spells with other capitals is not a candidate: many encoders have one vector for
    both, and the right word would be tied with itself.

    Raises:
        DataCorrupt: no questions, or an answer that is one of its question's own words, which are not candidates.
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
    words_count = len(number)
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
        words_count,
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


@dataclass(frozen=True)
class Group:
    """Words that belong together, and words that do not belong to them."""

    name: str
    words: tuple[str, ...]
    outliers: tuple[str, ...]


def outliers(dataset_id: str, groups: Sequence[Group]) -> Outliers:
    """A case for each outlier of each group. A word that a group repeats counts once.

    Raises:
        DataCorrupt: no groups, two groups with one name, a group of fewer than two words, or an outlier in its group.
    """
    if not groups or len({group.name for group in groups}) < len(groups):
        raise DataCorrupt(f"'{dataset_id}' has {len(groups)} groups", expected="one or more, of different names")
    number: dict[str, int] = {}
    cases: list[tuple[int, list[int], int]] = []
    for group_number, group in enumerate(groups):
        belong, odd = dict.fromkeys(group.words), dict.fromkeys(group.outliers)
        if len(belong) < 2 or not odd or belong.keys() & odd.keys():
            raise DataCorrupt(
                f"'{dataset_id}': the group '{group.name}' has {len(belong)} words and {len(odd)} outliers",
                expected="two words or more, and outliers that are none of them",
            )
        for word in (*belong, *odd):
            number.setdefault(word, len(number))
        members = [number[word] for word in belong]
        cases += [(group_number, members, number[word]) for word in odd]
    most = max(len(members) for _, members, _ in cases)
    return Outliers(
        dataset_id,
        tuple(number),
        tuple(group.name for group in groups),
        np.array([number for number, _, _ in cases], dtype=np.int32),
        np.array([members + [-1] * (most - len(members)) for _, members, _ in cases], dtype=np.int32),
        np.array([outlier for _, _, outlier in cases], dtype=np.int32),
    )


def read_groups(path: Path) -> list[Group]:
    """A file with the columns category, outliers and words; the last two are lists as Python writes them.

    Underscores are spaces; blank words are dropped (every list of outliers has one).
    """
    out = []
    for number, row in enumerate(_rows(path, ("category", "outliers", "words")), 2):
        try:
            lists = [ast.literal_eval(row[name]) for name in ("words", "outliers")]
            words, odd = (tuple(w for word in words if (w := word.replace("_", " ").strip())) for words in lists)
        except (ValueError, SyntaxError, TypeError, AttributeError, MemoryError, RecursionError) as error:
            raise DataCorrupt(f"{path}, line {number}: no lists of words", expected="['word', 'word', ...]") from error
        out.append(Group(row["category"].replace("_", " "), words, odd))
    return out


def read_own_groups(path: Path) -> list[Group]:
    """The built-in groups: a line per word, which belongs to its group or does not."""
    rows = _rows(path, ("group", "word", "belongs"), "\t")
    return [
        Group(
            name,
            tuple(row["word"] for row in rows if row["group"] == name and row["belongs"] == "yes"),
            tuple(row["word"] for row in rows if row["group"] == name and row["belongs"] == "no"),
        )
        for name in dict.fromkeys(row["group"] for row in rows)
    ]


@dataclass(frozen=True)
class Event:
    """An agent does something, typically to one patient and hardly ever to the other."""

    agent: str
    verb: str
    typical: str
    atypical: str


def events(dataset_id: str, every_event: Sequence[Event]) -> Events:
    """Events by the numbers of their words.

    Raises:
        DataCorrupt: no events, or an event with the same patient twice.
    """
    if not every_event or any(event.typical == event.atypical for event in every_event):
        raise DataCorrupt(
            f"'{dataset_id}' has {len(every_event)} events", expected="one or more, of two different patients"
        )
    number: dict[str, int] = {}
    for event in every_event:
        for word in (event.agent, event.verb, event.typical, event.atypical):
            number.setdefault(word, len(number))
    columns = [
        [number[getattr(event, name)] for event in every_event] for name in ("agent", "verb", "typical", "atypical")
    ]
    agents, verbs, typical, atypical = (np.array(column, dtype=np.int32) for column in columns)
    return Events(dataset_id, tuple(number), agents, verbs, typical, atypical)


def read_dtfit(path: Path) -> list[Event]:
    """DTFit as Kauf et al. publish it: a plausible and an implausible sentence per event, *The a v the p.*"""
    sentences: dict[str, dict[str, re.Match[str]]] = {}
    for number, row in enumerate(_rows(path, ("ItemNum", "Sentence", "Plausibility", "Voice")), 2):
        event = _EVENT.fullmatch(row["Sentence"].strip())
        events_of_sentence = sentences.setdefault(row["ItemNum"], {})
        if event is None or row["Plausibility"] not in _PLAUSIBILITY or row["Voice"] != "active":
            raise DataCorrupt(f"{path}, line {number}: no sentence of an event", expected="The actor won the award.")
        if row["Plausibility"] in events_of_sentence:
            raise DataCorrupt(f"{path}, line {number}: event {row['ItemNum']} again", expected="each form once")
        events_of_sentence[row["Plausibility"]] = event
    out = []
    for number_of_event, both in sentences.items():
        typical, atypical = (both.get(name) for name in _PLAUSIBILITY)
        if typical is None or atypical is None or typical.group("agent", "verb") != atypical.group("agent", "verb"):
            raise DataCorrupt(
                f"{path}: event {number_of_event} lacks a sentence of the same agent and verb",
                expected="a plausible and an implausible one",
            )
        out.append(Event(typical["agent"], typical["verb"], typical["patient"], atypical["patient"]))
    return out


def read_own_events(path: Path) -> list[Event]:
    """The built-in events: a line per event, with agent, verb and both patients."""
    return [Event(**row) for row in _rows(path, ("agent", "verb", "typical", "atypical"), "\t")]


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
    """A file with the columns category and word; rows with a blank word are dropped (some files have one per class)."""
    return [
        (row["category"], word) for row in _rows(path, ("category", "word"), delimiter) if (word := row["word"].strip())
    ]


def read_pairs(path: Path) -> list[Question]:
    """The built-in pairs: within a section, each pair makes a question with each other pair."""
    rows = _rows(path, ("section", "group", "first", "second"), "\t")
    return [
        Question(x["section"], x["group"], x["first"], x["second"], y["first"], y["second"])
        for x in rows
        for y in rows
        if x is not y and x["section"] == y["section"]
    ]


def _rows(path: Path, columns: Sequence[str], delimiter: str = ",") -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text_of(path), newline=""), delimiter=delimiter, restval="")
    header = reader.fieldnames or ()
    if not set(columns) <= set(header):
        raise DataCorrupt(f"{path} has the columns {', '.join(header)}", expected=f"among them {', '.join(columns)}")
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


def _outliers(
    dataset_id: str, title: str, description: str, counts: tuple[int, int, int], citation: str, file: str
) -> DatasetEntry:
    """``counts`` are of cases, groups and words."""
    return DatasetEntry(
        id=dataset_id,
        title=title,
        description=f"Does the model see which word does not belong to the others? {description} Underscores in names "
        "are spaces.",
        kind=DatasetKind.OUTLIERS,
        unit="word",
        size=f"{counts[0]:,} cases of {counts[1]} groups, {counts[2]:,} words",
        pairs=counts[0],
        texts=counts[2],
        licence="as published by its authors; none stated by the repository",
        citation=citation,
        url=f"https://github.com/{_REPOSITORY}",
        revision=_REVISION,
        files=(github_file(_SOURCE, _REPOSITORY, _REVISION, f"outlier-detection/monolingual/en/{file}"),),
        load=lambda dataset_id, paths: outliers(dataset_id, read_groups(paths[0])),
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
        DatasetEntry(
            id="demo-outliers",
            title="Demo outliers",
            description="Does the model see which word does not belong to the others? Eight words each of twelve "
            "kinds, with four words that belong nearby and two from far away.",
            kind=DatasetKind.OUTLIERS,
            unit="word",
            size="72 cases of 12 groups, 167 words",
            pairs=72,
            texts=167,
            licence="Apache-2.0",
            citation=_DEMO_CITATION,
            load=lambda dataset_id, _: outliers(dataset_id, read_own_groups(ASSETS / "demo" / "outliers.tsv")),
        ),
        DatasetEntry(
            id="demo-events",
            title="Demo events",
            description="Is what an agent typically does something to nearer than what it hardly does? Built-in "
            "events, two to four of each verb.",
            kind=DatasetKind.EVENTS,
            unit="word",
            size="62 events, 176 words",
            pairs=62,
            texts=176,
            licence="Apache-2.0",
            citation=_DEMO_CITATION,
            load=lambda dataset_id, _: events(dataset_id, read_own_events(ASSETS / "demo" / "events.tsv")),
        ),
        DatasetEntry(
            id="thematic-fit-dtfit",
            title="DTFit thematic fit",
            description="Is what an agent typically does something to nearer than what it hardly does, as an award is "
            "to an actor who wins? It stands in for selectional preference, whose ratings are not public; one typical "
            "and one atypical patient per event, without ratings.",
            kind=DatasetKind.EVENTS,
            unit="word",
            size="395 events, 591 words",
            pairs=395,
            texts=591,
            licence=DTFIT_LICENCE,
            citation=DTFIT_CITATION,
            url=f"https://github.com/{DTFIT[1]}",
            revision=DTFIT[2],
            files=(github_file(*DTFIT, DTFIT_PATH),),
            load=lambda dataset_id, paths: events(dataset_id, read_dtfit(paths[0])),
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
        _outliers(
            "outliers-8-8-8",
            "8-8-8 outliers",
            "Eight groups of eight words, from big cats to planets, with eight outliers each, four that belong nearby "
            "and four from far away.",
            (64, 8, 125),
            "Camacho-Collados and Navigli 2016, Find the word that does not belong",
            "8-8-8.csv",
        ),
        _outliers(
            "outliers-wikisem500",
            "WikiSem500 outliers",
            "500 groups of up to eight names of things of one kind in Wikidata, with up to six outliers each; of 2,812 "
            "outliers 22 are twice in their group and count once.",
            (2_790, 500, 5_242),
            "Blair, Merhav and Barry 2017, Automated Generation of Multilingual Clusters for the Evaluation of "
            "Distributed Representations",
            "wikisem500.csv",
        ),
    )
}
