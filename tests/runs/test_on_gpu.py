"""A run under ``auto`` on a GPU that fails at any call: its scores are the CPU's, and its manifest says what happened.

The GPU is ``cpu:0``, a device of torch's like any other, taken for CUDA where errors and batches are concerned. The
self-check, batches, copies, the CPU that goes on, ranks, cache, store and manifest are the real ones.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.gpu import running, self_check
from blindspot.encoders.gpu.self_check import Gpu, Outcome, Outcomes
from blindspot.encoders.transformer import ahead
from blindspot.encoders.transformer import encoder as transformer
from blindspot.encoders.transformer.backends import difference
from blindspot.encoders.transformer.batches import Tokens
from blindspot.encoders.transformer.forward import Forward
from blindspot.numerics.ranking import gpu as ranking
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Float32, Int64
from tests.support.tiny_models import saved

GPU = Gpu("cpu:0", "Made-up GPU", "its serial number, driver and torch")
OUT_OF_MEMORY = (
    "CUDA error: out of memory",
    "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    "MPS backend out of memory (MPS allocated: 8.9 GB, other allocations: 1.1 GB, max allowed: 9.0 GB).",
)
BROKEN = "CUDA error: an illegal memory access was encountered"
Fails = Callable[[int], bool]


class Faults:
    """Calls of the device, to compute and to fetch, of which some fail."""

    def __init__(self) -> None:
        self.begin(lambda _: False)

    def begin(self, fails: Fails, message: str = "") -> None:
        self._fails, self._message, self.calls = fails, message, 0

    def call(self) -> None:
        self.calls += 1
        if self._fails(self.calls):
            raise RuntimeError(self._message)


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> Faults:
    found, compute, kind = Faults(), Forward._padded, running.kind_of

    def padded(self: Forward, tokens: Tokens, rows: Int64) -> list[torch.Tensor]:
        if self._device == GPU.device:
            found.call()
        return compute(self, tokens, rows)

    def fetching(device: str) -> Callable[[Sequence[torch.Tensor]], running.Fetch]:
        def begin(tensors: Sequence[torch.Tensor]) -> running.Fetch:
            hosts = [torch.full_like(tensor, -7.0) for tensor in tensors]  # what pinned memory has before the copy

            def wait() -> Sequence[torch.Tensor]:
                if device == GPU.device:
                    found.call()
                for host, tensor in zip(hosts, tensors, strict=True):
                    host.copy_(tensor)
                return hosts

            return wait

        return begin

    monkeypatch.setattr(Forward, "_padded", padded)
    monkeypatch.setattr(running, "fetching_from", fetching)
    monkeypatch.setattr(running, "kind_of", lambda device: "cuda" if device == GPU.device else kind(device))
    monkeypatch.setitem(running.TOKENS_PER_BATCH, "cuda", 192)
    monkeypatch.setattr(ahead, "SECTION", 7)
    monkeypatch.setattr(transformer, "pack", lambda _: False)  # layers for the processor alone
    monkeypatch.setattr(self_check, "emptiest_gpu", lambda: GPU)
    monkeypatch.setattr(self_check, "may_have_gpu", lambda: True)
    monkeypatch.setattr(self_check, "free_memory", lambda _: 80 * 10**9)
    monkeypatch.setattr(self_check, "SMALL_JOB", 0.0)
    monkeypatch.setattr(self_check, "SMALL_RANKING", 0.0)
    monkeypatch.setattr(self_check, "TIMED_ITEMS", 1_024)
    monkeypatch.setattr(Outcome, "pays", lambda outcome, _: outcome.passed)
    return found


@pytest.fixture
def run(settings: Settings, tmp_path: Path) -> Iterator[Callable[[str], tuple[RunRecord, Float32]]]:
    """Runs EvalRank anew: the record, and the matrix that was stored."""
    model = saved(tmp_path / "model")
    rows = [
        f"the {a} dog sees {b},cats number {a} are near {b} of them" for a in "abcdef" for b in ("me", "you and us")
    ]
    (tmp_path / "pairs.csv").write_text("\n".join(["query,match", *rows]), "utf-8")
    number, opened = count(), list[Repository]()

    def run(device: str) -> tuple[RunRecord, Float32]:
        shutil.rmtree(settings.embeddings, ignore_errors=True)
        repository = Repository.at(tmp_path / f"{next(number)}.duckdb")
        opened.append(repository)
        here = replace(settings, device=device)
        request = requesting.request("evalrank", f"dir:{model}", "none", f"file:{tmp_path / 'pairs.csv'}", {}, here)
        record = pipeline.run(request, here, repository).record
        stored = EmbeddingCache(here.embeddings).read(record.plan.embedding_digest)
        assert stored is not None
        return record, np.array(stored.matrix)

    yield run
    for repository in opened:
        repository.database.close()


@pytest.mark.heavy
def test_a_run_on_a_gpu_that_fails_at_any_call_has_the_cpus_scores_and_says_so(
    faults: Faults,
    run: Callable[[str], tuple[RunRecord, Float32]],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected, vectors = run("cpu")
    assert expected.manifest["encoder"]["device"] == expected.manifest["machine"]["device"] == "cpu"

    def check(device: str, *, message: str = "") -> dict[str, Any]:
        record, found = run("auto")
        assert difference(vectors, found) <= self_check.BOUNDS["float32"]
        assert record.metrics == pytest.approx(expected.metrics)
        encoder = dict(record.manifest["encoder"])
        assert encoder["device"] == device
        assert (message in encoder["device_note"]) if message else "device_note" not in encoder
        return dict(record.manifest["machine"])

    assert check(GPU.device)["device"] == GPU.device, "ranks too"
    assert {outcome.subject for outcome in Outcomes(settings.cache / self_check.FOLDER).all()} >= {self_check.RANKS}
    faults.begin(lambda _: False)
    check(GPU.device)
    calls = faults.calls
    assert calls >= 4, "several batches"

    for at in range(1, calls + 1):
        faults.begin(lambda call, at=at: call == at, OUT_OF_MEMORY[at % len(OUT_OF_MEMORY)])  # type: ignore[misc]
        check(GPU.device)
        assert faults.calls > calls, "the batch was halved"
    for at in (1, calls):
        faults.begin(lambda call, at=at: call >= at, BROKEN)  # type: ignore[misc]
        check("cpu and cpu:0", message="illegal memory access")
    faults.begin(lambda _: True, OUT_OF_MEMORY[0])
    check("cpu and cpu:0", message="does not fit the memory")

    faults.begin(lambda _: False)
    monkeypatch.setattr(ranking._Asked, "count", raising(RuntimeError(OUT_OF_MEMORY[1])))
    machine = check(GPU.device)
    assert machine["device"] == "cpu"
    assert "CUBLAS_STATUS_ALLOC_FAILED" in machine["device_note"]


def raising(error: Exception) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail
