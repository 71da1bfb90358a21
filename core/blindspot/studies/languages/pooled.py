"""Pool of several languages with their English translations: does a query's language win over its meaning?

Every sentence is a query, and all others are candidates, whatever their language. The right ones are its translations,
into English or, through an equal English sentence, into another language of the pool. The nearest candidate is one of
these, or a wrong sentence: in the query's own language, in English, or in a third language. If language did not matter,
wrong nearest candidates would be in the query's language as often as all wrong candidates are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from blindspot.datasets.published.tatoeba import BOTH, place_of
from blindspot.datasets.published.tatoeba.languages import ENGLISH
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.errors import InputError
from blindspot.numerics.neighbors.exact import ExactIndex
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Interval, level_of_each, p_of_more, quantile, wilson_interval
from blindspot.runs.embeddings import RunVectors, vectors_of
from blindspot.settings import Settings, prepare_runtime
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.languages.scores import FROM, TO, Score
from blindspot.types import Float32, Int64, Progress, no_progress

POOLED = 6  # languages at first: where a model finds little, it has no bias to show
PRODUCTS = 15_000_000_000  # of numbers, that a pool may take where somebody waits: some seconds on two cores
FEWEST = 20  # queries of a language, however large the pool is
AT_ONCE = 2_000  # queries
EXAMPLES = 3  # mistakes of a language


class Nearest(StrEnum):
    """Kind of the nearest candidate of a query."""

    TRANSLATION = "translation"
    OWN = "own language"
    ENGLISH = "English"
    OTHER = "another language"


@dataclass(frozen=True, eq=False)
class Pool:
    """Texts of a pool, ``n`` distinct ones.

    Attributes:
        texts: those of each language in turn, English last.
        languages: ``[n]``, codes of the languages that each text occurs in; as a query it counts for the first.
        vectors: ``[n, d] float32``, as candidates.
        asking: ``[n, d] float32``, as queries; None if they are the same.
        meanings: ``[n]``, the numbers of the English texts that a text translates, its own number for English.
    """

    texts: tuple[str, ...]
    languages: tuple[tuple[str, ...], ...]
    vectors: Float32
    asking: Float32 | None
    meanings: tuple[frozenset[int], ...]


@dataclass(frozen=True)
class Bias:
    """Nearest candidates of the queries in one language.

    Attributes:
        language: code; ``eng`` for English.
        queries: number of queries looked at; ``of`` is the number of all.
        shares: of the queries, by kind of the nearest candidate; they sum to 1.
        own: 95% interval of the share whose nearest candidate is in their own language (Wilson).
        expected: share of the wrong candidates that are in the query's language.
        p: of a binomial test of whether wrong nearest candidates are in the query's language more often than that.
        examples: queries whose nearest candidate is in their language: query, nearest, a translation; evenly spaced.
    """

    language: str
    queries: int
    of: int
    shares: Mapping[Nearest, float]
    own: Interval
    expected: float
    p: float
    examples: tuple[tuple[str, str, str], ...]

    def own_share(self, of_many: int = 1) -> Estimate:
        """The share whose nearest candidate is in their own language; its interval allows for naming one of many."""
        value, level = self.shares[Nearest.OWN], level_of_each(of_many)
        interval = wilson_interval(value, self.queries, float(quantile(np.inf, level)))
        return Estimate(value, interval, "Wilson", Unit.QUERIES, self.queries, float(self.queries), level=level)

    @property
    def wrong(self) -> int:
        return round(self.queries * (1 - self.shares[Nearest.TRANSLATION]))

    @property
    def own_among_wrong(self) -> float | None:
        """Share of the wrong nearest candidates that are in the query's language; None without any."""
        return self.shares[Nearest.OWN] * self.queries / self.wrong if self.wrong else None


def best_of(runs: Sequence[RunRecord], most: int = POOLED) -> tuple[str, ...]:
    """Codes of the languages with the highest mean accuracy over both directions, among those that have both."""
    accuracy: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        if languages := place_of(run.plan.dataset):
            accuracy[languages[1].code].append(float(run.metrics["hits@1"]))
    whole = {code: sum(values) for code, values in sorted(accuracy.items()) if len(values) == len(BOTH)}
    return tuple(sorted(whole, key=lambda code: -whole[code])[:most])


def pool_of(scores: Sequence[Score], settings: Settings, repository: Repository) -> Pool:
    """The pool of the languages of some scores that have both directions, from cached embeddings.

    Raises:
        EmbeddingsGone: the cache no longer has a run's embeddings.
        InputError: the model has post-processing, fitted on each language apart, or no language has both directions.
    """
    if any(score.run.plan.variant.transform != "none" for score in scores):
        raise not_pooled()
    prepare_runtime(settings)
    runs: dict[str, dict[str, RunRecord]] = defaultdict(dict)
    for score in scores:
        runs[score.language.code][score.direction] = score.run
    whole = {code: ways for code, ways in runs.items() if len(ways) == len(BOTH)}
    if not whole:
        raise InputError("no language is computed in both directions", remedy="compute them first")
    languages_of: dict[str, dict[str, None]] = defaultdict(dict)
    places: dict[str, tuple[str, str, int]] = {}  # text: code, direction in which it asks, number in its dataset
    pairs: list[tuple[str, str]] = []
    for code, ways in whole.items():
        rows = repository.items(ENTRY, [ways[FROM].run_id], texts=True)
        for query, match, query_no, match_no in rows[["query", "match", "query_no", "match_no"]].itertuples(
            index=False
        ):
            pairs.append((query, match))
            places.setdefault(query, (code, FROM, int(query_no)))
            places.setdefault(match, (code, TO, int(match_no)))
            languages_of[query][code] = None
    texts = [*languages_of, *(text for text in places if text not in languages_of)]
    for _, match in pairs:
        languages_of[match][ENGLISH] = None
    number = {text: i for i, text in enumerate(texts)}
    meanings: list[set[int]] = [set() for _ in texts]
    for query, match in pairs:
        meanings[number[query]].add(number[match])
        meanings[number[match]].add(number[match])
    vectors, asking = _vectors([places[text] for text in texts], whole, settings, repository)
    return Pool(
        tuple(texts),
        tuple(tuple(languages_of[text]) for text in texts),
        vectors,
        asking,
        tuple(frozenset(meaning) for meaning in meanings),
    )


def not_pooled() -> InputError:
    """The error for post-processing."""
    return InputError(
        "post-processing is fitted on each language apart, so its vectors cannot be pooled",
        expected="a model without post-processing",
    )


def _vectors(
    places: Sequence[tuple[str, str, int]],
    runs: Mapping[str, Mapping[str, RunRecord]],
    settings: Settings,
    repository: Repository,
) -> tuple[Float32, Float32 | None]:
    """Vectors of texts by their places, as candidates and, where these differ, as queries."""
    vectors: dict[tuple[str, str], RunVectors] = {
        (code, way): vectors_of(run, settings, repository) for code, ways in runs.items() for way, run in ways.items()
    }
    as_candidates = np.stack(
        [vectors[code, way].vectors[vectors[code, way].places(np.array([n]))[0]] for code, way, n in places]
    ).astype(np.float32)
    if all(vectors.asking is None for vectors in vectors.values()):
        return as_candidates, None
    as_queries = np.stack(
        [vectors[code, way].vectors[vectors[code, way].places_of_queries(np.array([n]))[0]] for code, way, n in places]
    ).astype(np.float32)
    return as_candidates, as_queries


def nearest_in(
    pool: Pool,
    metric: Similarity,
    numbers: Int64,
    progress: Progress = no_progress,
) -> Int64:
    """The nearest candidate of each of the texts ``numbers [q]``, exact; of equally near ones the first, ``[q]``."""
    index = ExactIndex(pool.vectors, metric)
    out = np.empty(len(numbers), dtype=np.int64)
    for start in range(0, len(numbers), AT_ONCE):
        some = numbers[start : start + AT_ONCE]
        if pool.asking is None:
            out[start : start + len(some)] = index.of_rows(some, 1).rows[:, 0]
        else:
            two = index.of_vectors(pool.asking[some], 2).rows
            out[start : start + len(some)] = np.where(two[:, 0] == some, two[:, 1], two[:, 0])
        progress("nearest sentences", min(start + AT_ONCE, len(numbers)), len(numbers))
    return out


def biases(
    pool: Pool,
    metric: Similarity,
    *,
    most_products: int | None = None,
    progress: Progress = no_progress,
) -> list[Bias]:
    """The kinds of nearest candidates of a pool's sentences, per language, English last.

    Args:
        most_products: the most products of numbers to compute; with it, only evenly spaced queries may be looked at.
    """
    translations = _translations(pool)
    asking: dict[str, list[int]] = {}
    sizes = Counter(code for codes in pool.languages for code in codes)
    for text, codes in enumerate(pool.languages):
        if translations[text]:  # the same in both languages: it has no other translation
            asking.setdefault(codes[0], []).append(text)
    chosen = {}
    for code, texts in asking.items():
        sampled = np.array(texts, dtype=np.int64)
        if most_products is not None:
            most = max(FEWEST, most_products // (pool.vectors.size * len(asking)))
            sampled = sampled[np.linspace(0, len(sampled) - 1, min(most, len(sampled))).astype(np.int64)]
        chosen[code] = sampled
    numbers = np.concatenate(list(chosen.values()))
    nearest = nearest_in(pool, metric, numbers, progress)
    kinds = np.array(
        [
            _kind(pool, query, item, translations[query])
            for query, item in zip(numbers.tolist(), nearest.tolist(), strict=True)
        ]
    )
    out, start = [], 0
    for code, sampled in chosen.items():
        here = slice(start, start + len(sampled))
        start += len(sampled)
        n, counts = len(sampled), {kind: int(np.count_nonzero(kinds[here] == kind)) for kind in Nearest}
        wrong = n - counts[Nearest.TRANSLATION]
        right = np.array([len(translations[query]) for query in sampled.tolist()])
        expected = float(np.mean((sizes[code] - 1) / np.maximum(len(pool.texts) - 1 - right, 1)))
        lost = np.flatnonzero(kinds[here] == Nearest.OWN)
        lost = lost[np.linspace(0, len(lost) - 1, min(EXAMPLES, len(lost))).astype(np.int64)]
        out.append(
            Bias(
                code,
                n,
                len(asking[code]),
                {kind: count / n for kind, count in counts.items()},
                wilson_interval(counts[Nearest.OWN] / n, n),
                expected,
                p_of_more(counts[Nearest.OWN], wrong, expected),
                tuple(
                    (
                        pool.texts[sampled[index]],
                        pool.texts[nearest[here][index]],
                        pool.texts[max(translations[int(sampled[index])])],
                    )
                    for index in lost.tolist()
                ),
            )
        )
    return out


def _translations(pool: Pool) -> list[frozenset[int]]:
    """Per text the numbers of its translations: texts in other languages that share an English sentence with it."""
    texts_of: dict[int, set[int]] = defaultdict(set)
    for text, meanings in enumerate(pool.meanings):
        for meaning in meanings:
            texts_of[meaning].add(text)
    return [
        frozenset(
            other
            for meaning in meanings
            for other in texts_of[meaning]
            if other != text and pool.languages[other] != pool.languages[text]
        )
        for text, meanings in enumerate(pool.meanings)
    ]


def _kind(pool: Pool, query: int, item: int, translations: frozenset[int]) -> Nearest:
    if item in translations:
        return Nearest.TRANSLATION
    if set(pool.languages[item]) & set(pool.languages[query]):
        return Nearest.OWN
    return Nearest.ENGLISH if ENGLISH in pool.languages[item] else Nearest.OTHER
