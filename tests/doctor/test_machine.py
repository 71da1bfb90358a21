"""Checks of GPUs, cores, memory and the limits of containers."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import psutil
import pytest

from blindspot.doctor import machine
from blindspot.doctor.cgroups import MemoryLimit, memory_limit
from blindspot.doctor.findings import GIB, Finding, State
from blindspot.encoders.gpu import self_check
from blindspot.encoders.gpu.self_check import FOLDER, Gpu, Outcome, Outcomes
from blindspot.settings import Settings
from tests.support.findings import by_name, check

DRIVER = machine.NvidiaDriver(("GPU 0: NVIDIA H200",))


def has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


# --- devices


def test_the_device_that_is_used_is_named(settings: Settings) -> None:
    found = by_name(machine.device(settings, {}))
    check(found["device"], State.OK, "encoders run on cpu")
    assert found["torch"].state is State.OK


def test_a_gpu_that_is_asked_for_and_not_there_is_a_problem(settings: Settings) -> None:
    found = by_name(machine.device(replace(settings, device="cuda:99"), {}))["device"]
    check(found, State.PROBLEM, "'cuda:99'", remedy="BLINDSPOT_DEVICE=auto")


@pytest.mark.parametrize(("device", "used"), [("auto", "cpu"), ("cpu", "cpu"), ("cuda:0", "cuda:0")])
def test_outcomes_of_self_checks_are_told(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, device: str, used: str
) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "NVIDIA L4")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (20 * GIB, 24 * GIB))
    settings = replace(settings, device=device)
    found = by_name(machine.device(settings, {}))
    check(found["device"], State.OK, f"encoders run on {used}")
    check(found["cuda:0"], State.OK, "NVIDIA L4, 20.0 GiB of 24.0 GiB free")
    check(found["self-check"], State.NOTE, "no model was checked", remedy="blindspot doctor --gpu")
    gpu, outcomes = Gpu("cuda:0", "NVIDIA L4", "driver and torch"), Outcomes(settings.cache / FOLDER)
    passed = Outcome("minilm", gpu.name, difference=4e-7, of_cpu=1.0, of_gpu=30.0)
    outcomes.of(["1"], gpu, "minilm", lambda: passed)
    outcomes.of(["2"], gpu, "hf:other", lambda: Outcome("hf:other", gpu.name, reason="its vectors differ"))
    found = by_name(machine.device(settings, {}))
    check(found["self-check of minilm"], State.OK, "30.0 times as fast")
    check(found["self-check of hf:other"], State.NOTE, "its vectors differ", remedy="doctor --gpu")


@pytest.mark.skipif(has_gpu(), reason="this machine has a GPU that torch uses")
def test_without_a_gpu_its_check_says_what_is_missing(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = by_name(machine.check_gpu(settings, {}))
    check(found["self-check"], State.NOTE, "none was checked")
    check(found["GPU"], State.OK, "there is no NVIDIA driver (nvidia-smi)")
    monkeypatch.setitem(sys.modules, "torch", None)
    found = by_name(machine.check_gpu(settings, {}))
    check(found["torch"], State.PROBLEM, "torch")


@pytest.mark.heavy
def test_a_gpu_is_checked_anew_whatever_was_found_before(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """``cpu:0`` is a device of torch's like any other."""
    gpu, outcomes = Gpu("cpu:0", "Made-up GPU", "driver and torch"), Outcomes(settings.cache / FOLDER)
    monkeypatch.setattr(self_check, "emptiest_gpu", lambda: gpu)
    monkeypatch.setattr(self_check, "mixed_texts", lambda: ("a text", "another one, which is longer"))
    monkeypatch.setattr(self_check, "half_precision", lambda *_: None)  # takes minutes on a processor
    ranks = Outcome("ranks", gpu.name, reason="3 of 128 ranks are not those of the CPU")
    monkeypatch.setattr(machine, "check_ranks", lambda *_: ranks)
    outcomes.of(["ranks"], gpu, "ranks", lambda: Outcome("ranks", gpu.name))
    outcomes.of(["1"], gpu, "dir:/no/more", lambda: Outcome("dir:/no/more", gpu.name))
    found = by_name(machine.check_gpu(settings, {}))
    check(found["GPU"], State.OK, "cpu:0, Made-up GPU")
    check(found["self-check of minilm"], State.OK, "with minilm from the CPU in float32")
    check(found["self-check of dir:/no/more"], State.NOTE, "/no/more")
    check(found["self-check of ranks"], State.PROBLEM, "are not those of the CPU", remedy="update torch and the driver")
    kept = {outcome.subject: outcome for outcome in outcomes.all()}
    assert {subject: outcome.passed for subject, outcome in kept.items()} == {"ranks": False, "minilm": True}
    assert kept["minilm"].of_gpu > 0


def nvidia_smi(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of that name, the first on the path."""
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


TWO_GPUS = "echo 'GPU 0: NVIDIA H200 (UUID: GPU-1)'; echo 'GPU 1: NVIDIA L4 (UUID: GPU-2)'"


@pytest.mark.process
@pytest.mark.skipif(has_gpu(), reason="this machine has a GPU that torch uses")
@pytest.mark.parametrize(("device", "state"), [("cuda", State.PROBLEM), ("auto", State.NOTE), ("cpu", State.NOTE)])
def test_a_gpu_that_torch_leaves_unused(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, state: State
) -> None:
    nvidia_smi(tmp_path, TWO_GPUS, monkeypatch)
    settings = replace(settings, device=device)
    for findings in (machine.device(settings, {}), machine.check_gpu(settings, {})):
        found = by_name(findings)["GPU"]
        check(found, state, "GPU 0: NVIDIA H200, GPU 1: NVIDIA L4 is not used")
        assert found.remedy


@pytest.mark.process
@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18", "Driver/library version"),
        ("exit 9", "exit code 9"),
    ],
)
def test_a_driver_that_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings, script: str, error: str
) -> None:
    nvidia_smi(tmp_path, script, monkeypatch)
    check(unused(machine.nvidia_driver(), settings), State.NOTE, error, remedy="driver")


def test_no_driver_is_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machine.nvidia_driver() is None
    assert unused(None, settings) is None


def unused(
    driver: machine.NvidiaDriver | None,
    settings: Settings,
    *,
    has_cuda: bool = False,
    warned: str = "",
    visible: str | None = None,
) -> Finding | None:
    environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    wanted = replace(settings, device="cuda")
    return machine.unused_gpu(
        driver, has_cuda=has_cuda, warned=warned, settings=wanted, torch_version="2.0", environment=environment
    )


@pytest.mark.parametrize(
    ("facts", "state", "what", "remedy"),
    [
        ({}, State.PROBLEM, "CPU only", "pip install --force-reinstall torch==2.0"),
        ({"has_cuda": True, "warned": "the driver is too old"}, State.PROBLEM, "too old", "driver"),
        ({"has_cuda": True, "visible": "0"}, State.PROBLEM, "torch finds no GPU", "driver"),
        ({"has_cuda": True, "visible": ""}, State.NOTE, "CUDA_VISIBLE_DEVICES", "unset it"),
        ({"has_cuda": True, "visible": "-1"}, State.NOTE, "CUDA_VISIBLE_DEVICES", "unset it"),
    ],
)
def test_why_a_gpu_is_unused(settings: Settings, facts: dict[str, Any], state: State, what: str, remedy: str) -> None:
    check(unused(DRIVER, settings, **facts), state, what, remedy=remedy)


# --- cores and memory


def test_this_machine_has_cores_and_memory() -> None:
    found = by_name(machine.processor(MemoryLimit(None, None)))
    assert found["cores"].what == f"{joblib.cpu_count()} of {os.cpu_count()} usable"
    total = psutil.virtual_memory().total / GIB
    assert f"of {total:,.1f} GiB available" in found["memory"].what


def test_little_memory_is_a_problem_although_the_machine_has_more() -> None:
    found = by_name(machine.processor(MemoryLimit(3 * GIB, GIB)))
    check(found["memory"], State.PROBLEM, "1.0 GiB of 3.0 GiB available; the machine has", remedy="memory")
    assert by_name(machine.processor(MemoryLimit(None, 2 * GIB)))["memory"].state is State.OK


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({"membership": "0::/\n"}, (None, None), id="none"),
        pytest.param(
            {
                "membership": "0::/service/job\n",
                "root/service/memory.max": "8000\n",
                "root/service/memory.current": "7000\n",
                "root/service/memory.stat": "anon 5000\ninactive_file 1500\n",
                "root/service/job/memory.max": "max\n",
                "root/service/job/memory.current": "7000\n",
            },
            (8000, 2500),
            id="version 2, the tightest on the way up",
        ),
        pytest.param(
            {
                "membership": "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n0::/\n",
                "root/memory/memory.limit_in_bytes": "6000\n",  # a container sees its own, whatever its path outside
                "root/memory/memory.usage_in_bytes": "1000\n",
                "root/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 400\n",
            },
            (6000, 5400),
            id="version 1",
        ),
        pytest.param(
            {
                "membership": "4:memory:/\n2:cpu:/\n",
                "root/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "root/memory/memory.usage_in_bytes": "1000\n",
            },
            (None, None),
            id="version 1 without limits",
        ),
    ],
)
def test_memory_limits_of_control_groups(
    tmp_path: Path, files: dict[str, str], expected: tuple[int | None, int | None]
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, "utf-8")
    assert memory_limit(tmp_path / "root", tmp_path / "membership") == MemoryLimit(*expected)
    assert memory_limit(tmp_path / "root", tmp_path / "nothing") == MemoryLimit(None, None)
