"""Which device an encoder runs on, and which one counts ranks."""

from __future__ import annotations

import sys
from pathlib import Path

from core.errors import BlindspotError


def resolve_device(wanted: str) -> str:
    """Turn ``auto`` into the best device there is, and check that a named one exists.

    Args:
        wanted: ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps`` (already validated by the settings).

    Raises:
        BlindspotError: the named device is not on this machine.
    """
    import torch

    gpus = _gpus()
    mps = torch.backends.mps.is_available()
    if wanted == "auto":
        return "cuda:0" if gpus else "mps" if mps else "cpu"
    if wanted.startswith("cuda"):
        index = int(wanted.partition(":")[2] or 0)
        if index >= gpus:
            raise BlindspotError(
                f"BLINDSPOT_DEVICE is '{wanted}' but this machine shows {gpus} CUDA device(s)",
                remedy="set BLINDSPOT_DEVICE=auto or cpu, or install a CUDA build of torch",
            )
        return f"cuda:{index}"
    if wanted == "mps" and not mps:
        raise BlindspotError(
            "BLINDSPOT_DEVICE is 'mps' but torch sees no Apple GPU", remedy="set BLINDSPOT_DEVICE=auto"
        )
    return wanted


def device_for_ranking(wanted: str) -> str:
    """The GPU that ranks are counted on (``cuda:N``), or ``cpu``; the counts are the same.

    A named GPU that is not there matters only when encoding, and Apple's has no float64, which decides what float32
    cannot. torch is imported only where there may be a GPU.
    """
    if wanted in {"cpu", "mps"} or not _may_have_cuda():
        return "cpu"
    index = int(wanted.partition(":")[2] or 0)
    return f"cuda:{index}" if index < _gpus() else "cpu"


def _gpus() -> int:
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def _may_have_cuda() -> bool:
    """Whether it is worth to ask torch, whose import takes seconds."""
    if "torch" in sys.modules or sys.platform == "win32":
        return True
    return any(Path(driver).exists() for driver in ("/proc/driver/nvidia", "/dev/dxg", "/dev/kfd"))
