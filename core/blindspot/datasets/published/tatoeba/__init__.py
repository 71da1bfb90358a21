"""Sentences with their English translations: Tatoeba's in 112 languages (Artetxe and Schwenk 2019), and a built-in set.

Each language has two pair sets, one per direction. Both have the same texts in the same order, the language's sentences
first, so they share embeddings. Queries are the sentences of one language, matches their translations. No file has a
sentence twice, so every sentence has one match; filtered ranks leave out what differs only in case or punctuation.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np

from blindspot.datasets.entries import DatasetEntry, Family, SourceFile
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published.tatoeba.languages import ENGLISH, Language, languages
from blindspot.datasets.published.text_lines import filled, parsed, text_of
from blindspot.errors import DataCorrupt, InputError, unknown
from blindspot.settings import ASSETS

_FILES = Path(__file__).parent / "files.tsv"
_BUILT_IN = ASSETS / "demo" / "languages.tsv"
_REPOSITORY = "facebookresearch/LASER"
_REVISION = "74bc6ae7ffb7cba670fe0f428d0ede9f666fb821"
_FOLDER = "data/tatoeba/v1"
BOTH = ("from", "to")  # directions, as seen from the other language: from it into English, from English into it


@dataclass(frozen=True)
class ParallelSets:
    """A family of pair sets, two per language.

    Attributes:
        prefix: of the members' ids.
        codes: of its languages.
    """

    family: Family
    prefix: str
    codes: tuple[str, ...]

    def member(self, code: str, direction: str) -> str:
        """Id of a language's pair set in a direction of ``BOTH``."""
        return _id(self.prefix, code, direction)

    def languages(self, wanted: Sequence[str] = ()) -> tuple[Language, ...]:
        """The languages by code or name, in the order of the family; all languages if none is wanted.

        Raises:
            InputError: an unknown language; the nearest is suggested.
        """
        by_code = languages()
        by_name = {by_code[code].name.casefold(): code for code in self.codes}
        chosen = set()
        for language in wanted:
            code = language if language in self.codes else by_name.get(language.casefold(), language.casefold())
            if code == ENGLISH:
                raise InputError("English is the other side of every pair", expected="languages besides English")
            if code not in self.codes:
                nearest = unknown("language", language, [*self.codes, *(by_code[code].name for code in self.codes)])
                raise InputError(
                    f"unknown language '{language}'",
                    expected=f"an ISO 639-3 code or a name, one of {len(self.codes)}",
                    remedy=nearest.remedy or f"list them with: blindspot data list {self.family.id}",
                )
            chosen.add(code)
        return tuple(by_code[code] for code in self.codes if not wanted or code in chosen)


def parallel_pairs(dataset_id: str, sentences: Sequence[str], english: Sequence[str], direction: str) -> PairSet:
    """A pair set of sentences and their translations, line by line; ``direction`` is one of ``BOTH``."""
    number = {text: i for i, text in enumerate(dict.fromkeys([*sentences, *english]))}
    numbers, other = (np.array([number[text] for text in texts], dtype=np.int32) for texts in (sentences, english))
    queries, matches = (numbers, other) if direction == BOTH[0] else (other, numbers)
    return PairSet(id=dataset_id, items=tuple(number), queries=queries, matches=matches)


def load(dataset_id: str, sentences: Path, english: Path, direction: str) -> PairSet:
    """Two files with a sentence per line, in the same order.

    Raises:
        DataCorrupt: an empty line, or files of different length.
    """
    columns = []
    for path in (sentences, english):
        numbered = list(enumerate(text_of(path).removesuffix("\n").split("\n"), 1))
        columns.append(parsed(path, numbered, filled, "a sentence in every line", "no sentence"))
    texts, translated = columns
    if len(texts) != len(translated):
        raise DataCorrupt(
            f"{sentences} has {len(texts):,} lines and {english} {len(translated):,}",
            expected="a translation of every sentence",
        )
    return parallel_pairs(dataset_id, texts, translated, direction)


def _id(prefix: str, code: str, direction: str) -> str:
    return f"{prefix}-{code}-{ENGLISH}" if direction == BOTH[0] else f"{prefix}-{ENGLISH}-{code}"


def _between(language: Language, direction: str) -> tuple[str, str]:
    return (language.name, "English") if direction == BOTH[0] else ("English", language.name)


# --- Tatoeba


def _tatoeba() -> ParallelSets:
    with _FILES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    members = {entry.id: entry for row in rows for entry in (_tatoeba_entry(row, direction) for direction in BOTH)}
    family = Family(
        id="tatoeba",
        title="Tatoeba",
        description="Is a sentence's English translation its nearest English sentence, and the other way round? Up to "
        "1,000 sentences of Tatoeba in each of 112 languages.",
        size="112 languages, 88,877 pairs, in two directions",
        members=members,
        naming="tatoeba-LANGUAGE-eng and tatoeba-eng-LANGUAGE",
    )
    return ParallelSets(family, "tatoeba", tuple(row["code"] for row in rows))


def _tatoeba_entry(row: Mapping[str, str], direction: str) -> DatasetEntry:
    language = languages()[row["code"]]
    of, into = _between(language, direction)
    pairs, texts = int(row["pairs"]), int(row["texts"])
    files = tuple(
        SourceFile(
            "tatoeba",
            path,
            f"https://raw.githubusercontent.com/{_REPOSITORY}/{_REVISION}/{path}",
            int(row[f"{column}size"]),
            row[f"{column}sha256"],
        )
        for path, column in (
            (f"{_FOLDER}/tatoeba.{language.code}-{ENGLISH}.{language.code}", ""),
            (f"{_FOLDER}/tatoeba.{language.code}-{ENGLISH}.{ENGLISH}", "english_"),
        )
    )
    return DatasetEntry(
        id=_id("tatoeba", language.code, direction),
        title=f"Tatoeba, {of} to {into}",
        description=f"Sentences of Tatoeba in {of} and their translations into {into}. The English sentences differ "
        "from language to language, and vary less in small ones.",
        kind=DatasetKind.PAIR_SET,
        unit="sentence",
        size=f"{pairs:,} pairs, {texts:,} sentences",
        pairs=pairs,
        texts=texts,
        licence="CC BY 2.0 FR (Tatoeba's sentences); BSD-3-Clause (repository)",
        citation="Artetxe and Schwenk 2019, Massively Multilingual Sentence Embeddings for Zero-Shot Cross-Lingual "
        "Transfer and Beyond",
        url=f"https://github.com/{_REPOSITORY}",
        revision=_REVISION,
        files=files,
        load=lambda dataset_id, paths: load(dataset_id, paths[0], paths[1], direction),
    )


# --- built in


def _built_in() -> ParallelSets:
    codes = ("deu", "fra", "spa", "pol", "rus", "tur", "cmn")
    members = {entry.id: entry for code in codes for entry in (_demo_entry(code, way) for way in BOTH)}
    family = Family(
        id="demo-languages",
        title="Demo languages",
        description="Is a sentence's English translation its nearest English sentence, and the other way round? "
        "40 sentences of everyday life in seven languages.",
        size="7 languages, 280 pairs, in two directions",
        members=members,
        naming="demo-LANGUAGE-eng and demo-eng-LANGUAGE",
    )
    return ParallelSets(family, "demo", codes)


def _demo_entry(code: str, direction: str) -> DatasetEntry:
    of, into = _between(languages()[code], direction)
    return DatasetEntry(
        id=_id("demo", code, direction),
        title=f"Demo, {of} to {into}",
        description=f"Sentences of everyday life in {of} and their translations into {into}.",
        kind=DatasetKind.PAIR_SET,
        unit="sentence",
        size="40 pairs, 80 sentences",
        pairs=40,
        texts=80,
        licence="Apache-2.0",
        citation="Written and translated by Blindspot's authors",
        load=lambda dataset_id, _: parallel_pairs(dataset_id, _written(code), _written(ENGLISH), direction),
    )


@cache
def _written(code: str) -> tuple[str, ...]:
    with _BUILT_IN.open(encoding="utf-8", newline="") as file:
        return tuple(row[code] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


PARALLEL = {sets.family.id: sets for sets in (_tatoeba(), _built_in())}
_MEMBERS = {
    member: (sets, code, direction)
    for sets in PARALLEL.values()
    for code, direction in chain.from_iterable(((code, way) for way in BOTH) for code in sets.codes)
    for member in [sets.member(code, direction)]
}


def place_of(dataset: str) -> tuple[ParallelSets, Language, str] | None:
    """The family, the language besides English, and the direction of a pair set; None for other datasets."""
    member = _MEMBERS.get(dataset)
    return (member[0], languages()[member[1]], member[2]) if member else None
