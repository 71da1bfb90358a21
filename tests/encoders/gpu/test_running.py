"""Batches on a device whose memory fails at any call: every row arrives once and right, or an error is raised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from blindspot.encoders.gpu import running
from blindspot.encoders.gpu.running import Capacity, Cost, DeviceFailed, PinnedCopies, run_batches
from blindspot.encoders.references import Dtype, Pooling, Readout
from blindspot.encoders.transformer.batches import tokenize
from blindspot.encoders.transformer.forward import WHOLE, Forward, leave_out_whole_masks
from blindspot.errors import BlindspotError
from blindspot.types import CancelToken, Float32, Int64
from tests.support.tiny_models import saved

LENGTHS = np.array([3, 3, 4, 5, 5, 6, 8, 8, 9, 12, 12, 12], dtype=np.int64)
BATCHES = [np.arange(0, 5), np.arange(5, 9), np.arange(9, 12)]
FAULTS = ("CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED", "MPS backend out of memory")


class Device:
    """Computes ``[row, length]``, and fails at some calls, of the computation and of the fetching alike.

    The memory that results are copied to has other numbers until they are waited for.
    """

    def __init__(self, fails: Callable[[int], BaseException | None]) -> None:
        self._fails, self.calls = fails, 0
        self.out = np.full((len(LENGTHS), 2), np.nan, dtype=np.float32)
        self.kept: list[int] = []

    def _call(self) -> None:
        self.calls += 1
        if (error := self._fails(self.calls)) is not None:
            raise error

    def compute(self, rows: Int64) -> list[torch.Tensor]:
        self._call()
        return [torch.from_numpy(np.stack([rows, LENGTHS[rows]], axis=1).astype(np.float32))]

    def fetching(self, _: str) -> Callable[[Sequence[torch.Tensor]], running.Fetch]:
        def begin(tensors: Sequence[torch.Tensor]) -> running.Fetch:
            hosts = [torch.full_like(tensor, -7.0) for tensor in tensors]

            def wait() -> Sequence[torch.Tensor]:
                self._call()
                for host, tensor in zip(hosts, tensors, strict=True):
                    host.copy_(tensor)
                return hosts

            return wait

        return begin

    def keep(self, rows: Int64, vectors: Sequence[Float32]) -> None:
        self.kept += rows.tolist()
        self.out[rows] = vectors[0]

    def run(self, monkeypatch: pytest.MonkeyPatch, capacity: Capacity) -> None:
        monkeypatch.setattr(running, "fetching_from", self.fetching)
        run_batches(BATCHES, LENGTHS, self.compute, self.keep, capacity, "some model")


def capacity() -> Capacity:
    return Capacity("cpu", Cost(10))


def test_memory_that_fails_at_any_call_once_or_for_a_while_leaves_no_row_out(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, broken = np.stack([np.arange(len(LENGTHS)), LENGTHS], axis=1), []
    for first in range(1, 9):
        for times in (1, 2):
            for message in FAULTS:
                some = range(first, first + times)
                device = Device(lambda call, s=some, m=message: RuntimeError(m) if call in s else None)  # type: ignore[misc]
                device.run(monkeypatch, capacity())
                if sorted(device.kept) != list(range(len(LENGTHS))) or not np.array_equal(device.out, expected):
                    broken.append((first, times, message))
    assert broken == []


def test_what_never_fits_and_what_is_no_lack_of_memory_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BlindspotError, match=r"one text of \d+ tokens in 'some model' does not fit the memory of cpu"):
        Device(lambda _: torch.OutOfMemoryError("CUDA out of memory.")).run(monkeypatch, capacity())
    with pytest.raises(ZeroDivisionError):
        Device(lambda call: ZeroDivisionError() if call == 2 else None).run(monkeypatch, capacity())
    illegal = RuntimeError("CUDA error: an illegal memory access was encountered\nand advice")
    with pytest.raises(DeviceFailed, match=r"cuda:0 failed while it encoded with 'some model'.*illegal") as caught:
        Device(lambda call: illegal if call == 3 else None).run(monkeypatch, Capacity("cuda:0", Cost(10)))
    assert "advice" not in str(caught.value)


def test_what_was_too_large_is_remembered_from_one_call_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    remembered, sizes = capacity(), list[int]()

    class Small(Device):
        def compute(self, rows: Int64) -> list[torch.Tensor]:
            sizes.append(len(rows) * int(LENGTHS[rows].max()))
            if sizes[-1] > 15:
                raise torch.OutOfMemoryError("CUDA out of memory.")
            return super().compute(rows)

    for _ in range(2):
        Small(lambda _: None).run(monkeypatch, remembered)
        refused, sizes[:] = sum(size > 15 for size in sizes), []
    assert refused == 0
    assert 150 < remembered.too_large <= 250


# --- what a batch costs


def config(**sizes: Any) -> SimpleNamespace:
    given = {"hidden_size": 384, "intermediate_size": 1_536, "num_attention_heads": 12, "_attn_implementation": "sdpa"}
    return SimpleNamespace(config=SimpleNamespace(**(given | sizes)))


def test_batches_follow_free_memory_the_vocabulary_and_the_kind_of_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    dense = Cost.of(config(), Dtype.FLOAT32, is_sparse=False)
    eager = Cost.of(config(_attn_implementation="eager"), Dtype.FLOAT32, is_sparse=False)
    sparse = Cost.of(config(vocab_size=30_522), Dtype.FLOAT32, is_sparse=True)
    half = Cost.of(config(), Dtype.BFLOAT16, is_sparse=False)
    assert half.per_token * 2 == dense.per_token
    assert sparse.per_token > 8 * dense.per_token
    assert (dense.per_pair, eager.per_token) == (0, dense.per_token)
    free = 80 << 30
    monkeypatch.setattr(running, "free_memory", lambda _: free)

    def tokens(cost: Cost, width: int) -> int:
        return Capacity("cuda:0", cost).tokens(width)

    assert tokens(dense, 512) == running.TOKENS_PER_BATCH["cuda"]
    free = 2 << 30
    assert tokens(sparse, 16) < tokens(dense, 16) < running.TOKENS_PER_BATCH["cuda"]
    assert tokens(eager, 2_048) < tokens(eager, 128) < tokens(dense, 128)
    free = 0
    assert tokens(dense, 16) == 1
    free = 2 << 30
    assert Capacity("cpu", dense).tokens(512) == running.TOKENS_PER_BATCH["cpu"], "whatever is free"


# --- copies that run while the next batch is computed


def test_pinned_copies_are_read_after_their_event_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a CUDA made up: copies wait in its stream until an event of it is waited for."""
    waiting: list[tuple[torch.Tensor, torch.Tensor]] = []
    real_copy, real_empty, said = torch.Tensor.copy_, torch.empty, list[str]()

    class Event:
        def record(self, _: object) -> None:
            said.append("recorded")

        def synchronize(self) -> None:
            said.append("waited")
            for host, tensor in waiting:
                real_copy(host, tensor)
            waiting.clear()

    class Stream:
        def __init__(self, _: str) -> None: ...

        def wait_stream(self, _: object) -> None:
            said.append("after the computation")

        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

    def copy(host: torch.Tensor, tensor: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
        assert non_blocking
        waiting.append((host, tensor))
        return host

    def empty(*shape: Any, pin_memory: bool = False, **rest: Any) -> torch.Tensor:
        assert pin_memory
        return real_empty(*shape, **rest).fill_(-7.0)

    running._stream_of_copies.cache_clear()
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: None)
    monkeypatch.setattr(torch, "empty", empty)
    monkeypatch.setattr(torch.Tensor, "copy_", copy)
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda *_: said.append("kept"))
    wait = PinnedCopies("cuda:9")([torch.ones(2, 3)])
    running._stream_of_copies.cache_clear()
    assert len(waiting) == 1
    assert said == ["after the computation", "kept", "recorded"]
    (host,) = wait()
    assert said[-1] == "waited"
    assert (host == 1).all()


# --- masks


def test_a_mask_is_given_only_where_a_batch_is_padded() -> None:
    seen: list[torch.Tensor | None] = []

    class Layers(torch.nn.Module):
        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
            seen.append(attention_mask)
            return input_ids

    class Strict(torch.nn.Module):
        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            seen.append(attention_mask)
            return input_ids

    whole, padded = torch.ones(2, 3, device="meta"), torch.ones(2, 3, device="meta")
    setattr(whole, WHOLE, True)
    setattr(padded, WHOLE, False)
    for layers, given in ((Layers(), [None, padded, padded]), (Strict(), [whole, padded, padded])):
        seen.clear()
        leave_out_whole_masks(layers)
        layers(input_ids=whole, attention_mask=whole)
        layers(input_ids=whole, attention_mask=padded)
        layers(input_ids=whole, attention_mask=padded)
        assert [one is other for one, other in zip(seen, given, strict=True)] == [True] * 3


# --- tensors


@pytest.mark.heavy
def test_a_batch_without_padding_neither_has_a_tensor_of_the_host_nor_waits_for_the_device(tmp_path: Path) -> None:
    """``meta`` is a device without numbers: none can be looked at, nor go together with a tensor of the host."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(saved(tmp_path / "model")), device="cpu", local_files_only=True)
    tokens = tokenize(model.tokenizer, ["a text", "two words"], 0, CancelToken(), added_too=True)
    leave_out_whole_masks(model[0].auto_model)
    rows = np.arange(2)
    assert tokens.lengths[0] == tokens.lengths[1]
    sizes = [vectors.shape for vectors in Forward(model, tuple(map(Readout, Pooling)), "", "cpu")(tokens, rows)]
    model.to("meta")
    found = Forward(model, tuple(map(Readout, Pooling)), "", "meta")(tokens, rows)
    assert [(vectors.device.type, vectors.shape) for vectors in found] == [("meta", size) for size in sizes]
    with pytest.raises(RuntimeError, match="device"):
        Forward(model, tuple(map(Readout, Pooling)), "", "cpu")(tokens, rows)
