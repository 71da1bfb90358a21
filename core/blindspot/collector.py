"""Python's collector of cyclic garbage, paused while large libraries are imported.

What an import makes stays, and there is ever more of it to look through: with torch and sentence-transformers 0.4 of
6.4 s.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Pauses:
    lock = threading.Lock()
    count = 0


@contextmanager
def collector_paused() -> Iterator[None]:
    """Context in which nothing is collected, in any thread; for seconds. Where it was off before, it stays off."""
    with _Pauses.lock:
        is_ours = _Pauses.count > 0 or gc.isenabled()
        _Pauses.count += is_ours
        gc.disable()
    try:
        yield
    finally:
        with _Pauses.lock:
            _Pauses.count -= is_ours
            if is_ours and not _Pauses.count:
                gc.enable()
