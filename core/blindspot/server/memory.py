"""Memory that a server's allocator keeps."""

from __future__ import annotations

import ctypes
import os
import sys

M_ARENA_MAX = -8  # of malloc.h
ARENAS = 2


def few_arenas() -> bool:
    """Let all threads share two of glibc's arenas, unless ``MALLOC_ARENA_MAX`` says otherwise; returns whether it was
    done.

    Each thread that allocates otherwise gets an arena of its own, up to eight per core, and what is freed in one is
    little use to another: a sixth of the memory after a demo.
    """
    if sys.platform != "linux" or "MALLOC_ARENA_MAX" in os.environ:
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # not in every C library
    return mallopt is not None and bool(mallopt(M_ARENA_MAX, ARENAS))
