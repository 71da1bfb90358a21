"""Devices: the one an encoder runs on, and the one that counts ranks."""

from __future__ import annotations

import sys
from pathlib import Path

from blindspot.errors import BlindspotError


def resolve_device(wanted: str) -> str:
    """Device for ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps``.

    ``auto`` is the CPU even where torch sees a GPU, as long as nobody has measured Blindspot on one.

    Raises:
        BlindspotError: this machine has no such device.
    """
    if wanted in {"auto", "cpu"}:
        return "cpu"
    import torch

    if wanted.startswith("cuda"):
        index, gpus = int(wanted.partition(":")[2] or 0), _gpus()
        if index >= gpus:
            raise BlindspotError(
                f"BLINDSPOT_DEVICE is '{wanted}' but this machine shows {gpus} CUDA device(s)",
                remedy="set BLINDSPOT_DEVICE=auto or cpu, or install a CUDA build of torch",
            )
        return f"cuda:{index}"
    if wanted == "mps" and not torch.backends.mps.is_available():
        raise BlindspotError(
            "BLINDSPOT_DEVICE is 'mps' but torch sees no Apple GPU", remedy="set BLINDSPOT_DEVICE=auto"
        )
    return wanted


def device_for_ranking(wanted: str) -> str:
    """The GPU that ranks are counted on (``cuda:N``), or ``cpu``; the counts are the same.

    A named GPU that is missing is an error only when encoding; Apple's has no float64, which near-ties need. torch
    takes seconds to import, so it is imported only where there may be a GPU.
    """
    drivers = ("/proc/driver/nvidia", "/dev/dxg", "/dev/kfd")
    may_have_gpu = "torch" in sys.modules or sys.platform == "win32" or any(Path(driver).exists() for driver in drivers)
    if not wanted.startswith("cuda") or not may_have_gpu:
        return "cpu"
    index = int(wanted.partition(":")[2] or 0)
    return f"cuda:{index}" if index < _gpus() else "cpu"


def _gpus() -> int:
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0
