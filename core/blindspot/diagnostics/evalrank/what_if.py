"""Ranks under another similarity or transform, from cached embeddings; nothing is encoded or stored.

The matches of a stored run's pairs are ranked again, exactly among all the items that the run ranked. Of many pairs a
fixed random sample is ranked, so that an answer takes less than a second. Where the sample is all pairs, the scores are
those that a run would store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from blindspot import policy
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.evalrank.definition import candidates_of, exclusions_of, rank, scores
from blindspot.diagnostics.evalrank.pairs import RunRows
from blindspot.numerics.ranking.problem import RankCounts
from blindspot.numerics.ranking.ranks import Exclusions, expected_hit, expected_reciprocal_rank
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.pairs import Dependence, difference
from blindspot.runs.embeddings import embedded_of, rows_of
from blindspot.runs.inputs.roles import transformed as transformed_by_role
from blindspot.settings import Settings, prepare_runtime
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.transforms.chain import STEPS, TransformChain
from blindspot.transforms.trained_flows import StoredFlows
from blindspot.types import Bool, CancelToken, Float32, Float64, Int64, no_progress

SEED = 20_220_527  # of the sample
PRODUCTS = 10_000_000_000  # pairs x items x dimensions that an answer may take: about half a second on two cores
UNKNOWN_DIMENSION = 1_024  # where the store forgot it
FEWEST = 200  # pairs, however large the rest is
SHOWN = {"mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3"}
MOST_REMOVED = 30  # components that a slider offers to remove


@dataclass(frozen=True, eq=False)
class Basis:
    """What a stored run ranked, and its ranks.

    Attributes:
        dataset: the part of its dataset that it ranked, with numbers of its own.
        items: ``[k] int64``, the numbers of the part's items in the whole dataset.
        pairs: a row per pair with ``item_no, query_no, match_no`` (numbers in the whole dataset), ``query, match``.
        rows: the stored counts of the pairs.
        candidates: ``[k] bool``, the items that matches are ranked among; None for all.
        exclusions: what filtered ranks leave out of them.
        sample: ``[s] int64``, the rows of ``pairs`` that are ranked again, ascending.
    """

    run: RunRecord
    dataset: PairSet
    items: Int64
    pairs: pd.DataFrame
    rows: RunRows
    candidates: Bool | None
    exclusions: Exclusions
    sample: Int64

    @property
    def is_whole(self) -> bool:
        """Whether the sample is all pairs."""
        return len(self.sample) == len(self.pairs)


def basis(run: RunRecord, entry: Diagnostic, repository: Repository) -> Basis:
    """Read what a finished run (by the protocol ``definition``) ranked."""
    rows = repository.items(entry, [run.run_id], texts=True).sort_values("item_no", ignore_index=True)
    plan = run.plan
    n = int(run.coverage["items"])
    covered: Bool = repository.covered(plan.covered_digest) if plan.covered_digest else np.ones(n, dtype=np.bool_)
    items = np.flatnonzero(covered)
    texts = repository.texts(plan.dataset_digest, items.tolist())
    numbers = np.cumsum(covered, dtype=np.int32) - np.int32(1)
    dataset = PairSet(
        plan.dataset,
        tuple(texts[i] for i in items.tolist()),
        numbers[rows["query_no"].to_numpy()],
        numbers[rows["match_no"].to_numpy()],
    )
    among = candidates_of(dataset, plan.params)
    return Basis(
        run=run,
        dataset=dataset,
        items=items,
        pairs=rows[["item_no", "query_no", "match_no", "query", "match"]],
        rows=RunRows.of(rows),
        candidates=among,
        exclusions=exclusions_of(dataset).among(among),
        sample=sample(len(rows), len(items), run.dimension or UNKNOWN_DIMENSION),
    )


def sample(pairs: int, items: int, dimension: int) -> Int64:
    """The pairs to rank: as many as there is time for, without replacement; ``[s] int64``, ascending."""
    affordable = max(FEWEST, PRODUCTS // (items * dimension) // 100 * 100)
    if affordable >= pairs:
        return np.arange(pairs, dtype=np.int64)
    return np.sort(np.random.default_rng(SEED).choice(pairs, affordable, replace=False)).astype(np.int64)


@dataclass(frozen=True)
class ScoreChange:
    """A score on the sampled pairs before and after, and the paired difference with its 95% interval."""

    name: str
    before: float
    after: float
    difference: Estimate


@dataclass(frozen=True, eq=False)
class Change:
    """Ranks of the sampled pairs before (stored) and after; ``known``: which of them are independent."""

    known: Dependence
    before: RankCounts
    after: RankCounts

    @property
    def gained(self) -> int:
        """Pairs whose match ranks higher after."""
        return int(np.count_nonzero(self.after.shown < self.before.shown))

    @property
    def lost(self) -> int:
        return int(np.count_nonzero(self.after.shown > self.before.shown))

    @property
    def factors(self) -> Float64:
        """Rank before / rank after, ``[s]``: above 1 the match moved up, below 1 down."""
        return np.asarray(self.before.shown / self.after.shown)

    def changes(self) -> tuple[ScoreChange, ...]:
        """The scores of ``SHOWN``, as a run defines them."""
        before, after = scores(self.before), scores(self.after)
        return tuple(
            ScoreChange(
                name,
                before[name],
                after[name],
                difference(_values(self.after, name), _values(self.before, name), self.known),
            )
            for name in SHOWN
        )


@dataclass(frozen=True, eq=False)
class WhatIf:
    raw: Change
    filtered: Change


def _values(counts: RankCounts, name: str) -> Float64:
    """The values of the pairs; the score is their mean."""
    if name == "mrr":
        return expected_reciprocal_rank(counts.greater, counts.ties)
    return expected_hit(counts.greater, counts.ties, int(name.partition("@")[2]))


def what_if(
    base: Basis, chain: TransformChain, metric: Similarity, settings: Settings, cancel: CancelToken | None = None
) -> WhatIf:
    """Rank the sampled pairs under another transform (fitted on all items) or similarity.

    Raises:
        Cancelled: by ``cancel``.
        EmbeddingsGone: the cache no longer has the run's embeddings.
        InputError: a transform that does not fit these embeddings.
        BlindspotError: the transformed embeddings cannot be ranked.
    """
    prepare_runtime(settings)  # before numba is imported: it sets the folder of compiled kernels
    cancel = cancel or CancelToken()
    vectors = transformed(base, chain, settings, cancel)
    excluded = np.isin(base.exclusions.pairs, base.sample)
    exclusions = Exclusions(
        np.searchsorted(base.sample, base.exclusions.pairs[excluded]), base.exclusions.items[excluded]
    )
    raw, filtered = rank(
        base.dataset, vectors, metric, base.candidates, exclusions, no_progress, cancel, pairs=base.sample
    )
    pairs = base.pairs.iloc[base.sample]
    dependence = Dependence.of_texts(pairs["query"], pairs["match"])
    return WhatIf(
        Change(dependence, _of(base.rows.raw, base.sample), raw),
        Change(dependence, _of(base.rows.filtered, base.sample), filtered),
    )


def _of(counts: RankCounts, pairs: Int64) -> RankCounts:
    return RankCounts(counts.similarity[pairs], counts.greater[pairs], counts.ties[pairs])


def transformed(base: Basis, chain: TransformChain, settings: Settings, cancel: CancelToken | None = None) -> Float32:
    """The embeddings of what the run ranked, ``[k, d] float32``, under a transform fitted on them; with roles there are
    more rows (``rank``)."""
    plan = base.run.plan
    policy.check_transform(str(chain), settings)
    if chain.steps:
        ranked = _Ranked(plan.covered_digest, base, cancel)
        return _transformed(plan.embedding_digest, chain, settings, ranked)
    return _embeddings(base, settings)  # not cached: it may be a memory map of the file


@dataclass(frozen=True)
class _Ranked:
    """The key of a cache: compared by the digest of what the run ranked."""

    covered_digest: str
    base: Basis = field(compare=False)
    cancel: CancelToken | None = field(compare=False)


@lru_cache(maxsize=3)
def _transformed(_digest: str, chain: TransformChain, settings: Settings, ranked: _Ranked) -> Float32:
    vectors = _embeddings(ranked.base, settings)
    fitted = chain.fit(vectors, StoredFlows(settings.flows), ranked.cancel)
    return transformed_by_role(fitted, vectors, ranked.base.dataset)


def _embeddings(base: Basis, settings: Settings) -> Float32:
    embedded = embedded_of(base.run, settings)
    if not base.run.plan.covered_digest:
        return embedded.matrix
    return embedded.matrix[rows_of(base.run, embedded, Repository.at(settings.store))[2]]


@dataclass(frozen=True)
class Slider:
    """The argument of a step of a chain, with its bounds."""

    step: int
    name: str
    value: int
    low: int
    high: int


def sliders(chain: TransformChain, dimension: int) -> Sequence[Slider]:
    """The arguments of a chain's steps, up to the first whose value does not fit the dimension."""
    out = []
    for number, call in enumerate(chain.steps):
        argument = STEPS[call.name].argument
        if argument is None or call.argument is None:
            continue
        keeps = call.name in {"whiten", "truncate", "random-project"}
        high = dimension if keeps else min(dimension - 1, max(MOST_REMOVED, call.argument))
        if call.name == "random-project":  # up as well as down
            high = max(dimension, call.argument)
        if call.argument > high:
            break
        if high > 1:
            out.append(Slider(number, f"{argument.name} of {call.name}", call.argument, 1, high))
        dimension = call.argument if keeps else dimension
    return out


def with_argument(chain: TransformChain, step: int, value: int) -> TransformChain:
    """The chain with another argument in one of its steps."""
    calls = [replace(call, argument=value) if number == step else call for number, call in enumerate(chain.steps)]
    return TransformChain(tuple(calls))
