"""Models of a running Python program, named by reference like all others as long as the program runs."""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from blindspot.encoders import packed_bits
from blindspot.encoders.alone import MOST_APART, apart, rows_to_ask
from blindspot.encoders.base import Encoder, EncoderIdentity, EncoderInfo
from blindspot.errors import BlindspotError, InputError
from blindspot.numerics.statistics.written import percent
from blindspot.types import CancelToken, Float32

SCHEME = "python:"
TEXTS_AT_ONCE = 1024  # between two checks for a cancel
_NAME = re.compile(r"[\w.][\w. /@-]{0,79}")
_REGISTERED: dict[str, Encoder] = {}
_LOCK = threading.Lock()

Encode = Callable[[Sequence[str]], Float32]


def is_in_process(reference: str) -> bool:
    return reference.startswith(SCHEME)


@dataclass(frozen=True, eq=False)
class FunctionEncoder:
    """A function from texts to vectors.

    Attributes:
        reference: ``python:NAME``.
        revision: names everything that determines the vectors; stored embeddings are reused by it.
        function: turns ``n`` texts into ``[n, d]``; d is ``info.dimension``.
    """

    reference: str
    revision: str
    info: EncoderInfo
    function: Encode
    device: str = "cpu"

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(
            reference=self.reference, revision=self.revision, pooling="the program's own", libraries=()
        )

    def load(self) -> None:
        """No-op: the program has it."""

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """See ``Encoder.encode``; also raises ``BlindspotError`` if a text has another vector alone than among
        others, or if a second call gives another one."""
        return self._encoded(texts, cancel, asks_again=True)

    def ask(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """See ``AskedAgain``."""
        return self._encoded(texts, cancel, asks_again=False)

    def _encoded(self, texts: Sequence[str], cancel: CancelToken, *, asks_again: bool) -> Float32:
        out = np.empty((len(texts), self.info.dimension), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            cancel.check()
            some = list(texts[start : start + TEXTS_AT_ONCE])
            vectors = self._asked(some)
            for row in rows_to_ask(some, is_first=not start) if asks_again else ():
                self._check_alone(some[row], vectors[row])
            out[start : start + len(some)] = vectors
        return out

    def _asked(self, texts: list[str]) -> Float32:
        vectors = matrix_of(self.function(texts), len(texts), self.reference)
        if vectors.shape[1] != self.info.dimension:
            now, before = vectors.shape[1], self.info.dimension
            raise BlindspotError(
                f"{self.reference} gave vectors of {now} dimensions, and of {before} before",
                expected="as many in each call",
            )
        return vectors

    def _check_alone(self, text: str, vector: Float32) -> None:
        alone = self._asked([text])[0]
        if not (np.isfinite(vector).all() and np.isfinite(alone).all()):
            return  # refused by name where all vectors are
        if (difference := apart(vector, alone)) > MOST_APART:
            raise BlindspotError(
                f"{self.reference} gives {text[:60]!r} another vector alone than among others: they "
                f"differ by {percent(difference)} of its length",
                expected="the same vector in each call, whatever texts are beside it",
                remedy="end the model's training mode (model.eval()), and fit what is fitted on texts beforehand",
            )


@dataclass(frozen=True, eq=False)
class RoleFunctionEncoder(FunctionEncoder):
    """A model with separate functions for queries and for documents: a ``PromptedEncoder``.

    Attributes:
        by_task: functions like ``function``, under ``query`` and ``document``.
    """

    by_task: Mapping[str, Encode] = field(default_factory=dict)

    def prompted(self, prompt: str, task: str = "") -> FunctionEncoder:
        """See ``blindspot.encoders.roles.PromptedEncoder``."""
        function = self.by_task.get(task, self.function)
        return replace(self, function=lambda texts: function([f"{prompt}{text}" for text in texts]))


def matrix_of(value: object, rows: int, whose: str) -> Float32:
    """What a program gave, as ``[rows, d] float32``; raises ``BlindspotError`` if it is not such a matrix.

    Accepts tensors of any device and precision, also with a gradient, scipy's sparse matrices, and iterators of rows.
    """
    if inspect.isawaitable(value) or inspect.isasyncgen(value):
        if inspect.iscoroutine(value):
            value.close()
        raise BlindspotError(
            f"{whose} is an async function: it gave no array, but something to await",
            expected="a function that returns the array",
            remedy="wrap it: lambda texts: asyncio.run(function(texts))",
        )
    try:
        matrix = as_float32(value)
    except (TypeError, ValueError) as error:
        raise BlindspotError(f"{whose} gave no matrix: {error}", expected=f"an array of {rows:,} rows") from error
    if matrix.ndim != 2 or len(matrix) != rows or not matrix.shape[1]:
        raise BlindspotError(
            f"{whose} gave an array of shape {matrix.shape} for {rows:,} texts", expected=f"({rows}, dimension)"
        )
    if what := packed_bits.bytes_in_words(matrix):
        raise BlindspotError(f"{whose} gave {what}", expected=packed_bits.EXPECTED, remedy=packed_bits.REMEDY)
    return matrix


def as_float32(value: Any) -> Float32:
    """What a program gave, as an array; raises ``TypeError`` or ``ValueError`` if the conversion would lose values."""
    given = as_array(value)
    if np.ma.is_masked(given):
        raise ValueError("some of its values are masked")
    array = np.asarray(given)
    if np.iscomplexobj(array):
        raise TypeError("its values are complex numbers")
    return array.astype(np.float32, copy=False)


def as_array(value: Any) -> Any:
    """A library's matrix as something that numpy can read."""
    if hasattr(value, "__next__"):
        value = list(value)
    if isinstance(value, list | tuple) and value and hasattr(value[0], "detach"):
        return [as_array(row) for row in value]
    if hasattr(value, "detach"):  # torch
        value = value.detach()
        if str(value.layout) != "torch.strided":
            value = value.to_dense()
        return value.float().cpu().numpy()
    return value.toarray() if hasattr(value, "toarray") else value  # scipy


def reference_of(name: str) -> str:
    """``python:NAME``; raises ``InputError`` for a name that a reference cannot have."""
    if not _NAME.fullmatch(name) or "@version-" in name:
        raise InputError(
            f"'{name}' cannot be a model's name",
            expected="letters, digits, spaces and . _ - / @, beginning with a letter or digit, at most 80",
        )
    return f"{SCHEME}{name}"


def register(encoder: Encoder) -> str:
    """Register an encoder under the reference of its identity, in place of an earlier one; returns the reference."""
    reference = encoder.identity.reference
    with _LOCK:
        _REGISTERED[reference] = encoder
    return reference


def forget(reference: str) -> None:
    """Forget an encoder, since its model was released or has other weights now."""
    with _LOCK:
        _REGISTERED.pop(reference, None)


def registered(reference: str) -> Encoder:
    """The encoder of a reference; raises ``InputError`` if this program has none of that name."""
    with _LOCK:
        encoder = _REGISTERED.get(reference)
    if encoder is None:
        raise InputError(
            f"the model {reference.removeprefix(SCHEME)} belongs to a Python program that has ended or trained on",
            remedy="view its stored results, or run it again from that program",
        )
    return encoder
