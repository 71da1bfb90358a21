"""How much of an EvalRank score is the encoder, and how much the way of counting: what each choice does to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.datasets.kinds.pairs import PairSet
from core.diagnostic import DiagnosticEntry
from core.diagnostics.evalrank.definition import rivals_and_twins
from core.diagnostics.evalrank.pairs import RunRows, Score, rows_of_runs
from core.numerics.ranking.problem import RankCounts
from core.numerics.ranking.ranks import rank_pairs, without
from core.numerics.similarity import Metric
from core.runs.embeddings import embedded_of, fitted_chain, items_of
from core.settings import Settings, prepare_runtime
from core.store.records import RunRecord, RunState
from core.store.repository import Repository
from core.texts import near_duplicate_key
from core.transforms.toolkit import DEFINITION, TOOLKIT
from core.types import Bool, CancelToken, Int64, no_progress

CENTER = "center"


@dataclass(frozen=True)
class Choice:
    """A way of counting, and the score by it.

    Attributes:
        about: what is chosen: ``ties``, ``ranks``, ``pairs``, ...
        way: how, in words.
        meaning: one sentence.
        is_shown: whether it is the score that the page shows.
    """

    about: str
    way: str
    score: Score
    meaning: str
    is_shown: bool = False


@dataclass(frozen=True, eq=False)
class PairTexts:
    """The pairs that a run ranked, in the order of its rows."""

    query_no: Int64
    mate_no: Int64
    queries: Sequence[str]
    mates: Sequence[str]

    @classmethod
    def of(cls, rows: RunRows, frame: pd.DataFrame) -> PairTexts:
        """Out of a table that has at least these pairs (``explore.PairTable.frame``)."""
        found = frame.set_index("item_no").loc[rows.item_no]
        query_no, mate_no = (found[name].to_numpy(dtype=np.int64) for name in ("query_no", "mate_no"))
        return cls(query_no, mate_no, found["query"].tolist(), found["mate"].tolist())

    def self_pairs(self) -> Bool:
        """Pairs of a text with itself, ``[m] bool``."""
        return np.asarray(self.query_no == self.mate_no)

    def twins(self) -> Bool:
        """Pairs whose texts differ in case, spaces and punctuation at most, ``[m] bool``."""
        keys = {text: near_duplicate_key(text) for text in {*self.queries, *self.mates}}
        return np.array(
            [q == m or (keys[q] != "" and keys[q] == keys[m]) for q, m in zip(self.queries, self.mates, strict=True)],
            dtype=np.bool_,
        )

    def with_rivals(self) -> Bool:
        """Pairs whose query has another mate, which competes for the same first rank, ``[m] bool``."""
        mates_of: dict[int, set[int]] = defaultdict(set)
        pairs = list(zip(self.query_no.tolist(), self.mate_no.tolist(), strict=True))
        for query, mate in pairs:
            mates_of[query].add(mate)
        return np.array([bool(mates_of[query] - {query, mate}) for query, mate in pairs], dtype=np.bool_)


def choices(rows: RunRows, texts: PairTexts, *, filtered: bool) -> list[Choice]:
    """What follows from a run's stored rows alone: ties, raw or filtered, and pairs left out.

    Args:
        filtered: whether the score that the page shows is of filtered ranks.
    """
    counts = rows.counts(filtered)
    tied = np.count_nonzero(counts.ties)
    m = len(rows.item_no)
    out = [
        Choice(
            "as shown",
            f"{'filtered' if filtered else 'raw'} ranks, ties expected",
            rows.score(filtered),
            "The score above: the mean over all pairs, ties in random order.",
            is_shown=True,
        ),
        Choice(
            "ties",
            "optimistic",
            _resolved(counts, for_the_mate=True),
            f"Every tie goes to the mate; {tied:,} of {m:,} pairs are tied.",
        ),
        Choice(
            "ties",
            "pessimistic",
            _resolved(counts, for_the_mate=False),
            "Every tie goes against the mate. Far from the optimistic score, the encoder gives many texts one vector.",
        ),
        Choice(
            "ranks",
            "raw" if filtered else "filtered",
            rows.score(not filtered),
            "The query's other mates and twins of query and mate are candidates too, though they are no mistakes."
            if filtered
            else "Without the query's other mates and twins of query and mate: they are no mistakes of the encoder.",
        ),
    ]
    for way, leave_out, meaning in (
        (
            "without near-duplicates",
            texts.twins(),
            "{n} whose texts differ in case, spaces and punctuation at most: finding them shows little.",
        ),
        (
            "without a text and itself",
            texts.self_pairs(),
            "{n} of a text with itself, which have similarity 1 by construction.",
        ),
        (
            "without rival mates",
            texts.with_rivals(),
            "{n} whose query has another mate as well; only one of them can be first among raw ranks.",
        ),
    ):
        left_out = int(np.count_nonzero(leave_out))
        if left_out:
            number = f"Without {left_out:,} pair{'' if left_out == 1 else 's'}"
            out.append(Choice("pairs", way, rows.score(filtered, ~leave_out), meaning.format(n=number)))
    return out


def _resolved(counts: RankCounts, *, for_the_mate: bool) -> Score:
    """The score when every tie goes one way."""
    ranks = counts.optimistic if for_the_mate else counts.pessimistic
    return Score.of(1.0 / ranks, np.asarray(ranks <= 1, dtype=np.float64))


# --- other runs


def other_protocol(run: RunRecord, entry: DiagnosticEntry, repository: Repository) -> RunRecord | None:
    """The run that ranks the same embeddings by the other protocol; None while it is not stored.

    The toolkit always centres, so that its run of ``none`` is also the counterpart of ``center``, which is preferred;
    failing that, the run of the same variant.
    """
    toolkit = run.plan.params["protocol"] == TOOLKIT
    params = {**run.plan.params, "protocol": DEFINITION if toolkit else TOOLKIT}
    found = [
        r
        for r in repository.runs(
            diagnostic=entry.id,
            version=entry.version,
            encoder=run.plan.variant.encoder,
            dataset=run.plan.dataset,
            params=params,
            state=RunState.DONE,
            current=True,
        )
        if r.plan.own_support
    ]
    transform = run.plan.variant.transform
    wanted: tuple[str, ...]
    if toolkit:
        wanted = (as_toolkit(transform), transform)
    else:
        also = (r.plan.variant.transform for r in found)
        wanted = (transform, *(other for other in also if as_toolkit(other) == transform))
    return next((r for name in wanted for r in found if r.plan.variant.transform == name), None)


def as_toolkit(transform: str) -> str:
    """The chain that embeddings go through under the toolkit's protocol: it centres first, whatever is asked for."""
    if transform == "none":
        return CENTER
    return transform if transform.split("+", maxsplit=1)[0] == CENTER else f"{CENTER}+{transform}"


def other_support(run: RunRecord, entry: DiagnosticEntry, repository: Repository) -> RunRecord | None:
    """The newest run of the same variant on the items that it covers itself, where ``run`` is on common ones; or the
    other way round. None where there is none, or all items are covered by all."""
    found = repository.runs(
        diagnostic=entry.id,
        version=entry.version,
        variants=[run.plan.variant],
        dataset=run.plan.dataset,
        params=run.plan.params,
        state=RunState.DONE,
        current=True,
    )
    others = [r for r in found if r.plan.support_digest != run.plan.support_digest]
    return next((r for r in others if r.plan.own_support != run.plan.own_support), None)


def score_of_run(run: RunRecord, entry: DiagnosticEntry, repository: Repository, *, filtered: bool) -> Score:
    """A run's score over all its pairs, from its stored rows."""
    return rows_of_runs(entry, [run.run_id], repository)[run.run_id].score(filtered)


# --- fewer candidates


def with_first_items(
    run: RunRecord, first: int, settings: Settings, repository: Repository, entry: DiagnosticEntry
) -> RunRows:
    """A run's pairs ranked again among fewer items: the first so many of its dataset.

    The embeddings come from the cache, transformed as the run transformed them (fitted on all that it ranked). Pairs
    that touch another item are left out. Filtered ranks leave out rivals and twins among the items that stay.

    Raises:
        EmbeddingsGone: the cache no longer has the run's embeddings.
        ValueError: the run is of the toolkit's protocol, whose embeddings are prepared otherwise.
    """
    if run.plan.params["protocol"] != DEFINITION:
        raise ValueError("only runs by definition are ranked again")
    embedded = embedded_of(run, settings)
    prepare_runtime(settings)
    ranked = items_of(run, embedded, repository)
    kept = ranked[ranked < first]
    chain = fitted_chain(run, settings, ranked)
    vectors = np.asarray(chain.apply(embedded.matrix[kept]), dtype=np.float32)
    pairs = repository.items(entry, [run.run_id], texts=True).sort_values("item_no")
    pairs = pairs[(pairs["query_no"] < first) & (pairs["mate_no"] < first)]
    texts = repository.texts(run.plan.dataset_digest, kept.tolist())
    dataset = PairSet(
        run.plan.dataset,
        tuple(texts[i] for i in kept.tolist()),
        np.searchsorted(kept, pairs["query_no"]).astype(np.int32),
        np.searchsorted(kept, pairs["mate_no"]).astype(np.int32),
    )
    metric = Metric(run.plan.params["metric"])
    raw = rank_pairs(vectors, dataset.queries, dataset.mates, metric, no_progress, CancelToken())
    filtered = without(raw, rivals_and_twins(dataset), vectors, dataset.queries, metric)
    return RunRows(pairs["item_no"].to_numpy(dtype=np.int64), raw, filtered)
