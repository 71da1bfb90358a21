"""Which device an encoder runs on."""

from __future__ import annotations

from core.errors import BlindspotError


def resolve_device(wanted: str) -> str:
    """Turn ``auto`` into the best device there is, and check that a named one exists.

    Args:
        wanted: ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps`` (already validated by the settings).

    Raises:
        BlindspotError: the named device is not on this machine.
    """
    import torch

    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
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
