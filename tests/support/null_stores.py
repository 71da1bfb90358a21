"""Stores in which nothing is to be found: real runs of every diagnostic, by models and on data that know nothing.

Texts are made of random words. With true labels matches, rewrites, scores and classes follow the words; with shuffled
ones they are dealt at random, so that neither a model nor words alone can know them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice, product
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.random import Generator
from threadpoolctl import threadpool_limits

from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.kinds.chunked import ChunkedSentences
from blindspot.datasets.kinds.labeled_texts import TEST, TRAIN
from blindspot.datasets.kinds.probing import ProbingTask
from blindspot.datasets.kinds.relations import Analogies, Categories, Events, Outliers
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.datasets.published.labeled_texts import Example, labeled_texts
from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.datasets.published.pairs import pair_set
from blindspot.datasets.published.scored_pairs import scored_pairs
from blindspot.encoders.base import EncoderInfo
from blindspot.runs.findings import Finding
from blindspot.studies.findings.collection import Selection, collect
from blindspot.types import CancelToken, Float32
from blindspot.variants import Variant
from tests.support.retrieval_world import made
from tests.support.small_world import GramEncoder
from tests.support.world import World, small_world

VOCABULARY = tuple(f"{a}{b}{c}o" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgk")
LENGTH = 6  # words of a sentence
BASELINES = ("random-projection", "lsa")
SIZES, DIMENSIONS = (3, 2, 4), (96, 83, 61)  # of models that know spelling alone; words have four letters


class Null(StrEnum):
    """Why there is nothing to be found."""

    RANDOM_VECTORS = "random vectors, true labels"  # true: "worse than words alone" is right of them
    SHUFFLED_LABELS = "shuffled labels"
    ITSELF = "a model against itself under other names, shuffled labels"


@dataclass
class Noise(GramEncoder):
    """A random vector for every text, which depends on nothing but ``seed`` and the text."""

    seed: int = 0

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        cancel.check()
        keys = [zlib.crc32(text.encode()) for text in texts]
        vectors = [np.random.default_rng([self.seed, key]).normal(size=self.info.dimension) for key in keys]
        return np.array(vectors, dtype=np.float32)


def grams(size: int, dimension: int) -> GramEncoder:
    info = EncoderInfo("Character n-grams", dimension, 0, 0, "", "", "")
    return GramEncoder(f"grams-{size}-{dimension}", size, info=info)


# --- data


def sentence(rng: Generator) -> list[str]:
    return [str(word) for word in rng.choice(VOCABULARY, LENGTH, replace=False)]


def changed(words: Sequence[str], rng: Generator, count: int) -> str:
    """The sentence with so many of its words replaced."""
    out = list(words)
    for place in rng.choice(LENGTH, count, replace=False):
        out[place] = str(rng.choice(VOCABULARY))
    return " ".join(out)


def pairs(rng: Generator, is_true: bool) -> Dataset:
    """Where matches are dealt at random, no two texts share a word: what a model ranks first must not share more."""
    texts = [sentence(rng) if is_true else strange(rng) for _ in range(200)]
    told = [(" ".join(texts[i]), changed(texts[i], rng, 3) if is_true else " ".join(texts[140 + i])) for i in range(60)]
    return pair_set("null-pairs", told, [" ".join(words) for words in texts[60:140]])


def strange(rng: Generator) -> list[str]:
    """A sentence of words that are in no other."""
    return ["".join(rng.choice(list("abcdefghiklmnoprst"), 8)) for _ in range(LENGTH)]


def rewrites(rng: Generator, is_true: bool) -> Dataset:
    """What keeps the meaning has as many words replaced as what changes it; truly it has more, as in HEROS, so that
    words alone are below chance."""
    originals = [sentence(rng) for _ in range(60)]
    changes = {"synonym": 3, "antonym": 1, "negation_main": 2, "negation_antonym": 1, "random_mlm": 1, "typo": 3}
    told = {name: [changed(words, rng, n if is_true else 2) for words in originals] for name, n in changes.items()}
    return minimal_pair_set("null-rewrites", [" ".join(words) for words in originals], told)


def choices(rng: Generator, is_true: bool) -> Dataset:
    """One right rewrite of four, as in SemAntoNeg."""
    originals = [sentence(rng) for _ in range(60)]
    changes = {"paraphrase": 1, "antonym": 2, "negation": 2, "other": 3}
    told = {name: [changed(words, rng, n if is_true else 2) for words in originals] for name, n in changes.items()}
    return minimal_pair_set("null-choices", [" ".join(words) for words in originals], told)


def scores(rng: Generator, is_true: bool) -> Dataset:
    """Pairs with words in common, some of them negated."""
    rows = []
    for _ in range(150):
        words, count = sentence(rng), int(rng.integers(1, LENGTH + 1))
        told = float(LENGTH - count) if is_true else float(rng.integers(LENGTH))
        negated = "not " if rng.random() < 0.2 else ""
        rows.append((" ".join(words), negated + changed(words, rng, count), told))
    return scored_pairs("null-scores", {"all": rows})


def classes(rng: Generator, is_true: bool) -> Dataset:
    """A class has words of its own, which every text has one of."""
    return labeled_texts("null-classes", ("no", "yes"), _examples(rng, is_true))


def probe(rng: Generator, is_true: bool) -> Dataset:
    return ProbingTask.of(labeled_texts("null-probe", ("no", "yes"), _examples(rng, is_true)), "tree_depth")


def _examples(rng: Generator, is_true: bool) -> list[Example]:
    out = []
    for number in range(160):
        label = int(rng.random() < 0.5)
        told = f"{' '.join(sentence(rng))} {('nevero', 'alwayso')[label]} {number}"
        out.append(Example(("no", "yes")[label if is_true else int(rng.random() < 0.5)], told, None, _split(number)))
    return out


def _split(number: int) -> int:
    return TRAIN if number % 2 else TEST


def judgments(rng: Generator, is_true: bool) -> Dataset:
    """One relevant document per query, among some that share words with it."""
    common = rng.choice(VOCABULARY, 30, replace=False)
    texts = [[str(word) for word in rng.choice(common, LENGTH, replace=False)] for _ in range(100)]
    queries = [" ".join(texts[i][:4]) if is_true else " ".join(rng.choice(common, 4, replace=False)) for i in range(40)]
    documents = [" ".join(words) for words in texts]
    return made("null-judgments", queries, documents, [{place: 1} for place in range(len(queries))])


def passages(rng: Generator, is_true: bool) -> Dataset:
    """Three sentences each; truly a query has words of one of them."""
    common = rng.choice(VOCABULARY, 40, replace=False)
    texts = [[[str(word) for word in rng.choice(common, LENGTH)] for _ in range(3)] for _ in range(60)]
    asked = [text[i % 3][:4] if is_true else rng.choice(common, 4) for i, text in enumerate(texts[:45])]
    documents = [" ".join(f"{' '.join(words).capitalize()}." for words in text) for text in texts]
    return made("null-passages", [" ".join(words) for words in asked], documents, [{i: 1} for i in range(len(asked))])


def analogies(rng: Generator, is_true: bool) -> Dataset:
    """Two relations of twelve pairs of words; truly the second word is the first with an ending."""
    stems = [str(word) for word in rng.choice(VOCABULARY, 24, replace=False)]
    answers = [f"{stem}{'sna' if i < 12 else 'ryt'}" for i, stem in enumerate(stems)]
    if not is_true:
        answers = [answers[i] for i in rng.permutation(24)]
    sections, questions, right = [], [], []
    for start in (0, 12):
        for i in range(start, start + 12):
            for j in range(start, start + 12):
                if i != j:
                    sections.append(start // 12)
                    questions.append((i, 24 + i, j))
                    right.append(24 + j)
    return Analogies(
        "null-analogies",
        (*stems, *answers),
        ("first", "second"),
        ("", ""),
        np.array(sections, dtype=np.int32),
        np.array(questions, dtype=np.int32),
        np.array(right, dtype=np.int32),
        48,
    )


def categories(rng: Generator, is_true: bool) -> Dataset:
    """Twelve classes of eight words; truly they have their ending in common."""
    words, of_class = _kinds(rng, 12, 8)
    dealt = of_class if is_true else rng.permutation(of_class)
    names = tuple(f"kind {i}" for i in range(12))
    return Categories("null-categories", words, names, np.arange(96, dtype=np.int32), dealt.astype(np.int32))


def outliers(rng: Generator, is_true: bool) -> Dataset:
    """Twelve groups of five words, each with two that are of another group."""
    words, of_class = _kinds(rng, 12, 8)
    if not is_true:
        words = tuple(words[i] for i in rng.permutation(len(words)))
    groups, members, odd = [], [], []
    for group in range(12):
        own = np.flatnonzero(of_class == group)[:5]
        for other in rng.choice(np.flatnonzero(of_class != group), 2, replace=False):
            groups.append(group)
            members.append(own)
            odd.append(other)
    return Outliers(
        "null-outliers",
        words,
        tuple(f"group {i}" for i in range(12)),
        np.array(groups, dtype=np.int32),
        np.array(members, dtype=np.int32),
        np.array(odd, dtype=np.int32),
    )


def _kinds(rng: Generator, many: int, size: int) -> tuple[tuple[str, ...], np.ndarray]:
    stems = rng.choice(VOCABULARY, many * size, replace=False)
    return tuple(f"{stem}{'abcdefghijkl'[i // size] * 3}" for i, stem in enumerate(stems)), np.arange(
        many * size
    ) // size


def events(rng: Generator, is_true: bool) -> Dataset:
    """Truly a typical patient has the letters of its verb."""
    verbs = [str(word) for word in rng.choice(VOCABULARY, 80, replace=False)]
    items = [*verbs, *(f"{verb}er" for verb in verbs), *(f"{verb}ed" for verb in verbs)]
    other = np.roll(np.arange(80), 1)
    typical, atypical = np.arange(80), other
    if not is_true:
        swapped = rng.random(80) < 0.5
        typical, atypical = np.where(swapped, atypical, typical), np.where(swapped, typical, atypical)
    at = np.arange(80, dtype=np.int32)
    return Events(
        "null-events", tuple(items), 80 + at, at, (160 + typical).astype(np.int32), (160 + atypical).astype(np.int32)
    )


def vocabulary(rng: Generator, is_true: bool) -> Dataset:
    """Truly frequent words begin with letters that come first."""
    some = sorted(rng.choice(VOCABULARY, 120, replace=False))
    words = [str(word) for word in (some if is_true else rng.permutation(some))]
    counts = np.repeat([100.0, 1.0], 60)  # one threshold: a mean over several is on the safe side
    queries = np.arange(0, len(words), 7, dtype=np.int32)
    return Vocabulary("null-vocabulary", tuple(words), counts, float(counts.sum()), queries)


def phrases(rng: Generator, is_true: bool) -> Dataset:
    """Sentences of six words; truly a word of the first half of the vocabulary begins a noun phrase."""
    words = rng.integers(0, len(VOCABULARY), (60, LENGTH))
    tags = (words < len(VOCABULARY) // 2) if is_true else rng.random(words.shape) < 0.5
    return ChunkedSentences(
        "null-phrases",
        VOCABULARY,
        ("O", "B-NP"),
        words.ravel().astype(np.int32),
        tags.ravel().astype(np.int32),
        np.arange(0, words.size + 1, LENGTH, dtype=np.int64),
        np.array([_split(i) for i in range(60)], dtype=np.int8),
    )


DATA: Mapping[str, Callable[[Generator, bool], Dataset]] = MappingProxyType(
    {
        "evalrank": pairs,
        "geometry": pairs,
        "heros": rewrites,
        "heros (choices)": choices,
        "similarity": scores,
        "transfer": classes,
        "learning_curve": classes,
        "probing": probe,
        "retrieval": judgments,
        "analogy": analogies,
        "categorization": categories,
        "outliers": outliers,
        "thematic_fit": events,
        "frequency": vocabulary,
        "chunking": phrases,
        "long_texts": passages,
    }
)


# --- stores


def models(null: Null, seed: int, count: int) -> list[list[GramEncoder]]:
    """Encoders to add to the catalog, ``count`` times those of one store; the last of several may take the name of a
    baseline."""
    match null:
        case Null.RANDOM_VECTORS:
            return [[Noise(f"noise-{i}", seed=1_000 * seed + i)] for i in range(count)]
        case Null.SHUFFLED_LABELS:
            return [[grams(size, dimension)] for size, dimension in islice(product(SIZES, DIMENSIONS), count)]
        case Null.ITSELF:
            return [[GramEncoder(name) for name in ("one", "other", BASELINES[0])]]


@dataclass(frozen=True)
class NullWorld:
    """Runs of every diagnostic by the baselines and by models that know nothing.

    Each of ``stores`` are the models of one store: what is found in it is compared with the baselines alone, and
    corrected by itself. So data and baselines, which take most of the time, are made once for several stores.
    """

    world: World
    stores: tuple[tuple[str, ...], ...]

    def found(self) -> Iterator[list[Finding]]:
        """What is shown of each store's models."""
        for names in self.stores:
            own = Selection(tuple(map(Variant.parse, names)))
            collected = collect(self.world.repository, self.world.settings, own)
            assert not collected.failures, collected.failures
            yield [one.finding for one in collected.discoveries]


@contextmanager
def null_world(
    null: Null, seed: int, folder: Path, stores: int, only: Sequence[str] = tuple(DATA)
) -> Iterator[NullWorld]:
    """A world with so many stores; of a model against itself there is one, for nothing in it depends on the model."""
    # Beside other work two BLAS threads wait for each other: LSA takes twenty times as long.
    with small_world(folder) as world, threadpool_limits(1, user_api="blas"):
        encoders = models(null, seed, stores)
        own = [[encoder.reference for encoder in those] for those in encoders]
        world.add(*(encoder for those in encoders for encoder in those))
        names = dict.fromkeys([*(name for those in own for name in those), *(() if null is Null.ITSELF else BASELINES)])
        for place, name in enumerate(DATA):
            if name in only:
                data = DATA[name](np.random.default_rng([46, seed, place]), null is Null.RANDOM_VECTORS)
                world.add(data)
                for encoder in names:
                    world.run(name.split()[0], encoder, data.id)
        yield NullWorld(world, tuple(tuple(those) for those in own))
