"""Effects of each choice of counting on an EvalRank score: how robust is it?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from blindspot.datasets.kinds.pairs import PairSet
from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.evalrank.definition import CANDIDATES, MATCHES, candidates_of, exclusions_of, rank
from blindspot.diagnostics.evalrank.pairs import MeanScore, RunRows
from blindspot.numerics.similarity import Similarity
from blindspot.runs.embeddings import vectors_of
from blindspot.settings import Settings, prepare_runtime
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import counted, near_duplicate_key
from blindspot.transforms.toolkit import DEFINITION, TOOLKIT
from blindspot.types import Bool, CancelToken, Int64, no_progress

CENTER = "center"


@dataclass(frozen=True)
class Choice:
    """A way of counting (``about`` the ties, ranks, pairs, ...) and its score; ``is_shown`` is the page's own.

    ``run_id`` names another run that has the score, or is "".
    """

    about: str
    way: str
    score: MeanScore
    meaning: str
    is_shown: bool = False
    run_id: str = ""

    def as_json(self) -> dict[str, Any]:
        about = {"about": self.about, "way": self.way, "meaning": self.meaning}
        return about | ({"other_run": self.run_id} if self.run_id else {}) | self.score.as_json()


def pairs_of(rows: RunRows, frame: pd.DataFrame) -> pd.DataFrame:
    """The pairs that a run ranked, in the order of its rows, from a ``PairTable.frame`` that has them."""
    return frame.set_index("item_no").loc[rows.item_no]


def _near_duplicates(pairs: pd.DataFrame) -> Bool:
    """Pairs whose texts differ in case, spaces and punctuation at most, ``[m] bool``."""
    keys = {text: near_duplicate_key(text) for text in {*pairs["query"], *pairs["match"]}}
    both = zip(pairs["query"], pairs["match"], strict=True)
    return np.array([q == m or (keys[q] != "" and keys[q] == keys[m]) for q, m in both], dtype=np.bool_)


def _with_rivals(pairs: pd.DataFrame) -> Bool:
    """Pairs whose query has another match, which competes for the same first rank, ``[m] bool``."""
    matches_of: dict[int, set[int]] = defaultdict(set)
    numbers = list(zip(pairs["query_no"].tolist(), pairs["match_no"].tolist(), strict=True))
    for query, match in numbers:
        matches_of[query].add(match)
    return np.array([bool(matches_of[query] - {query, match}) for query, match in numbers], dtype=np.bool_)


def choices(rows: RunRows, pairs: pd.DataFrame, *, filtered: bool) -> list[Choice]:
    """What follows from a run's stored rows alone: ties, raw or filtered ranks, pairs left out.

    Args:
        pairs: of ``pairs_of``.
        filtered: whether the page shows filtered ranks.
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
            _of_ranks(counts.optimistic),
            f"Every tie goes to the match; {tied:,} of {m:,} pairs are tied.",
        ),
        Choice(
            "ties",
            "pessimistic",
            _of_ranks(counts.pessimistic),
            "Every tie goes against the match. If far below the optimistic score, many texts share one vector.",
        ),
        Choice(
            "ranks",
            "raw" if filtered else "filtered",
            rows.score(not filtered),
            "The query's other matches and near-duplicates are candidates too, though ranking them high is no mistake."
            if filtered
            else "Without the query's other matches and near-duplicates: ranking them high is no mistake.",
        ),
    ]
    for way, leave_out, meaning in (
        (
            "without near-duplicates",
            _near_duplicates(pairs),
            "{n} whose texts differ only in case, spaces and punctuation: finding them shows little.",
        ),
        (
            "without a text and itself",
            (pairs["query_no"] == pairs["match_no"]).to_numpy(),
            "{n} of a text with itself, whose similarity is 1 unless queries have another prompt than documents.",
        ),
        (
            "without rival matches",
            _with_rivals(pairs),
            "{n} whose query has another match; only one of them can rank first among raw ranks.",
        ),
    ):
        left_out = int(np.count_nonzero(leave_out))
        if left_out:
            number = f"Without {counted(left_out, 'pair')}"
            out.append(Choice("pairs", way, rows.score(filtered, ~leave_out), meaning.format(n=number)))
    return out


def _of_ranks(ranks: Int64) -> MeanScore:
    return MeanScore.of(1.0 / ranks, np.asarray(ranks <= 1, dtype=np.float64))


# --- other runs


def other_protocol(run: RunRecord, entry: Diagnostic, repository: Repository) -> RunRecord | None:
    """The stored run that ranks the same embeddings by the other protocol, if any.

    The toolkit always centers: its run of ``none`` is also the counterpart of ``center``, which is preferred to the
    same variant's.
    """
    plan = run.plan
    stored = repository.finished(entry, encoder=plan.variant.encoder, dataset=plan.dataset, params=other_params(run))
    return counterpart(run, stored)


def other_params(run: RunRecord) -> dict[str, str]:
    """The parameters of a run by the other protocol."""
    toolkit = run.plan.params["protocol"] == TOOLKIT
    return {**run.plan.params, "protocol": DEFINITION if toolkit else TOOLKIT}


def counterpart(run: RunRecord, stored: Sequence[RunRecord]) -> RunRecord | None:
    """As ``other_protocol``, but found in ``stored``: runs on the same dataset by the other protocol, newest first."""
    toolkit = run.plan.params["protocol"] == TOOLKIT
    runs = [r for r in stored if r.plan.own_covered and r.plan.variant.encoder == run.plan.variant.encoder]
    transform = run.plan.variant.transform
    wanted: tuple[str, ...]
    if toolkit:
        wanted = (as_toolkit(transform), transform)
    else:
        also = (r.plan.variant.transform for r in runs)
        wanted = (transform, *(other for other in also if as_toolkit(other) == transform))
    return next((r for name in wanted for r in runs if r.plan.variant.transform == name), None)


def as_toolkit(transform: str) -> str:
    """The chain that the toolkit protocol makes of a transform: it always centers first."""
    if transform == "none":
        return CENTER
    return transform if transform.split("+", maxsplit=1)[0] == CENTER else f"{CENTER}+{transform}"


def other_coverage(run: RunRecord, entry: Diagnostic, repository: Repository) -> RunRecord | None:
    """The newest run of the same variant on all that it covers if ``run`` is on what all cover, or the reverse."""
    plan = run.plan
    runs = repository.finished(entry, variants=[plan.variant], dataset=plan.dataset, params=plan.params)
    others = [r for r in runs if r.plan.covered_digest != run.plan.covered_digest]
    return next((r for r in others if r.plan.own_covered != run.plan.own_covered), None)


def with_other_candidates(params: Mapping[str, str]) -> dict[str, str]:
    """The parameters with only matches as candidates, for those with all texts; and the reverse."""
    others = {name: value for name, value in params.items() if name != CANDIDATES.name}
    return others if CANDIDATES.value_in(params) == MATCHES else {**others, CANDIDATES.name: MATCHES}


def candidates_in(run: RunRecord) -> str:
    """Which texts a run ranked matches among: ``all`` or ``matches``."""
    return CANDIDATES.value_in(run.plan.params)


def other_candidates(run: RunRecord, entry: Diagnostic, repository: Repository) -> RunRecord | None:
    """The newest run of the same variant on the same texts with other candidates, if any."""
    plan, params = run.plan, with_other_candidates(run.plan.params)
    runs = repository.finished(entry, variants=[plan.variant], dataset=plan.dataset, params=params)
    return next((r for r in runs if r.plan.covered_digest == plan.covered_digest), None)


# --- fewer candidates


def with_first_items(
    run: RunRecord, first: int, settings: Settings, repository: Repository, entry: Diagnostic
) -> RunRows:
    """A run's pairs ranked again among the ``first`` items of its dataset; pairs with another item are left out.

    The transform is the run's, fitted on all that it ranked.

    Raises:
        EmbeddingsGone: the cache no longer has the run's embeddings.
        ValueError: the run is of the toolkit's protocol, which prepares embeddings its own way.
    """
    if run.plan.params["protocol"] != DEFINITION:
        raise ValueError("only runs by definition are ranked again")
    ranked = vectors_of(run, settings, repository)
    prepare_runtime(settings)
    kept = ranked.items[ranked.items < first]
    pairs = repository.items(entry, [run.run_id], texts=True).sort_values("item_no")
    pairs = pairs[(pairs["query_no"] < first) & (pairs["match_no"] < first)]
    texts = repository.texts(run.plan.dataset_digest, kept.tolist())
    dataset = PairSet(
        run.plan.dataset,
        tuple(texts[i] for i in kept.tolist()),
        np.searchsorted(kept, pairs["query_no"]).astype(np.int32),
        np.searchsorted(kept, pairs["match_no"]).astype(np.int32),
    )
    rows = ranked.places(kept)
    if ranked.asking is not None:
        rows = np.concatenate([rows, ranked.places_of_queries(kept[dataset.asking])])
    vectors = np.asarray(ranked.vectors[rows], dtype=np.float32)
    metric = Similarity(run.plan.params["metric"])
    among = candidates_of(dataset, run.plan.params)
    raw, filtered = rank(
        dataset, vectors, metric, among, exclusions_of(dataset).among(among), no_progress, CancelToken()
    )
    return RunRows(pairs["item_no"].to_numpy(dtype=np.int64), raw, filtered)
