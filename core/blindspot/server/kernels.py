"""Kernels of rankings, compiled and loaded by the server before a page needs them.

A page would wait for numba's import (a third of a second) and, in a fresh cache, for the compiler (seconds).
"""

from __future__ import annotations

import logging
import time

from blindspot.errors import BlindspotError
from blindspot.settings import Settings, prepare_runtime

log = logging.getLogger(__name__)
LOOK_SECONDS = 0.5
MOST_BUSY = 0.2  # of a core: what the process may use and still count as idle
PATIENCE_SECONDS = 60.0  # for it to be idle


def ready_kernels(settings: Settings) -> None:
    """Compile what is not compiled yet, then load it, both once the first page is drawn; never raises.

    Compiling uses another process; loading holds the interpreter for half a second.
    """
    try:
        wait_until_idle()
        prepare_runtime(settings)
        from blindspot.numerics import warm_up

        warm_up.compile_elsewhere()
        wait_until_idle()
        warm_up.warm_up()
    except (BlindspotError, OSError, ImportError, RuntimeError) as error:
        log.warning("rankings will compile their kernels when they are needed: %s", error)


def wait_until_idle() -> None:
    """Return when the process does next to nothing, or its patience ends."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    used = time.process_time()
    while time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
        before, used = used, time.process_time()
        if used - before < MOST_BUSY * LOOK_SECONDS:
            return
