"""Computes many runs, one after another, into a store or a folder of packs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from blindspot.encoders.in_a_row import EncodersInARow
from blindspot.errors import BlindspotError, DataMissing, InputError
from blindspot.runs import pipeline
from blindspot.runs.pipeline import RunOutcome
from blindspot.runs.planning import Results
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.types import CancelToken, Progress, no_progress


@dataclass(frozen=True)
class Done:
    """A request whose run is in the store or the folder."""

    request: RunRequest
    outcome: RunOutcome

    @property
    def computed(self) -> bool:
        """False if it was there before."""
        return self.outcome.computed

    @property
    def is_typical(self) -> bool:
        """Whether a similar run will take about as long: this one was computed from embeddings that were there."""
        return self.computed and not self.outcome.record.manifest.get("embeddings", {}).get("encoded_now")


@dataclass(frozen=True)
class Failed:
    """A request that cannot be computed."""

    request: RunRequest
    error: BlindspotError


def compute(
    requests: Sequence[RunRequest],
    settings: Settings,
    results: Results,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
) -> Iterator[Done | Failed]:
    """Compute requests in their order; a failure does not stop the others.

    What ``results`` has is not computed again, so after a crash the same call continues.

    Args:
        results: a store, or ``PackResults``, with which no DuckDB file is opened.

    Raises:
        Cancelled: runs that are complete stay.
    """
    missing = dict[str, DataMissing]()
    cancel, encoders = cancel or CancelToken(), EncodersInARow(settings)
    for request in requests:
        cancel.check()
        try:
            if request.dataset in missing:  # one attempt to download it is enough
                raise missing[request.dataset]
            outcome = pipeline.run(request, settings, results, progress, cancel, encoders=encoders)
        except BlindspotError as error:
            cancel.check()
            if isinstance(error, DataMissing):
                missing[request.dataset] = error
            yield Failed(request, error)
        else:
            yield Done(request, outcome)


def parted(results: Iterable[Done | Failed]) -> tuple[list[Done], list[Failed]]:
    done, failed = list[Done](), list[Failed]()
    for result in results:
        if isinstance(result, Done):
            done.append(result)
        else:
            failed.append(result)
    return done, failed


def failure(failed: Sequence[Failed], of: int) -> BlindspotError:
    """The error of a sweep of this many runs; bad input only if every run failed because of it."""
    first = failed[0]
    bad_input = len(failed) == of and all(isinstance(failed_run.error, InputError) for failed_run in failed)
    kind = InputError if bad_input else BlindspotError
    return kind(f"{len(failed)} of {of} runs failed; the first was {first.request.label}: {first.error}")


def interrupted(results: Iterable[Done | Failed], of: int) -> BlindspotError:
    """The error of an interrupted sweep of this many runs."""
    done = sum(isinstance(result, Done) for result in results)
    return BlindspotError(f"interrupted; {done} of {of} runs are done", remedy="run the same command to continue")
