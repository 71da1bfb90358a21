"""Set-up check of a model, for programs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from blindspot import policy
from blindspot.api import models
from blindspot.api.place import place_of
from blindspot.api.results import Frames, as_frame
from blindspot.errors import InputError
from blindspot.studies.setup_check.results import Report, State
from blindspot.studies.setup_check.task import SetupCheck, make
from blindspot.types import CancelToken, no_progress

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Checked:
    """What one check found: ``check`` is its id; ``advice`` says what to do, or is ""."""

    check: str
    title: str
    verdict: Literal["ok", "look", "wrong", "not checked"]
    evidence: str
    advice: str


@dataclass(frozen=True)
class Check:
    """Whether a model is set up as meant.

    Attributes:
        headline: the outcome in a sentence.
        results: check by check.
        worst: (text, its kind, cosine with the reference's vector), the lowest first; empty without a reference.
    """

    model: str
    reference: str
    headline: str
    results: tuple[Checked, ...] = field(repr=False)
    worst: tuple[tuple[str, str, float], ...] = field(repr=False)

    @classmethod
    def of(cls, report: Report) -> Check:
        return cls(
            report.encoder,
            report.reference,
            report.headline,
            tuple(Checked(r.check, r.title, r.verdict.value, r.evidence, r.advice) for r in report.results),
            report.worst,
        )

    @property
    def wrong(self) -> tuple[Checked, ...]:
        """The checks that found something wrong."""
        return self.of_verdict(State.WRONG.value)

    def of_verdict(self, verdict: str) -> tuple[Checked, ...]:
        return tuple(result for result in self.results if result.verdict == verdict)

    def __bool__(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong

    def __iter__(self) -> Iterator[Checked]:
        return iter(self.results)

    def __str__(self) -> str:
        return self.headline

    def table(self, as_: Frames = "pandas") -> pd.DataFrame | Any:
        """A row per check: ``check, title, verdict, evidence, advice``."""
        import pandas as pd

        rows = [(result.check, result.title, result.verdict, result.evidence, result.advice) for result in self.results]
        return as_frame(pd.DataFrame(rows, columns=["check", "title", "verdict", "evidence", "advice"]), as_)

    def _repr_html_(self) -> str:
        from blindspot.api.tables import as_html_table

        rows = [(result.title, result.verdict, result.evidence, result.advice) for result in self.results]
        return as_html_table(self.headline, rows, ("check", "verdict", "evidence", "advice"))


def check(
    model: Any,
    reference: Any = None,
    *,
    quick: bool = False,
    name: str = "",
    store: str | os.PathLike[str] | None = None,
    device: str | None = None,
) -> Check:
    """Check whether a model is set up as meant: pooling, prompts, limit, order, precision.

    >>> import blindspot as bs
    >>> letters = lambda texts: [[text.count(c) + 0.5 for c in "acdgt"] for text in texts]
    >>> found = bs.check(letters, quick=True)
    >>> {one.check: one.verdict for one in found}["finite"]
    'ok'

    Args:
        model: a reference, a SentenceTransformer, or a function from a list of texts to an array.
        reference: the same model, set up as meant, such as ``dir:PATH``; None for the checks that need none.
        quick: leave out the demo datasets: 900 texts instead of 1,800.
        name: of a model that is no reference.
        store: a cache folder, where the report is kept for the app; None to keep it only until the program ends.

    Raises:
        InputError: the model cannot be checked: it is an array, has a transform, or learns from the texts.
        BlindspotError: a model failed.
    """
    place = place_of(store, device)
    asked, other = (
        _encoder(model, name),
        "" if reference is None else _encoder(reference, f"{name or 'model'} as meant"),
    )
    for encoder in filter(None, (asked, other)):
        policy.check_encoder(encoder, place.settings)
    return Check.of(make(SetupCheck.of(asked, other, quick=quick), place.settings, no_progress, CancelToken()))


def _encoder(model: Any, name: str) -> str:
    variant = models.variant_of(model, name, _no_texts)
    if variant.transform != models.NO_TRANSFORM:
        raise InputError(f"'{model}' has a transform", expected="a model as it is, without one")
    return variant.encoder


def _no_texts() -> Sequence[str]:
    raise InputError(
        "an array cannot be checked: it has no more texts", expected="a reference, a SentenceTransformer or a function"
    )
