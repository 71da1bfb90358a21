"""Batches on a device: results come back while the next batch is computed, and a batch that does not fit is halved."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from blindspot.encoders.references import Dtype
from blindspot.errors import BlindspotError
from blindspot.numerics.devices import (
    first_line,
    free_memory,
    is_of_device,
    is_out_of_memory,
    kind_of,
    pinned_like,
    release,
)
from blindspot.types import Float32, Int64

if TYPE_CHECKING:
    import torch

# Padded tokens per batch. Larger ones gain nothing on two cores and lose cache locality
# (MiniLM, 2,000 sentences: 4.2 s at 512, 3.9 s at 2048, 4.5 s at 4096); a GPU wants more.
TOKENS_PER_BATCH = {"cpu": 2_048, "cuda": 65_536, "mps": 16_384}

SHARE_OF_FREE = 0.5  # of a GPU's free memory, for one batch: its costs are estimates, and the next one follows it
MOST_ON_CPU = 2 << 30  # bytes of a batch; fixed, since last digits must not depend on free memory
UNDER_WAY = 2  # batches: a GPU computes the second one while the first is fetched

BYTES = {Dtype.FLOAT32: 4, Dtype.FLOAT16: 2, Dtype.BFLOAT16: 2}
STATES = 12  # at most so many arrays of a token's states are in memory at a time
INNER = 3  # likewise, inside the feed-forward layers
LOGITS = 4  # likewise, a number per word piece, which sparse models have
MATRICES = 3  # likewise, a token's scores with each token of its text, which only some kinds of attention keep
FUSED_ATTENTION = {"sdpa", "flash_attention_2", "flash_attention_3", "flex_attention"}


@dataclass(frozen=True)
class Cost:
    """An estimate of the memory that a forward pass takes beside the weights.

    Attributes:
        per_token: bytes.
        per_pair: bytes for each pair of tokens in a text.
    """

    per_token: int
    per_pair: int = 0

    @classmethod
    def of(cls, layers: Any, dtype: Dtype, *, is_sparse: bool) -> Cost:
        """The cost of a transformers model, from the sizes and the attention in its configuration.

        Args:
            is_sparse: whether the model gives every token a number per word piece.
        """
        config = getattr(layers.config, "get_text_config", lambda: layers.config)()

        def size(*names: str) -> int:
            return next((int(v) for name in names if isinstance(v := getattr(config, name, None), int)), 0)

        hidden = size("hidden_size", "d_model", "dim", "n_embd")
        inner = size("intermediate_size", "d_ff", "hidden_dim", "n_inner") or 4 * hidden
        heads = size("num_attention_heads", "num_heads", "n_heads", "n_head") or 1
        logits = LOGITS * size("vocab_size") if is_sparse else 0
        is_fused = getattr(layers.config, "_attn_implementation", None) in FUSED_ATTENTION
        # Numbers per word piece and attention scores are often computed in float32, whatever the weights' precision.
        return cls(
            BYTES[dtype] * (STATES * hidden + INNER * inner) + 4 * logits, 0 if is_fused else 4 * MATRICES * heads
        )

    def in_bytes(self, texts: int, width: int) -> int:
        return texts * width * (self.per_token + width * self.per_pair)

    def tokens_within(self, size: float, width: int) -> int:
        """Padded tokens, of texts of at most ``width``, that take at most so many bytes."""
        return int(size // max(1, self.per_token + width * self.per_pair))


@dataclass
class Capacity:
    """The memory that a model's batches may take on its device; a size that was too large is remembered across calls.

    Attributes:
        too_large: estimated bytes of a batch that did not fit.
    """

    device: str
    cost: Cost
    too_large: float = field(default=np.inf)

    def tokens(self, width: int) -> int:
        """Padded tokens per batch of texts of at most ``width`` tokens."""
        kind = kind_of(self.device)
        size = MOST_ON_CPU if kind == "cpu" else SHARE_OF_FREE * free_memory(self.device)
        return max(1, min(TOKENS_PER_BATCH[kind], self.cost.tokens_within(size, width)))


def run_batches(
    batches: Sequence[Int64],
    lengths: Int64,
    compute: Callable[[Int64], Sequence[torch.Tensor]],
    keep: Callable[[Int64, Sequence[Float32]], None],
    capacity: Capacity,
    reference: str,
) -> None:
    """Compute batches of rows and pass on the results of each batch once, when they arrive.

    A batch that does not fit is halved, and so are later ones of its size, whether it fails while it is computed or
    while its results are fetched.

    Args:
        lengths: ``[n] int64``, in tokens.
        compute: gives ``[k, d] float32`` of some rows by pooling, on the device, possibly not computed yet.
        keep: takes the results of some rows.
        reference: for errors.

    Raises:
        BlindspotError: a single text does not fit, or the device fails.
    """
    waiting, under_way, device = list(reversed(batches)), deque[Arrival](), capacity.device
    fetching, at_a_time = fetching_from(device), UNDER_WAY
    tried_alone: set[int] = set()  # texts
    while waiting or under_way:
        rows, failed = np.empty(0, dtype=np.int64), False
        is_launch = bool(waiting) and len(under_way) < at_a_time
        is_alone = len(under_way) == (0 if is_launch else 1)
        try:
            if is_launch:
                rows = waiting.pop()
                if len(rows) > 1 and _size(rows, lengths, capacity) >= capacity.too_large:
                    waiting += _halves(rows)
                else:
                    under_way.append(Arrival(rows, fetching(compute(rows))))
            else:
                rows = under_way[0].rows
                keep(rows, under_way[0].results())
                under_way.popleft()
        except Exception as error:
            if not is_out_of_memory(error):
                reraise(error, device, reference)
            if len(rows) == 1 and is_alone and int(rows[0]) in tried_alone:
                what = f"one text of {int(lengths[rows[0]]):,} tokens in '{reference}' does"
                raise does_not_fit(what, device) from error
            failed = True
        if failed:  # outside the handler, since the handler keeps the failed batch's memory alive
            at_a_time = 1  # what else is under way takes memory, too
            if not is_launch:
                under_way.popleft()
            release(device)
            if len(rows) > 1:
                capacity.too_large = min(capacity.too_large, _size(rows, lengths, capacity))
            elif is_alone:
                tried_alone.add(int(rows[0]))
            waiting += _halves(rows)


def _size(rows: Int64, lengths: Int64, capacity: Capacity) -> int:
    return capacity.cost.in_bytes(len(rows), int(lengths[rows].max()))


def _halves(rows: Int64) -> list[Int64]:
    """The second half first: the last one is taken next."""
    half = len(rows) // 2
    return [rows[half:], rows[:half]] if half else [rows]


Fetch = Callable[[], Sequence[Any]]


@dataclass(frozen=True)
class Arrival:
    """Results of some rows on their way from the device."""

    rows: Int64
    fetch: Fetch

    def results(self) -> list[Float32]:
        """``[k, d] float32`` by pooling, once they are there; raises what the device raises."""
        return [np.asarray(tensor.numpy(), dtype=np.float32) for tensor in self.fetch()]


def fetching_from(device: str) -> Callable[[Sequence[torch.Tensor]], Fetch]:
    """Function that begins to copy tensors from a device; it returns a function that waits for the copies."""
    if kind_of(device) == "cuda":
        return PinnedCopies(device)
    return lambda tensors: lambda: [tensor.cpu() for tensor in tensors]


@cache
def _stream_of_copies(device: str) -> torch.cuda.Stream:
    import torch

    return torch.cuda.Stream(device)


class PinnedCopies:
    """Copies from a CUDA device into pinned memory, on a separate stream, while the device computes the next batch. An
    event tells when the copies are complete; until then the memory has other bytes."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._stream = _stream_of_copies(device)

    def __call__(self, tensors: Sequence[torch.Tensor]) -> Fetch:
        import torch

        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        hosts = []
        with torch.cuda.stream(self._stream):
            for tensor in tensors:
                host = pinned_like(tensor)
                host.copy_(tensor, non_blocking=True)
                tensor.record_stream(self._stream)  # its memory is not free before it is copied
                hosts.append(host)
            done = torch.cuda.Event()
            done.record(self._stream)

        def wait() -> Sequence[torch.Tensor]:
            done.synchronize()
            return hosts

        return wait


class DeviceError(BlindspotError):
    """A device cannot do a job that another device may be able to do."""


class DeviceFailed(DeviceError):
    """A GPU failed for another reason than too little memory; what it computed before is correct."""

    def __init__(self, device: str, reference: str, reason: str) -> None:
        super().__init__(
            f"{device} failed while it encoded with '{reference}': {reason}",
            remedy="check it with: blindspot doctor --gpu; or set BLINDSPOT_DEVICE=cpu",
        )


def does_not_fit(what: str, device: str) -> DeviceError:
    return DeviceError(
        f"{what} not fit the memory of {device}",
        remedy="name a smaller max_length or dtype=float16 in the reference, or set BLINDSPOT_DEVICE=cpu",
    )


def reraise(error: Exception, device: str, reference: str) -> NoReturn:
    """Raise an error again, a GPU's as ``DeviceFailed``."""
    if kind_of(device) != "cpu" and is_of_device(error):
        raise DeviceFailed(device, reference, first_line(error)) from error
    raise error
