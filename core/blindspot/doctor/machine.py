"""Checks of the GPUs, processor cores and memory that this process may use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import joblib
import psutil

from blindspot.doctor.cgroups import MemoryLimit, memory_limit
from blindspot.doctor.findings import GIB, Finding, note, ok, problem, problem_of, size
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.device import resolve_device
from blindspot.encoders.gpu import self_check
from blindspot.encoders.gpu.self_check import Gpu, Outcome, Outcomes, check_ranks
from blindspot.encoders.references import Dtype
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.encoders.transformer.hub import HubEncoder
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
            large = ", large jobs on a GPU that passed its self-check" if settings.device == "auto" else ""
            yield ok(DEVICES, "device", f"encoders run on {used}{large} (BLINDSPOT_DEVICE is {settings.device})")
        can_cuda = torch.cuda.is_available()
        can_mps = torch.backends.mps.is_available()
    yield ok(DEVICES, "torch", f"torch {torch.__version__}, {_build(torch)}")
    if can_cuda or can_mps:
        yield from _checked(settings)
    if can_cuda:
        yield from _gpus(torch)
        return
    has_cuda = torch.version.cuda is not None or torch.version.hip is not None
    unused = unused_gpu(
        nvidia_driver(),
        has_cuda=has_cuda,
        warned="; ".join(str(w.message) for w in warned),
        settings=settings,
        torch_version=torch.__version__.partition("+")[0],
        environment=environment,
    )
    if unused:
        yield unused
    elif not can_mps:
        also = "" if has_cuda else ", and this torch is built for the CPU only"
        yield ok(DEVICES, "GPU", f"none that torch can use: there is no NVIDIA driver (nvidia-smi){also}")


def _checked(settings: Settings) -> Iterator[Finding]:
    """Outcomes of the self-checks that ``auto`` asks of a GPU."""
    again = "repeat it: blindspot doctor --gpu"
    outcomes = tuple(Outcomes(settings.cache / self_check.FOLDER).all())
    for outcome in outcomes:
        name = f"self-check of {outcome.subject}"
        yield ok(DEVICES, name, str(outcome)) if outcome.passed else note(DEVICES, name, str(outcome), again)
    if not outcomes:
        what = "no model was checked on it yet; a job that is large enough does it, if BLINDSPOT_DEVICE is auto"
        yield note(DEVICES, "self-check", what, "do it now: blindspot doctor --gpu")


def check_gpu(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Check the emptiest GPU anew, with MiniLM and every model that was checked before; say what half precision gains.
    Without a GPU, say what is missing.

    Yields each finding once it is there: a model takes some seconds.
    """
    try:
        gpu = self_check.emptiest_gpu()
    except (ImportError, OSError):  # of torch: told below
        gpu = None
    if gpu is None:
        yield from device(settings, environment)
        yield note(
            DEVICES, "self-check", "torch can use no GPU, so none was checked: everything is computed on the CPU"
        )
        return
    yield ok(DEVICES, "GPU", f"{gpu.device}, {gpu.name}")
    outcomes = Outcomes(settings.cache / self_check.FOLDER)
    before = [outcome.subject for outcome in outcomes.all() if outcome.subject != self_check.RANKS]
    outcomes.forget()
    outcome = outcomes.of([self_check.RANKS], gpu, self_check.RANKS, lambda: check_ranks(gpu.device, gpu.name))
    yield _of_outcome(outcome)
    for reference in dict.fromkeys(["minilm", *before]):
        yield from _check_model(reference, gpu, settings)


def _check_model(reference: str, gpu: Gpu, settings: Settings) -> Iterator[Finding]:
    name = f"self-check of {reference}"
    try:
        encoder = resolve_encoder(reference, replace(settings, device="auto"))
        if not isinstance(encoder, SentenceTransformerEncoder | HubEncoder):
            return
        model = encoder if isinstance(encoder, SentenceTransformerEncoder) else encoder.transformer
        outcome = model.check_on(gpu)
        yield _of_outcome(outcome)
        if outcome.passed and outcome.dtype == self_check.FLOAT32:
            offer = self_check.half_precision(
                model.on("cpu"), lambda dtype: model.in_precision(Dtype(dtype), gpu.device)
            )
            if offer:
                what = (
                    f"{offer.dtype} is {offer.times_as_fast:.1f} times as fast as float32, and vectors differ by up to "
                    f"{offer.difference:.1g} of their length: scores change in the third digit"
                )
                to_do = f"add dtype={offer.dtype} to the parameters of a dir: or hf: reference"
                yield note(DEVICES, f"half precision of {reference}", what, to_do)
    except BlindspotError as error:  # such as a folder that is no more
        yield note(DEVICES, name, error.what, error.remedy)


def _of_outcome(outcome: Outcome) -> Finding:
    name = f"self-check of {outcome.subject}"
    if outcome.passed:
        return ok(DEVICES, name, str(outcome))
    return problem(DEVICES, name, str(outcome), "BLINDSPOT_DEVICE=auto uses the CPU; update torch and the driver")


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
    output = f"{done.stdout} {done.stderr}".strip() or f"exit code {done.returncode}"
    return NvidiaDriver(gpus, "" if gpus else output)


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
        return note(DEVICES, "GPU", f"{what}; BLINDSPOT_DEVICE is {settings.device}, so the CPU is used", remedy)
    return problem(DEVICES, "GPU", what, remedy)


def processor(limit: MemoryLimit | None = None) -> Iterator[Finding]:
    """Cores and memory that this process may use; ``limit`` is the limit of its control groups unless given."""
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
