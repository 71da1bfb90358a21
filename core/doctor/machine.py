"""Checks of the GPUs, processor cores and memory that this process may use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import joblib
import psutil

from blindspot.doctor.cgroups import MemoryLimit, memory_limit
from blindspot.doctor.findings import GIB, Finding, note, ok, problem, problem_of, size
from blindspot.encoders.device import resolve_device
from blindspot.errors import BlindspotError, is_pinned, library_missing, reinstall
from blindspot.settings import Settings

DEVICES = "devices"
LEAST_MEMORY = 2 * GIB  # available; MiniLM with torch takes half of it
LEAST_GPU_MEMORY = GIB
NVIDIA_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True)
class NvidiaDriver:
    """Output of ``nvidia-smi -L``: a line per GPU, or why there is none."""

    gpus: tuple[str, ...] = ()
    error: str = ""


def device(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """The device in use against ``BLINDSPOT_DEVICE``, every GPU, and one that torch cannot use."""
    try:
        import torch
    except (ImportError, OSError) as error:  # OSError: a linked library is missing
        if not is_pinned() and isinstance(error, ImportError) and (missing := library_missing(error, "minilm")):
            yield problem_of(DEVICES, "torch", missing)
            return
        remedy = f"install it again: {sys.executable} -m {reinstall('torch')}"
        yield problem(DEVICES, "torch", f"torch cannot be imported: {error}", remedy)
        return
    with warnings.catch_warnings(record=True) as warned:  # torch only warns if the driver is too old
        warnings.simplefilter("always")
        try:
            used = resolve_device(settings.device)
        except BlindspotError as error:
            yield problem_of(DEVICES, "device", error)
        else:
            yield ok(DEVICES, "device", f"encoders run on {used} (BLINDSPOT_DEVICE is {settings.device})")
        can_cuda = torch.cuda.is_available()
        can_mps = torch.backends.mps.is_available()
    yield ok(DEVICES, "torch", f"torch {torch.__version__}, {_build(torch)}")
    if can_cuda or can_mps:
        yield _not_measured(settings, "cuda" if can_cuda else "mps")
    if can_cuda:
        yield from _gpus(torch)
        return
    unused = unused_gpu(
        nvidia_driver(),
        has_cuda=torch.version.cuda is not None or torch.version.hip is not None,
        warned="; ".join(str(w.message) for w in warned),
        settings=settings,
        torch_version=torch.__version__.partition("+")[0],
        environment=environment,
    )
    if unused:
        yield unused
    elif not can_mps:
        yield ok(DEVICES, "GPU", "none that torch can use")


def _not_measured(settings: Settings, device: str) -> Finding:
    """Of a GPU that torch can use: it has to be asked for."""
    what = "a GPU is here; how fast Blindspot is on one was never measured"
    if settings.device in {"auto", "cpu"}:
        return note(DEVICES, "speed", f"{what}, so the CPU is used", f"to try it set BLINDSPOT_DEVICE={device}")
    return note(DEVICES, "speed", what, "compare: blindspot bench gpu_rank gpu_encode")


def _build(torch: Any) -> str:
    if torch.version.cuda:
        return f"built for CUDA {torch.version.cuda}"
    if torch.version.hip:
        return f"built for ROCm {torch.version.hip}"
    return "with Apple's GPU" if torch.backends.mps.is_available() else "built for the CPU only"


def _gpus(torch: Any) -> Iterator[Finding]:
    for number in range(torch.cuda.device_count()):
        name = f"cuda:{number}"
        title = torch.cuda.get_device_name(number)
        try:
            free, total = torch.cuda.mem_get_info(number)
        except RuntimeError as error:  # in exclusive use, or broken
            remedy = "see with nvidia-smi which program uses it, or set BLINDSPOT_DEVICE to another device"
            yield problem(DEVICES, name, f"{title} does not answer: {str(error).splitlines()[0]}", remedy)
            continue
        what = f"{title}, {size(free)} of {size(total)} free"
        if free < LEAST_GPU_MEMORY:
            yield note(DEVICES, name, what, "other programs fill it: see nvidia-smi, or set BLINDSPOT_DEVICE=cpu")
        else:
            yield ok(DEVICES, name, what)


def nvidia_driver() -> NvidiaDriver | None:
    """GPUs known to NVIDIA's driver; None without ``nvidia-smi``."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - the driver's own program
            [program, "-L"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=NVIDIA_PATIENCE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return NvidiaDriver(error=str(error))
    gpus = tuple(line.partition(" (UUID")[0].strip() for line in done.stdout.splitlines() if line.startswith("GPU "))
    said = f"{done.stdout} {done.stderr}".strip() or f"exit code {done.returncode}"
    return NvidiaDriver(gpus, "" if gpus else said)


def unused_gpu(
    driver: NvidiaDriver | None,
    *,
    has_cuda: bool,
    warned: str,
    settings: Settings,
    torch_version: str,
    environment: Mapping[str, str],
) -> Finding | None:
    """Finding about an NVIDIA GPU that torch cannot use, or None; only a note if the CPU was asked for.

    Args:
        has_cuda: whether this torch is built for GPUs.
        warned: torch's warnings while it looked for GPUs.
    """
    if driver is None:
        return None
    if driver.error:
        remedy = "restart the machine; if that does not help, install NVIDIA's driver again"
        return note(DEVICES, "GPU", f"nvidia-smi is here but shows no GPU: {driver.error}", remedy)
    here = ", ".join(driver.gpus)
    hidden = environment.get("CUDA_VISIBLE_DEVICES")
    if not has_cuda:
        what = f"{here} is not used: this torch is built for the CPU only"
        remedy = (
            f"install the build for GPUs: {sys.executable} -m pip install --force-reinstall torch=={torch_version} "
            "-c constraints.txt, with no index of CPU builds set (pip config list shows it)"
        )
    elif hidden is not None and not hidden.strip("-1 "):
        return note(DEVICES, "GPU", f"{here} is hidden: CUDA_VISIBLE_DEVICES is '{hidden}'", "unset it to use the GPU")
    else:
        what = f"{here} is not used: torch finds no GPU{f' ({warned})' if warned else ''}"
        remedy = "update NVIDIA's driver to one for torch's CUDA version; nvidia-smi shows up to which it goes"
    if settings.device in {"auto", "cpu"}:
        return note(DEVICES, "GPU", f"{what}; BLINDSPOT_DEVICE is {settings.device}, the CPU in any case", remedy)
    return problem(DEVICES, "GPU", what, remedy)


def processor(limit: MemoryLimit | None = None) -> Iterator[Finding]:
    """Cores and memory that this process may use; ``limit`` is that of its control groups unless given."""
    yield ok(DEVICES, "cores", f"{joblib.cpu_count()} of {os.cpu_count() or 1} usable")

    limit = limit or memory_limit()
    machine = psutil.virtual_memory()
    total = min(machine.total, limit.total or machine.total)
    left = machine.available if limit.left is None else min(machine.available, limit.left)
    what = f"{size(left)} of {size(total)} available"
    if total < machine.total:
        what += f"; the machine has {size(machine.total)}, this process may use part of it"
    if left < LEAST_MEMORY:
        remedy = "close other programs, or give the container or the service more memory"
        yield problem(DEVICES, "memory", f"{what}; expected at least {size(LEAST_MEMORY)}", remedy)
    else:
        yield ok(DEVICES, "memory", what)
