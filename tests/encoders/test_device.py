"""Devices: the one that encodes, and the one that counts ranks, with the same numbers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch

from blindspot.datasets.kinds.pairs import PairSet
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.device import device_for_ranking, resolve_device
from blindspot.errors import BlindspotError
from blindspot.settings import Settings
from blindspot.types import CancelToken, no_progress
from tests.support.tables import each

GPUS = torch.cuda.device_count() if torch.cuda.is_available() else 0


@pytest.mark.parametrize("find", [resolve_device, device_for_ranking])
def test_a_gpu_is_used_only_if_it_is_named(find: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    found = [find(wanted) for wanted in ("auto", "cpu", "cuda", "cuda:1")]
    assert found == ["cpu", "cpu", "cuda:0", "cuda:1"]


@each("wanted", [f"cuda:{GPUS}", "cuda:99"] + ([] if GPUS else ["cuda"]))
def test_a_gpu_that_is_not_there_is_refused(wanted: str) -> None:
    with pytest.raises(BlindspotError) as caught:
        resolve_device(wanted)
    assert f"BLINDSPOT_DEVICE is '{wanted}' but this machine shows {GPUS} CUDA device(s)" in str(caught.value)
    assert "BLINDSPOT_DEVICE=auto" in caught.value.remedy


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="this machine has an Apple GPU")
def test_an_apple_gpu_that_is_not_there_is_refused() -> None:
    with pytest.raises(BlindspotError, match="no Apple GPU"):
        resolve_device("mps")


@pytest.mark.skipif(not GPUS, reason="this machine has no CUDA device")
def test_a_gpu_gives_the_same_vectors(shared_settings: Settings) -> None:
    texts = ["A short one.", "", "A rather longer one than the others are."]
    on_cpu = resolve_encoder("minilm", shared_settings)
    on_gpu = resolve_encoder("minilm", replace(shared_settings, device="cuda"))
    assert on_gpu.device == "cuda:0"
    np.testing.assert_allclose(
        on_gpu.encode(texts, CancelToken()), on_cpu.encode(texts, CancelToken()), rtol=0, atol=1e-5
    )


# --- ranks


@each(("wanted", "device"), [("cpu", "cpu"), ("mps", "cpu"), ("cuda", "cuda:0" if GPUS else "cpu"), ("cuda:99", "cpu")])
def test_ranks_are_counted_on_a_gpu_that_is_there_and_has_float64(wanted: str, device: str) -> None:
    assert device_for_ranking(wanted) == device


@pytest.mark.process
@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_torch_is_not_imported_to_find_no_gpu() -> None:
    code = (
        "import sys; from blindspot.encoders.device import device_for_ranking as f; "
        "print(f('cuda'), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["cpu", "False"]


@pytest.mark.parametrize("protocol", ["definition", "toolkit"])
@pytest.mark.parametrize("metric", ["cos", "l2"])
def test_a_run_on_a_torch_device_has_the_same_numbers(metric: str, protocol: str) -> None:
    """``cpu:0`` is a device of torch's like any other: ``Diagnostic.on`` takes the way of a GPU for it."""
    rng = np.random.default_rng(3)
    matrix = rng.standard_normal((200, 16)).astype(np.float32)
    matrix[50:100] = matrix[:50] + matrix[150:]
    matrix[110:120] = matrix[100:110]
    items = tuple(f"item {i}" for i in range(200))
    pairs = np.arange(100, dtype=np.int32)
    dataset = PairSet(id="random", items=items, queries=pairs, matches=(pairs + 50) % 200)
    params: Mapping[str, str] = {"metric": metric, "protocol": protocol}
    here = ENTRY.on("cpu")(matrix, dataset, params, no_progress, CancelToken())
    there = ENTRY.on("cpu:0")(matrix, dataset, params, no_progress, CancelToken())
    assert there.metrics == here.metrics
    assert there.items.equals(here.items)
    assert (here.device, there.device) == ("cpu", "cpu:0" if protocol == "definition" else "cpu")
