"""GPUs, cores and memory: what is asked for and not there, what is there and not used, and limits of containers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from core.doctor import machine
from core.doctor.cgroups import Limits, limits
from core.doctor.findings import GIB, Finding, State
from core.settings import Settings

DRIVER = machine.NvidiaDriver(("GPU 0: NVIDIA H200",))


def by_name(findings: Iterator[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


# --- devices


def test_the_device_that_is_used_is_named(settings: Settings) -> None:
    found = by_name(machine.device(settings, {}))
    assert found["device"].state is State.OK
    assert "encoders run on cpu" in found["device"].what
    assert found["torch"].state is State.OK


def test_a_gpu_that_is_asked_for_and_not_there_is_a_problem(settings: Settings) -> None:
    found = by_name(machine.device(replace(settings, device="cuda:99"), {}))["device"]
    assert found.state is State.PROBLEM
    assert "'cuda:99'" in found.what
    assert "BLINDSPOT_DEVICE=auto" in found.remedy


def nvidia_smi(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of that name, the first on the path."""
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


TWO_GPUS = "echo 'GPU 0: NVIDIA H200 (UUID: GPU-1)'; echo 'GPU 1: NVIDIA L4 (UUID: GPU-2)'"


@pytest.mark.skipif(has_gpu(), reason="this machine has a GPU that torch uses")
@pytest.mark.parametrize(("device", "state"), [("auto", State.PROBLEM), ("cpu", State.NOTE)])
def test_a_gpu_that_torch_leaves_unused(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, state: State
) -> None:
    nvidia_smi(tmp_path, TWO_GPUS, monkeypatch)
    found = by_name(machine.device(replace(settings, device=device), {}))["GPU"]
    assert found.state is state
    assert found.what.startswith("GPU 0: NVIDIA H200, GPU 1: NVIDIA L4 is not used")
    assert found.remedy


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
    found = unused(machine.nvidia_driver(), settings)
    assert found is not None
    assert found.state is State.NOTE
    assert error in found.what
    assert "driver" in found.remedy


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
    wanted = replace(settings, device="auto")
    return machine.unused_gpu(
        driver, has_cuda=has_cuda, warned=warned, settings=wanted, torch_version="2.0", environment=environment
    )


def test_a_cpu_build_beside_a_gpu_is_replaced_by_pip(settings: Settings) -> None:
    found = unused(DRIVER, settings)
    assert found is not None
    assert found.state is State.PROBLEM
    assert "CPU only" in found.what
    assert "pip install --force-reinstall torch==2.0" in found.remedy


def test_a_driver_that_is_too_old(settings: Settings) -> None:
    found = unused(DRIVER, settings, has_cuda=True, warned="The NVIDIA driver on your system is too old")
    assert found is not None
    assert found.state is State.PROBLEM
    assert "too old" in found.what
    assert "driver" in found.remedy


@pytest.mark.parametrize("visible", ["", "-1"])
def test_a_gpu_that_is_hidden_on_purpose(settings: Settings, visible: str) -> None:
    found = unused(DRIVER, settings, has_cuda=True, visible=visible)
    assert found is not None
    assert found.state is State.NOTE
    assert "CUDA_VISIBLE_DEVICES" in found.what
    shown = unused(DRIVER, settings, has_cuda=True, visible="0")
    assert shown is not None
    assert shown.state is State.PROBLEM


# --- cores and memory


def test_this_machine_has_cores_and_memory() -> None:
    found = by_name(machine.processor(Limits(None, None, None)))
    assert found["cores"].what.startswith(f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} usable")
    total = psutil.virtual_memory().total / GIB
    assert f"of {total:,.1f} GiB available" in found["memory"].what


def test_little_memory_is_a_problem_although_the_machine_has_more() -> None:
    found = by_name(machine.processor(Limits(0.5, 3 * GIB, GIB)))
    assert "for 0.5 cores' time" in found["cores"].what
    assert found["memory"].state is State.PROBLEM
    assert found["memory"].what.startswith("1.0 GiB of 3.0 GiB available; the machine has")
    assert found["memory"].remedy
    assert by_name(machine.processor(Limits(None, None, 2 * GIB)))["memory"].state is State.OK


def write(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, "utf-8")


def test_limits_of_version_2_are_the_tightest_on_the_way_up(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "membership": "0::/service/job\n",
            "root/service/cpu.max": "150000 100000\n",
            "root/service/memory.max": "8000\n",
            "root/service/memory.current": "7000\n",
            "root/service/memory.stat": "anon 5000\ninactive_file 1500\n",
            "root/service/job/cpu.max": "max 100000\n",
            "root/service/job/memory.max": "max\n",
            "root/service/job/memory.current": "7000\n",
        },
    )
    assert limits(tmp_path / "root", tmp_path / "membership") == Limits(1.5, 8000, 2500)


def test_limits_of_version_1(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "membership": "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n0::/\n",
            "root/memory/memory.limit_in_bytes": "6000\n",  # as a container sees its own, whatever its path outside
            "root/memory/memory.usage_in_bytes": "1000\n",
            "root/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 400\n",
            "root/cpu,cpuacct/cpu.cfs_quota_us": "50000\n",
            "root/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
    )
    assert limits(tmp_path / "root", tmp_path / "membership") == Limits(0.5, 6000, 5400)


def test_no_limits(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "membership": "4:memory:/\n2:cpu:/\n",
            "root/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "root/memory/memory.usage_in_bytes": "1000\n",
            "root/cpu/cpu.cfs_quota_us": "-1\n",
            "root/cpu/cpu.cfs_period_us": "100000\n",
        },
    )
    assert limits(tmp_path / "root", tmp_path / "membership") == Limits(None, None, None)
    assert limits(tmp_path / "root", tmp_path / "nothing") == Limits(None, None, None)
