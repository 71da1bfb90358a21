"""Transforms: post-processing fitted on a corpus and applied to embeddings.

A chain is written ``STEP[:ARG][+STEP...]``, for example ``none``, ``abtt:2`` or ``center+whiten:128``. Every step is
fitted in float64 on the corpus as transformed by the steps before it, and returns float32; a repair was trained before
and is only looked up. To add a step, write a class with ``apply``, ``d_out`` and ``facts`` and a function that fits it
in ``blindspot.transforms.steps``, and a line in ``STEPS`` here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from blindspot.errors import BlindspotError, InputError, unknown
from blindspot.transforms.codes import (
    RESCORE,
    Bits,
    Bytes,
    DecodedBytes,
    DocumentBits,
    DocumentBytes,
    OneSided,
    Rescore,
    bytes_of,
)
from blindspot.transforms.steps import Center, FittedStep, LinearStep, Normalize, Projection, Removal, Truncate, ZScore
from blindspot.types import CancelToken, Float32, Float64

WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")
KEPT_ID = re.compile(r"[0-9a-f]{12}")
MOST_STEPS = 20  # of a chain
LARGEST_ARGUMENT = 999_999_999


@dataclass(frozen=True)
class Argument:
    """The argument of a step: a whole number of at least 1, or the id of something that is kept (``Step.is_kept``).

    Attributes:
        name: as in ``abtt:K``.
        meaning: half a sentence; for an optional argument without ``default``, it says what happens without it.
    """

    name: str
    meaning: str
    required: bool
    default: int | None = None


@dataclass(frozen=True)
class Step:
    """An available step; the command line, the pickers and their help are derived from it.

    Attributes:
        description: one sentence.
        fit: gives the fitted step from the corpus (``[n, d] float32``) and the argument (None if there is none);
            None for the step that does nothing, and for the one that is trained.
        learns: whether its effect on an embedding depends on the corpus.
        is_trained: whether fitting it takes so long that it comes from a ``FlowSource``.
        is_kept: whether it was trained before, on other data, and its argument is its id in a ``FlowSource``. It is
            made for a model's own vectors, so it comes first in a chain.
        is_one_sided: whether it treats queries and documents differently (``OneSided``).
    """

    name: str
    description: str
    fit: Callable[[Float32, Any], FittedStep] | None = field(repr=False)
    argument: Argument | None = None
    learns: bool = True
    is_trained: bool = False
    is_kept: bool = False
    is_one_sided: bool = False

    @property
    def usage(self) -> str:
        """``center``, ``abtt:K`` or ``whiten[:K]``."""
        if self.argument is None:
            return self.name
        return f"{self.name}:{self.argument.name}" if self.argument.required else f"{self.name}[:{self.argument.name}]"

    @property
    def help(self) -> str:
        """The description, and the meaning of the argument."""
        if self.argument is None:
            return self.description
        a = self.argument
        default = "" if a.default is None else f"; {a.default} if left out"
        return f"{self.description} Written {self.usage}, {a.name}: {a.meaning}{default}."

    def check_id(self, given: str | None) -> str:
        """The argument of a step that is kept; "" for other steps."""
        if not self.is_kept:
            return ""
        if given is None or not KEPT_ID.fullmatch(given):
            what = "no argument" if given is None else f"the argument '{given}'"
            raise InputError(
                f"transform '{self.name}' was given {what}",
                expected=f"'{self.usage}', an id such as 0123456789ab",
                remedy="blindspot repair and the page Repair train repairs and name their ids",
            )
        return given

    def check(self, given: str | None) -> int | None:
        """The argument's value, or the default."""
        if self.argument is None:
            if given is not None:
                raise InputError(
                    f"transform '{self.name}' was given the argument '{given}'",
                    expected=f"'{self.name}' without an argument",
                )
            return None
        if given is None:
            if self.argument.required:
                raise InputError(
                    f"transform '{self.name}' was given no argument",
                    expected=f"'{self.usage}', {self.argument.name}: {self.argument.meaning}",
                )
            return self.argument.default
        if self.is_kept:
            return None
        number = int(given) if WHOLE_NUMBER.fullmatch(given) else 0
        if number == 0:
            raise InputError(
                f"transform '{self.name}' was given the argument '{given}'",
                expected=f"'{self.usage}', {self.argument.name} a whole number from 1 to {LARGEST_ARGUMENT}: "
                f"{self.argument.meaning}",
            )
        return number


STEPS = {
    step.name: step
    for step in (
        Step("none", "The embeddings as the encoder gives them.", None, learns=False),
        Step(
            "center",
            "Subtract the mean of the dataset's items, so that similarities are spread around zero.",
            lambda corpus, _: Center.fit(corpus),
        ),
        Step(
            "zscore",
            "Column by column, subtract the mean of the dataset's items and divide by their standard deviation; "
            "constant columns become 0.",
            lambda corpus, _: ZScore.fit(corpus),
        ),
        Step(
            "normalize",
            "Scale every embedding to unit length; zero stays zero.",
            lambda corpus, _: Normalize.fit(corpus),
            learns=False,
        ),
        Step(
            "abtt",
            "All-but-the-top (Mu & Viswanath 2018): subtract the mean and the projections on the first principal "
            "components.",
            Removal.all_but_the_top,
            Argument("K", "how many components to remove, about a hundredth of the dimension", required=True),
        ),
        Step(
            "pcr",
            "Principal component removal as in SIF (Arora et al. 2017): subtract the projections on the first "
            "singular vectors, without centering.",
            Removal.principal_components,
            Argument("K", "how many components to remove", required=False, default=1),
        ),
        Step(
            "whiten",
            "BERT-whitening (Su et al. 2021): center, rotate and scale to uncorrelated dimensions of unit variance.",
            Projection.whiten,
            Argument(
                "K", "how many dimensions to keep, those of largest variance; all that vary if left out", required=False
            ),
        ),
        Step(
            "pca",
            "Center and rotate to the directions of largest variance, keeping the first ones; nothing is scaled.",
            Projection.pca,
            Argument("D", "how many dimensions to keep", required=True),
        ),
        Step(
            "truncate",
            "Keep the first dimensions, as of a Matryoshka embedding; lengths are left as they come.",
            Truncate.fit,
            Argument("D", "how many dimensions to keep", required=True),
            learns=False,
        ),
        Step(
            "random-project",
            "Project on random directions (Gaussian, always the same ones), to fewer or more dimensions; lengths stay "
            "as they are in expectation.",
            Projection.random,
            Argument("D", "how many dimensions to make", required=True),
            learns=False,
        ),
        Step(
            "flow",
            "A small invertible flow (RealNVP, as BERT-flow, Li et al. 2020) that is trained on the dataset's items to "
            "spread them as a Gaussian; takes about a minute, once.",
            None,
            is_trained=True,
        ),
        Step(
            "repair",
            "A linear map that was trained to order triplets of texts rightly (page Repair, blindspot repair), of all "
            "texts.",
            None,
            Argument("ID", "of the repair", required=True),
            learns=False,
            is_kept=True,
        ),
        Step(
            "repair-queries",
            "The same, of queries alone; for diagnostics that tell queries from documents.",
            None,
            Argument("ID", "of the repair", required=True),
            learns=False,
            is_kept=True,
            is_one_sided=True,
        ),
        Step(
            "int8",
            "A byte per dimension, -128 to 127: 255 equal steps between the smallest and the largest value of the "
            "dataset's items (as sentence-transformers' quantize_embeddings); the codes are compared as they are.",
            lambda corpus, _: Bytes.fit(corpus),
        ),
        Step(
            "int8-decoded",
            "The codes of int8, decoded to the values that they stand for before they are compared, as indexes with "
            "scalar quantization do (faiss, most vector databases).",
            lambda corpus, _: DecodedBytes.fit(corpus),
        ),
        Step(
            "binary",
            "A bit per dimension, whether the value is above 0 (as sentence-transformers' quantize_embeddings), "
            "compared by the number of equal bits (Hamming distance).",
            lambda corpus, _: Bits(corpus.shape[1]),
            learns=False,
        ),
        Step(
            "int8-docs",
            "Documents in a byte per dimension as of int8, decoded to compare them with queries, which stay as they "
            "are; for diagnostics that tell queries from documents.",
            lambda corpus, _: DocumentBytes.fit(corpus),
            is_one_sided=True,
        ),
        Step(
            "binary-docs",
            "Documents in a bit per dimension as of binary, compared as -1 and 1 with queries, which stay as they are; "
            "for diagnostics that tell queries from documents.",
            lambda corpus, _: DocumentBits(corpus.shape[1]),
            learns=False,
            is_one_sided=True,
        ),
        Step(
            RESCORE,
            "Search with what the step before it makes (codes, fewer dimensions), then compare the best again with the "
            "vectors as they were before that step; the others keep their order after them. Last of a chain, for "
            "EvalRank and retrieval: binary+rescore:100.",
            Rescore.fit,
            Argument("M", "how many texts to compare again, and those that tie with the last", required=True),
            learns=False,
        ),
    )
}

# Steps that make vectors smaller and do nothing else.
SHRINKING = frozenset(
    {"truncate", "pca", "int8", "int8-decoded", "binary", "int8-docs", "binary-docs", RESCORE},
)

# Chains that pickers offer; people can type others.
READY_CHAINS = (
    "none",
    "center",
    "zscore",
    "abtt:2",
    "pcr:1",
    "whiten",
    "whiten:128",
    "flow",
    "pca:128",
    "truncate:128",
    "random-project:128",
    "center+normalize",
    "zscore+normalize",
    "truncate:128+normalize",
    "int8",
    "int8-decoded",
    "binary",
    "int8-docs",
    "binary-docs",
    "truncate:128+int8",
    "binary+rescore:100",
)


class FlowSource(Protocol):
    """Source of trained flows and repairs (``blindspot.transforms.trained_flows``)."""

    def flow(self, items: Float32, before: str, made: Float32) -> FittedStep:
        """The flow of items (``[n, d]``) after the chain ``before``, whose output is ``made`` (``[n, d']``)."""
        ...

    def repair(self, step: str, repair_id: str, dimension: int) -> FittedStep:
        """A repair for vectors of a dimension; ``step`` is its name in a chain."""
        ...


@dataclass(frozen=True)
class StepCall:
    """A step in a chain, with its argument, ``abtt:2``, or with the id of a repair, ``repair:0123456789ab``."""

    name: str
    argument: int | None = None
    kept_id: str = ""

    def __str__(self) -> str:
        if self.kept_id:
            return f"{self.name}:{self.kept_id}"
        return self.name if self.argument is None else f"{self.name}:{self.argument}"


@dataclass(frozen=True)
class TransformChain:
    """Steps in the order in which they are applied; ``none`` is the chain of no steps."""

    steps: tuple[StepCall, ...]

    def __str__(self) -> str:
        return "+".join(str(step) for step in self.steps) or "none"

    @classmethod
    def parse(cls, text: str) -> TransformChain:
        """Read ``none``, ``abtt:2`` or ``center+whiten:128``.

        Raises:
            InputError: an unknown or empty step; an argument that is missing, not expected, or neither a whole number
                of at least 1 nor an id; or a repair that does not come first.
        """
        calls = list[StepCall]()
        parts = text.split("+", MOST_STEPS)
        if len(parts) > MOST_STEPS:
            raise InputError(
                f"a chain of {text.count('+') + 1:,} transforms: {text[:40]}...", expected=f"at most {MOST_STEPS}"
            )
        for part in parts:
            name, colon, argument = (piece.strip() for piece in part.partition(":"))
            if name not in STEPS:
                raise unknown("transform", name, STEPS)
            step = STEPS[name]
            given = argument if colon else None
            kept_id, value = step.check_id(given), step.check(given)
            if step.is_kept and calls:
                raise InputError(
                    f"transform '{name}' follows '{calls[-1]}'",
                    expected=f"'{name}' as the first step: it was trained on the model's own vectors",
                )
            if step.fit is not None or step.is_trained or step.is_kept:
                calls.append(StepCall(name, value, kept_id))
        for number, call in enumerate(calls):
            if call.name == RESCORE and not 0 < number == len(calls) - 1:
                raise InputError(
                    f"transform '{text}' has {call} in another place than the last, after another step",
                    expected=f"such as binary+{call}, which searches with bits and compares the best again",
                )
        return cls(tuple(calls))

    @property
    def learns(self) -> bool:
        """Whether its output for an embedding depends on the corpus that it is fitted on."""
        return any(STEPS[call.name].learns for call in self.steps)

    @property
    def is_trained(self) -> bool:
        """Whether it has a step that comes from a ``FlowSource``."""
        return any(STEPS[call.name].is_trained for call in self.steps)

    @property
    def kept(self) -> StepCall | None:
        """Its step that was trained before, such as a repair; None if it has none."""
        return next((call for call in self.steps if call.kept_id), None)

    @property
    def is_one_sided(self) -> bool:
        """Whether it treats queries and documents differently."""
        return any(STEPS[call.name].is_one_sided for call in self.steps)

    @property
    def rescored(self) -> int:
        """How many texts are compared again with finer vectors; 0 if everything is compared only once."""
        last = self.steps[-1] if self.steps else None
        return (last.argument or 0) if last and last.name == RESCORE else 0

    @property
    def searched(self) -> TransformChain:
        """The chain of the vectors that a search compares: without the rescoring, if there is one."""
        return TransformChain(self.steps[:-1]) if self.rescored else self

    @property
    def finer(self) -> TransformChain:
        """The chain of the finer vectors that compare the best again; the chain itself if it is not rescored."""
        return TransformChain(self.steps[:-2]) if self.rescored else self

    @property
    def only_shrinks(self) -> bool:
        """Whether it only makes vectors smaller, as the page *Size* compares them: fewer numbers, or fewer bits per
        number."""
        return bool(self.steps) and all(call.name in SHRINKING for call in self.steps)

    def bytes_of(self, dimension: int) -> int:
        """Bytes of a vector that it makes from ``dimension`` numbers."""
        return bytes_of(tuple(call.name for call in self.steps), dimension)

    def fit(
        self,
        corpus: Float32,
        flows: FlowSource | None = None,
        cancel: CancelToken | None = None,
        first_steps: tuple[FittedStep, ...] = (),
    ) -> FittedChain:
        """Fit each step on ``corpus`` (``[n, d] float32``) as transformed by the steps before it.

        Args:
            flows: trains a ``flow``, or loads a trained one, and loads a ``repair``; not needed for other steps.
            cancel: checked before every step.
            first_steps: the first steps, if already fitted.

        Raises:
            InputError: an argument that the corpus's dimension or rank does not allow.
            BlindspotError: the corpus has NaN or infinite values; or no flow can be trained here.
        """
        n, d_in = corpus.shape
        fitted: list[FittedStep] = []
        made = corpus
        for number, call in enumerate(self.steps):
            if cancel is not None:
                cancel.check()
            if fitted:
                made = fitted[-1].apply(made)
            step = STEPS[call.name]
            if number < len(first_steps):
                fitted.append(first_steps[number])
            elif step.fit is not None:
                fitted.append(step.fit(made, call.argument))
            elif flows is not None and call.kept_id:
                fitted.append(flows.repair(call.name, call.kept_id, made.shape[1]))
            elif flows is not None:
                fitted.append(flows.flow(corpus, str(TransformChain(self.steps[:number])), made))
            else:
                raise BlindspotError(
                    f"transform '{call}' is trained by a run and cannot be fitted here",
                    remedy="choose another transform",
                )
        return FittedChain(self, n, d_in, tuple(fitted))


@dataclass(frozen=True, eq=False)
class FittedChain:
    """A fitted chain.

    Attributes:
        n: number of items it was fitted on.
        d_in: their dimension.
        steps: one for each of ``chain.steps``.
    """

    chain: TransformChain
    n: int
    d_in: int
    steps: tuple[FittedStep, ...]

    @property
    def d_out(self) -> int:
        return self.steps[-1].d_out if self.steps else self.d_in

    @property
    def searched(self) -> FittedChain:
        """See ``TransformChain.searched``."""
        prefix = self.chain.searched
        return FittedChain(prefix, self.n, self.d_in, self.steps[: len(prefix.steps)])

    @property
    def finer(self) -> FittedChain:
        """See ``TransformChain.finer``."""
        prefix = self.chain.finer
        return FittedChain(prefix, self.n, self.d_in, self.steps[: len(prefix.steps)])

    def apply(self, embeddings: Float32) -> Float32:
        """``[n, d] float32`` in, ``[n, d'] float32`` out; without steps the same array.

        Raises ``InputError`` for a rescored chain, which makes no vectors.
        """
        for step in self.steps:
            embeddings = step.apply(embeddings)
        return embeddings

    def apply_to_queries(self, embeddings: Float32) -> Float32:
        """``apply`` for queries, ``[q, d] float32`` in, ``[q, d'] float32`` out; see ``OneSided``."""
        for step in self.steps:
            embeddings = step.apply_to_queries(embeddings) if isinstance(step, OneSided) else step.apply(embeddings)
        return embeddings

    def of_parts(self, parts: Float64, shares: Float64) -> Float64 | None:
        """Parts ``[n, d']`` of a transformed embedding, from parts ``[n, d]`` that add up to the embedding.

        See ``LinearStep``; None if parts do not add up after one of the steps, such as ``flow``.
        """
        for step in self.steps:
            if not isinstance(step, LinearStep):
                return None
            parts = step.of_parts(parts, shares)
        return parts

    def record(self) -> dict[str, Any]:
        """The fit as JSON values, for a run's manifest: numbers of items and dimensions, and facts per step."""
        steps, d_in = [], self.d_in
        for call, step in zip(self.chain.steps, self.steps, strict=True):
            steps.append({"step": str(call), "d_in": d_in, "d_out": step.d_out, **step.facts})
            d_in = step.d_out
        return {"chain": str(self.chain), "n": self.n, "d_in": self.d_in, "d_out": self.d_out, "steps": steps}
