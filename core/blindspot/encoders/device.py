"""Devices: the one an encoder runs on, and the one that counts ranks."""

from __future__ import annotations

from blindspot.encoders.gpu.self_check import emptiest, may_have_gpu
from blindspot.errors import BlindspotError


def resolve_device(wanted: str) -> str:
    """Device for ``auto``, ``cpu``, ``cuda`` (the emptiest), ``cuda:N`` or ``mps``.

    ``auto`` is the CPU here: a GPU is used for a job that is large enough (``blindspot.encoders.gpu.self_check``).

    Raises:
        BlindspotError: this machine has no such device.
    """
    if wanted in {"auto", "cpu"}:
        return "cpu"
    import torch

    if wanted.startswith("cuda"):
        gpus = _gpus()
        index = _index(wanted, gpus)
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
    """The GPU that ranks are counted on if one is named (``cuda:N``), else ``cpu``; the counts are the same.

    A named GPU that is missing is an error only when encoding; Apple's has no float64, which near-ties need. torch
    takes seconds to import, so it is imported only where there may be a GPU.
    """
    if not wanted.startswith("cuda") or not may_have_gpu():
        return "cpu"
    gpus = _gpus()
    index = _index(wanted, gpus)
    return f"cuda:{index}" if index < gpus else "cpu"


def _index(wanted: str, gpus: int) -> int:
    _, _, index = wanted.partition(":")
    return int(index) if index else emptiest(gpus)


def _gpus() -> int:
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0
