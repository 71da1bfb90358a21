"""Where ranks are counted: on a GPU where there is one that can, and the numbers are the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import numpy as np
import pytest
import torch

from core.datasets.kinds.pairs import PairSet
from core.diagnostics.evalrank.definition import ENTRY
from core.encoders.device import device_for_ranking
from core.types import CancelToken, no_progress


@pytest.mark.parametrize("wanted", ["cpu", "mps"])
def test_a_device_without_float64_leaves_ranks_to_the_processor(wanted: str) -> None:
    assert device_for_ranking(wanted) == "cpu"


def test_auto_takes_a_gpu_where_there_is_one() -> None:
    assert device_for_ranking("auto") == ("cuda:0" if torch.cuda.is_available() else "cpu")


def test_a_gpu_that_is_not_there_leaves_ranks_to_the_processor() -> None:
    assert device_for_ranking("cuda:99") == "cpu"


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_torch_is_not_imported_to_find_no_gpu() -> None:
    code = (
        "import sys; from core.encoders.device import device_for_ranking as f; print(f('auto'), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["cpu", "False"]


@pytest.mark.parametrize("protocol", ["definition", "toolkit"])
@pytest.mark.parametrize("metric", ["cos", "l2"])
def test_a_run_on_a_torch_device_has_the_same_numbers(metric: str, protocol: str) -> None:
    """``cpu:0`` is a device of torch's like any other: ``DiagnosticEntry.on`` takes the way of a GPU for it."""
    rng = np.random.default_rng(3)
    matrix = rng.standard_normal((200, 16)).astype(np.float32)
    matrix[50:100] = matrix[:50] + matrix[150:]
    matrix[110:120] = matrix[100:110]
    items = tuple(f"item {i}" for i in range(200))
    pairs = np.arange(100, dtype=np.int32)
    dataset = PairSet(id="random", items=items, queries=pairs, mates=(pairs + 50) % 200)
    params: Mapping[str, str] = {"metric": metric, "protocol": protocol}
    here = ENTRY.on("cpu")(matrix, dataset, params, no_progress, CancelToken())
    there = ENTRY.on("cpu:0")(matrix, dataset, params, no_progress, CancelToken())
    assert there.metrics == here.metrics
    assert there.items.equals(here.items)
    assert (here.device, there.device) == ("cpu", "cpu:0" if protocol == "definition" else "cpu")
