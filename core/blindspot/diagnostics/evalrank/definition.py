"""EvalRank: the rank of the match among all items (Wang 2022, section 4.2).

Ties are resolved in expectation (random order), and as optimistic and pessimistic ranks. *Raw* ranks are among all
items; *filtered* ranks leave out the query's other matches and near-duplicates of query and match
(``blindspot.texts``), as in knowledge-graph evaluation.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.diagnostic import (
    Column,
    Cost,
    Diagnostic,
    DiagnosticResult,
    GridRole,
    Overview,
    Page,
    Parameter,
    Preparation,
    Reading,
    Roles,
    Score,
)
from blindspot.diagnostics.evalrank.toolkit import rank_pairs_as_toolkit
from blindspot.numerics.ranking.gpu import rank_pairs_on
from blindspot.numerics.ranking.problem import RankCounts
from blindspot.numerics.ranking.ranks import (
    Exclusions,
    RankPairs,
    expected_hit,
    expected_reciprocal_rank,
    rank_among,
    rank_pairs,
    without,
)
from blindspot.numerics.ranking.rescoring import Rescoring, Side, Twice, rank_pairs_twice
from blindspot.numerics.similarity import Similarity, similarity_of_pairs
from blindspot.texts import near_duplicate_key
from blindspot.transforms import toolkit
from blindspot.transforms.toolkit import DEFINITION, TOOLKIT
from blindspot.types import Bool, CancelToken, Float32, Float64, Int64, Progress

if TYPE_CHECKING:
    from blindspot.numerics.statistics.compare import ItemScores
    from blindspot.runs.findings import Material
    from blindspot.runs.findings.evidence import Evidence
    from blindspot.runs.training_data.examples import Triplet
    from blindspot.settings import Settings
    from blindspot.store.records import RunRecord
    from blindspot.store.repository import Repository

HITS_AT = (1, 3, 5, 10)
CPU = "cpu"
ALL, MATCHES = "all", "matches"
CANDIDATES = Parameter(
    "candidates",
    (ALL, MATCHES),
    ALL,
    "texts that a match is ranked among: all of the dataset, as in the paper, or only texts that match some query",
    f"of evalrank, texts that a match is ranked among: {ALL}, or only {MATCHES}, which match some query",
    only_if_chosen=True,
    when="Choose matches where queries and matches are different kinds of text, such as questions and passages: other "
    "queries do not compete then. All is the paper's definition, for texts of one kind.",
    shown=((MATCHES, "matches"),),
)
RANKS = (1.0, math.inf)
_LAST_EXCLUSIONS: dict[str, Exclusions] = {}


def exclusions_of(dataset: PairSet) -> Exclusions:
    """Per pair, the items that filtered ranks leave out: the query's other matches, near-duplicates of query or match.

    They are the same for every encoder and take a third of the time of ranking, so the last dataset's are kept.
    """
    digest = dataset.content_digest
    exclusions = _LAST_EXCLUSIONS.get(digest)  # once: another thread may replace it
    if exclusions is None:
        exclusions = _find_exclusions(dataset)
        _LAST_EXCLUSIONS.clear()
        _LAST_EXCLUSIONS[digest] = exclusions
    return exclusions


def _find_exclusions(dataset: PairSet) -> Exclusions:
    matches_of: dict[int, set[int]] = defaultdict(set)
    for query, match in zip(dataset.queries.tolist(), dataset.matches.tolist(), strict=True):
        matches_of[query].add(match)
    keys = [near_duplicate_key(text) for text in dataset.items]
    near_duplicates_of: dict[str, set[int]] = defaultdict(set)
    for item, key in enumerate(keys):
        if key:
            near_duplicates_of[key].add(item)
    pairs: list[int] = []
    items: list[int] = []
    for pair, (query, match) in enumerate(zip(dataset.queries.tolist(), dataset.matches.tolist(), strict=True)):
        out = (
            matches_of[query] | near_duplicates_of.get(keys[query], set()) | near_duplicates_of.get(keys[match], set())
        )
        out -= {query, match}
        pairs += [pair] * len(out)
        items += sorted(out)
    return Exclusions(np.array(pairs, dtype=np.int64), np.array(items, dtype=np.int64))


def candidates_of(dataset: PairSet, params: Mapping[str, str]) -> Bool | None:
    """The items that matches are ranked among, ``[n] bool``; None for all. The query itself is never a candidate."""
    if CANDIDATES.value_in(params) == ALL:
        return None
    out = np.zeros(len(dataset.items), dtype=np.bool_)
    out[dataset.matches] = True
    return out


def ceilings(dataset: PairSet) -> dict[str, float]:
    """The best raw scores that any encoder could reach: only one of a query's matches can be first.

    The query is not a candidate, so a pair of a text with itself always has rank 1 and takes no other match's rank.
    """
    copies = Counter(zip(dataset.queries.tolist(), dataset.matches.tolist(), strict=True))
    copies_of_matches: dict[int, list[int]] = defaultdict(list)
    best_ranks: list[int] = []
    for (query, match), number in copies.items():
        if query == match:
            best_ranks += [1] * number
        else:
            copies_of_matches[query].append(number)
    for numbers in copies_of_matches.values():
        for rank, number in enumerate(sorted(numbers, reverse=True), 1):
            best_ranks += [rank] * number
    ranks = np.array(best_ranks)
    best = {"mrr_ceiling": float(np.mean(1.0 / ranks))}
    return best | {f"hits@{k}_ceiling": float(np.mean(ranks <= k)) for k in HITS_AT}


def rank(
    dataset: PairSet,
    vectors: Float32,
    metric: Similarity,
    among: Bool | None,
    exclusions: Exclusions,
    progress: Progress,
    cancel: CancelToken,
    rank_all: RankPairs = rank_pairs,
    pairs: Int64 | None = None,
) -> tuple[RankCounts, RankCounts]:
    """Raw and filtered ranks of the pairs' matches.

    Args:
        vectors: ``[n, d]``, one per item; by role ``[n + q, d]``: the items as documents, then ``dataset.asking`` as
            queries. A query's own text is then a document, but not a candidate.
        among: ``candidates_of``.
        exclusions: of candidates, by place among the pairs that are ranked.
        rank_all: on some device.
        pairs: which of the dataset's pairs are ranked; None for all.
    """
    items, matches = dataset.queries, dataset.matches
    if pairs is not None:
        items, matches = items[pairs], matches[pairs]
    queries, n = dataset.rows_as_queries(items, len(vectors)), len(dataset.items)
    candidates = among
    if len(vectors) > n:
        candidates = np.zeros(len(vectors), dtype=np.bool_)
        candidates[:n] = True if among is None else among
    raw = rank_among(candidates, vectors, queries, matches, metric, progress, cancel, rank_all)
    if len(vectors) > n:
        others = np.flatnonzero(items != matches).astype(np.int64)
        raw = without(raw, Exclusions(others, items[others].astype(np.int64)).among(among), vectors, queries, metric)
    return raw, without(raw, exclusions, vectors, queries, metric)


def scores(counts: RankCounts, suffix: str = "") -> dict[str, float]:
    """MRR, Hits@k, mean and median rank, in expectation under random tie order."""
    g, t = counts.greater, counts.ties
    out = {f"mrr{suffix}": float(np.mean(expected_reciprocal_rank(g, t)))}
    out |= {f"hits@{k}{suffix}": float(np.mean(expected_hit(g, t, k))) for k in HITS_AT}
    out |= {f"mean_rank{suffix}": float(np.mean(counts.shown)), f"median_rank{suffix}": float(np.median(counts.shown))}
    return out


def compute_on(
    device: str,
    embeddings: Float32 | Float64,
    dataset: PairSet,
    params: Mapping[str, str],
    progress: Progress,
    cancel: CancelToken,
) -> DiagnosticResult:
    """Rank every pair's match; see the module's docstring and ``Diagnostic.compute``.

    The counts are the same on every torch device. Under the toolkit protocol the embeddings come as
    ``toolkit.prepare`` leaves them, in float32 or float64, and all is computed on the CPU.
    """
    queries, matches, metric = dataset.queries, dataset.matches, Similarity(params["metric"])
    among = candidates_of(dataset, params)
    exclusions = exclusions_of(dataset).among(among)
    extra, fallbacks = {}, list[str]()
    if params["protocol"] == TOOLKIT:
        device = CPU
        raw, filtered, above_itself = rank_pairs_as_toolkit(
            embeddings, queries, matches, metric, exclusions, progress, cancel, among
        )
        extra = {"above_themselves": float(np.count_nonzero(above_itself))}
    else:
        vectors = np.asarray(embeddings, dtype=np.float32)
        rank_all: RankPairs = rank_pairs if device == CPU else partial(rank_pairs_on, device, fallback=fallbacks.append)
        raw, filtered = rank(dataset, vectors, metric, among, exclusions, progress, cancel, rank_all)
    result = _result(dataset, raw, filtered, among, extra, CPU if fallbacks else device)
    return replace(result, device_note=f"The CPU was used: {fallbacks[0]}.") if fallbacks else result


def compute_twice(
    twice: Twice, dataset: PairSet, params: Mapping[str, str], progress: Progress, cancel: CancelToken
) -> DiagnosticResult:
    """As ``compute_on`` by the definition, but compare the best candidates of every query again with finer vectors.

    Runs on the CPU. All candidates are ranked; filtered ranks leave some of them out of the same ranking.
    """
    metric, among = Similarity(params["metric"]), candidates_of(dataset, params)
    exclusions = exclusions_of(dataset).among(among)
    candidates = np.arange(len(dataset.items)) if among is None else np.flatnonzero(among)
    row_of = np.full(len(dataset.items), -1, dtype=np.int64)
    row_of[candidates] = np.arange(len(candidates))
    asked, query = np.unique(dataset.queries, return_inverse=True)

    def side(vectors: Float32) -> Side:
        return Side.of(vectors[candidates], vectors[dataset.rows_as_queries(asked.astype(np.int32), len(vectors))])

    rescoring = Rescoring(side(twice.searched), side(twice.finer), twice.depth, metric, own=row_of[asked])
    queries = dataset.rows_as_queries(dataset.queries, len(twice.finer))
    places = rank_pairs_twice(
        rescoring,
        np.asarray(query, dtype=np.int64),
        row_of[dataset.matches],
        Exclusions(exclusions.pairs, row_of[exclusions.items]),
        similarity_of_pairs(twice.finer, queries, dataset.matches, metric),
        cancel,
        progress,
    )
    return _result(dataset, places.raw, places.filtered, among, {"rescored": places.listed}, CPU)


def _result(
    dataset: PairSet, raw: RankCounts, filtered: RankCounts, among: Bool | None, extra: dict[str, float], device: str
) -> DiagnosticResult:
    """Scores from the counts of all pairs, and the ``extra`` metrics of one way to count."""
    metrics = (
        scores(raw)
        | scores(filtered, "_filtered")
        | scores(_without_ties(raw.optimistic), "_optimistic")
        | scores(_without_ties(raw.pessimistic), "_pessimistic")
        | ceilings(dataset)
        | {
            "tied_pairs": float(np.count_nonzero(raw.ties)),
            "self_pairs": float(np.count_nonzero(dataset.queries == dataset.matches)),
            "pairs": float(len(dataset.queries)),
            "background": float(len(dataset.items) if among is None else np.count_nonzero(among)),
        }
        | extra
    )
    items = {
        "similarity": raw.similarity,
        "greater": raw.greater.astype(np.int32),
        "ties": raw.ties.astype(np.int32),
        "greater_filtered": filtered.greater.astype(np.int32),
        "ties_filtered": filtered.ties.astype(np.int32),
    }
    return DiagnosticResult(
        metrics=metrics,
        items=pa.table(items, schema=ENTRY.schema),
        coverage={
            "pairs": len(dataset.queries),
            "pairs_covered": len(dataset.queries),
            "items": len(dataset.items),
            "items_covered": len(dataset.items),
        },
        device=device,
    )


compute = partial(compute_on, CPU)


def _without_ties(ranks: Int64) -> RankCounts:
    """Counts from whole ranks ``[m]``, in which ties are already resolved."""
    return RankCounts(np.zeros(len(ranks)), ranks - 1, np.zeros_like(ranks))


def _metrics() -> tuple[Score, ...]:
    ways = {
        "": "expected under random tie order, among all candidates",
        "_filtered": "other matches and near-duplicates left out",
        "_optimistic": "ties resolved in favor of the match",
        "_pessimistic": "ties resolved against the match",
        "_ceiling": "upper bound on raw ranks, for of a query's several matches only one can be first",
    }
    out = []
    for suffix, way in ways.items():
        out.append(Score(f"mrr{suffix}", f"mean reciprocal rank, {way}", True))
        in_top = "share of pairs with the match in the top"
        out.extend(Score(f"hits@{k}{suffix}", f"{in_top} {k}, {way}", True) for k in HITS_AT)
        if suffix != "_ceiling":
            out.append(Score(f"mean_rank{suffix}", f"mean rank of the match, {way}", False, range=RANKS))
            out.append(Score(f"median_rank{suffix}", f"median rank of the match, {way}", False, range=RANKS))
    return (
        *out,
        Score("tied_pairs", "pairs whose match is tied with another text", None, is_count=True),
        Score("self_pairs", "pairs of a text with itself", None, is_count=True),
        Score(
            "above_themselves",
            "pairs whose match outranks itself by the toolkit's rounding; only under that protocol",
            None,
            is_count=True,
        ),
        Score("rescored", "texts compared again with finer vectors, mean over queries", None, is_count=True),
        Score("pairs", "pairs ranked", None, is_count=True),
        Score("background", "texts that each match is ranked among", None, is_count=True),
    )


class EvalRank(Diagnostic):
    """The diagnostic EvalRank."""

    id = "evalrank"
    version = 2
    title = "EvalRank"
    question = "How often does each model rank the right match first?"
    how = r"""
Every positive pair is a *query* and its *match*, a text that people found (nearly) the same in meaning.
The match is ranked among all texts of the dataset by its similarity to the query, cosine or
$1/(1+\lVert x-y\rVert)$ for `l2`:

$$\text{rank} = 1 + \#\{\text{texts more similar to the query than the match}\}$$

- **MRR** is the mean of 1/rank, **Hits@k** the share of pairs with rank at most k. Both are expected
  values under random tie order; two similarities within $10^{-6}$ are tied, since embeddings of one text
  differ by about $10^{-7}$ between batches.
- On vectors of one length cosine and `l2` order everything alike, but they spread similarities differently, so that a
  few near-ties within $10^{-6}$ under one are none under the other: the scores can differ in the fourth digit.
- **Raw** ranks count every other text. **Filtered** ranks leave out the query's other matches and texts that
  differ from query or match only in case, Unicode form, spaces or punctuation: ranking these high is no mistake.
  Accents, vowel signs, symbols and punctuation that is read aloud count, so
  `C++` is not `C`, `-5` not `5`, nor `a≠b` `a=b`.
- **Candidates**: by the paper's definition `all` texts of the dataset compete, other queries and background included.
  With `matches` only texts that are a match of some query do: for questions and passages, the other questions do not
  outrank a passage because they resemble a question.
- The **ceiling** is what a perfect model could reach on raw ranks: where a query has several matches,
  only one of them can rank first. It says nothing of other queries: where these are another kind of text than the
  matches, a model may rightly rank some of them first.
- Ranks are exact: products are computed quantized to 8 bits or in float32; texts too close to the match are
  computed again, finally in float64.

- **Rescoring**: after a transform such as `binary+rescore:100`, the 100 best texts by the codes, and those tied with
  the last of them, are compared again with the vectors that the codes were made of; the others follow in the order of
  the search. Filtered ranks leave out texts of this ranking.
- A model without vectors for some texts (word vectors) is ranked on those that it covers: the others are no
  candidates, and their pairs are left out. Models are compared on the texts that all of them cover (**common**);
  scores on the texts that each covers by itself (**own**) are not comparable.

**Confidence intervals and tests.** Pairs that share a text are not independent. The independent units are the groups of
pairs connected by shared texts; with too few groups, the texts themselves (dyadic-robust, Aronow, Samii and Assenova
2015). 95% intervals are Wilson's with the effective number of observations; of the mean rank, a t interval of the
logarithm; of the median rank, a bootstrap over the groups (2,000 resamples). Two models are compared on the same pairs:
the mean difference with its interval, and a permutation test of a mean difference of 0 that flips the signs of whole
groups, $p = (b+1)/(B+1)$ (by texts a t test), made stricter where differences are skewed, and corrected after Holm for
MRR and Hits@1, the main scores, whatever else is shown. A difference is *significant* where the corrected p is below
0.05. Below eight independent groups there is neither interval nor test.

Scores published with the EvalRank toolkit are *not* comparable with these. The `toolkit` protocol computes what
it computes: embeddings are always centered (words over the whole file of vectors, sentences over the background)
and, for cosine, normalized; words are lower-cased and unknown ones get one shared vector, the mean; and the rank is
the number of texts whose similarity is strictly above that of the match, the query included. The match's similarity
comes from a separate product, which is rounded differently, so a match often outranks itself. It knows no roles:
all texts are encoded alike.
"""
    how_to_read = """
- **Hits@1** of 60% means: for 6 of 10 queries the match is the nearest text of all. **MRR** counts a second
  place half, a third place a third.
- A score belongs to its dataset: more texts, or texts that are more alike, make it lower. Compare models on one
  dataset, never scores of two.
- Significant differences first, then *A against B*: the pairs that changed, and what outranks their matches.
  Near-misses (negations, antonyms, shared words) tell more than the mean.
"""
    limits = """
- The only right answer is the dataset's match. A text that means the same but is not labeled counts as a
  mistake; filtered ranks remove only near-duplicates. Where your pairs have a column of intents or topics, *trust* has
  the score without other texts of the same one.
- Every text of the dataset competes, other queries included. Where queries and matches are different kinds of
  text (questions and passages), a low score may only mean that questions resemble questions: *trust* has the score
  among matches only.
- A model that was trained on the pairs can score well without understanding them: see *trust*.
"""
    citation = (
        "Wang, Kuo and Li 2022, Just Rank: Rethinking Evaluation with Word and Sentence Similarities, section 4.2"
    )
    dataset_kind = DatasetKind.PAIR_SET
    parameters = (
        Parameter(
            "metric",
            tuple(Similarity),
            Similarity.COS,
            "similarity: cosine, or 1/(1 + distance)",
            f"similarity: {' or '.join(Similarity)}",
            is_of_use=True,
            title="Similarity",
            when="Most models are trained for cos; select both to see whether vectors' lengths matter.",
        ),
        Parameter(
            "protocol",
            (DEFINITION, TOOLKIT),
            DEFINITION,
            "how ranks are counted: the paper's definition, or the published toolkit's arithmetic",
            f"how ranks are counted: {DEFINITION} or {TOOLKIT}",
            when="Choose toolkit only to compare with published scores: it rounds as the published code does.",
        ),
        CANDIDATES,
    )
    columns = (
        Column("similarity", pa.float64(), "similarity of query and match"),
        Column("greater", pa.int32(), "texts more similar to the query than the match"),
        Column("ties", pa.int32(), "texts tied with the match"),
        Column("greater_filtered", pa.int32(), "the same, without other matches and near-duplicates"),
        Column("ties_filtered", pa.int32(), "the same, without other matches and near-duplicates"),
    )
    metrics = _metrics()
    headline = "mrr"
    overview = Overview(
        "MRR, raw ranks (higher is better)",
        {
            "mrr": "MRR",
            "hits@1": "Hits@1",
            "hits@3": "Hits@3",
            "hits@10": "Hits@10",
            "mrr_filtered": "MRR filtered",
            "hits@1_filtered": "Hits@1 filtered",
        },
        "See which pairs they get wrong",
    )
    page = Page("evalrank", "EvalRank", ":material/leaderboard:")
    readings = (
        Reading("mrr", "EvalRank MRR"),
        Reading("hits@1", "EvalRank Hits@1"),
        Reading("hits@3", "EvalRank Hits@3"),
    )
    grid = GridRole.TASK
    roles = Roles("queries", "matches and all other candidates")
    won = ("pairs", "ranks the match higher")
    item_in_address = {"item": "{number}", "a": "{a}", "b": "{b}"}
    is_gate = True
    two_in_address = {"view": "pairs", "a": "{a}", "b": "{b}"}
    ignores_order = True
    preparations = {TOOLKIT: Preparation(toolkit.look_up, toolkit.prepare)}
    cost = Cost(
        units=lambda work: float(work.pairs) * work.texts * work.dimension,
        units_of_run=lambda run: run.metrics.get("pairs", 0.0) * run.metrics.get("background", 0.0) * run.dimension,
        seconds_per_unit={DEFINITION: 2e-10, TOOLKIT: 1e-9},
        way="protocol",
    )
    compute = staticmethod(compute)
    compute_on = staticmethod(compute_on)
    compute_twice = staticmethod(compute_twice)

    def item_scores(self, runs: Sequence[RunRecord], repository: Repository) -> Sequence[Mapping[str, ItemScores]]:
        from blindspot.diagnostics.evalrank.uncertainty import item_scores

        return item_scores(runs, repository)

    def triplets(
        self, run: RunRecord, settings: Settings, repository: Repository, *, most: int, margin: float
    ) -> Iterable[Triplet]:
        from blindspot.diagnostics.evalrank.training import triplets

        return triplets(run, settings, repository, most=most, margin=margin)

    def evidence(self, material: Material) -> Iterable[Evidence]:
        from blindspot.diagnostics.evalrank.evidence import evidence

        return evidence(material)

    def warning(self, run: RunRecord, settings: Settings, repository: Repository) -> str:
        from blindspot.diagnostics.evalrank.further import warning

        return warning(run, settings, repository)


ENTRY = EvalRank()
