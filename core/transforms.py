"""Transforms: post-processing fitted on a corpus and applied to embeddings.

A chain is written ``STEP[:ARG][+STEP...]``, for example ``none`` or ``center`` (DESIGN section 6).
To add a step: a class with ``fit`` and a line in ``STEPS``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.errors import InputError, unknown
from core.types import Float32, Float64


class FittedStep(Protocol):
    def apply(self, embeddings: Float32) -> Float32:
        """``[n, d] float32`` in, ``[n, d'] float32`` out; the input is left as it is."""
        ...


@dataclass(frozen=True, eq=False)
class Center:
    """Subtract the corpus mean (``mean``: ``[d] float64``)."""

    mean: Float64

    @classmethod
    def fit(cls, corpus: Float32) -> Center:
        return cls(corpus.mean(axis=0, dtype=np.float64))

    def apply(self, embeddings: Float32) -> Float32:
        return np.asarray(embeddings - self.mean.astype(np.float32), dtype=np.float32)


@dataclass(frozen=True)
class Step:
    """A step that exists: its name and one sentence for pickers and ``list``."""

    name: str
    description: str


STEPS = {
    step.name: step
    for step in (
        Step("none", "The embeddings as the encoder gives them."),
        Step("center", "Subtract the mean of the dataset's items, so that similarities are spread around zero."),
    )
}


@dataclass(frozen=True)
class TransformChain:
    """Steps in the order in which they are applied; ``none`` is the chain of no steps."""

    steps: tuple[str, ...]

    def __str__(self) -> str:
        return "+".join(self.steps) or "none"

    @classmethod
    def parse(cls, text: str) -> TransformChain:
        """Read ``center`` or ``none``.

        Raises:
            InputError: an unknown or empty step, or an argument for a step that takes none.
        """
        steps = []
        for part in text.split("+"):
            name, colon, argument = part.strip().partition(":")
            if name not in STEPS:
                raise unknown("transform", name, STEPS)
            if colon:
                raise InputError(
                    f"transform '{name}' was given the argument '{argument}'",
                    expected=f"'{name}' without an argument",
                )
            if name != "none":
                steps.append(name)
        return cls(tuple(steps))

    def fit(self, corpus: Float32) -> FittedChain:
        """Fit each step on what the steps before it make of ``corpus`` (``[n, d] float32``)."""
        fitted: list[FittedStep] = []
        for _name in self.steps:
            step = Center.fit(corpus)
            corpus = step.apply(corpus)
            fitted.append(step)
        return FittedChain(tuple(fitted))


@dataclass(frozen=True, eq=False)
class FittedChain:
    """A chain whose statistics are known."""

    steps: tuple[FittedStep, ...]

    def apply(self, embeddings: Float32) -> Float32:
        """``[n, d] float32`` in, ``[n, d'] float32`` out; without steps the very same array."""
        for step in self.steps:
            embeddings = step.apply(embeddings)
        return embeddings
