"""Triplets that a model orders wrongly, as the diagnostics find them in their runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blindspot.diagnostic import Diagnostic, all_diagnostics, find_diagnostic
from blindspot.errors import InputError
from blindspot.settings import Settings
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.types import CancelToken

MOST = 5  # negatives per anchor and positive
WRONG = 0.0  # a margin: only triplets that the model orders wrongly, or ties


@dataclass(frozen=True)
class Triplet:
    """An anchor that should be nearer to ``positive`` than to ``negative``.

    Attributes:
        kind: what the negative is: a subset of rewrites, ``outranks the match``, ``unjudged`` or ``irrelevant``.
        lead: the model's similarity of anchor and positive minus that of anchor and negative; at most 0 where it is
            wrong. Within TAU of a margin counts as at it.
        positive_kind: what the positive is, where a source has several kinds.
    """

    anchor: str
    positive: str
    negative: str
    kind: str
    lead: float
    positive_kind: str = ""

    @property
    def texts(self) -> tuple[str, str, str]:
        return self.anchor, self.positive, self.negative


def sources() -> list[Diagnostic]:
    """The diagnostics whose runs have triplets."""
    return [entry for entry in all_diagnostics().values() if entry.has_triplets]


def triplets_of(
    run: RunRecord,
    settings: Settings,
    repository: Repository,
    *,
    most: int = MOST,
    margin: float = WRONG,
    cancel: CancelToken | None = None,
) -> Sequence[Triplet]:
    """What a finished run got wrong, or almost.

    Raises:
        InputError: the run is unfinished, or of a diagnostic without triplets.
        BlindspotError: its embeddings or dataset are gone.
        Cancelled: see ``cancel``.
    """
    if run.state is not RunState.DONE:
        raise InputError(f"run {run.run_id} is {run.state}", expected="a finished run")
    entry = find_diagnostic(run.plan.diagnostic)
    if not entry.has_triplets:
        raise InputError(
            f"run {run.run_id} is of {entry.id}, which says nothing about three texts",
            expected=f"a run of {', '.join(source.id for source in sources())}",
        )
    out = []
    for triplet in entry.triplets(run, settings, repository, most=most, margin=margin):
        if cancel:
            cancel.check()
        out.append(triplet)
    return out
