"""Pace of browsers' messages on a server that strangers use: so many at once, then so many a second.

Who is faster waits; meanwhile nothing is read of that connection, so that its browser cannot send more.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import monotonic


@dataclass
class Pace:
    """A token bucket: ``burst`` messages at once, ``rate`` a second after those. Turns are first come, first served."""

    rate: float
    burst: int
    _next: float = 0.0  # when the bucket has been filled up by the messages so far

    async def turn(self) -> None:
        """Wait until one more message may be read."""
        now = monotonic()
        self._next = max(self._next, now - self.burst / self.rate) + 1 / self.rate
        if self._next > now:
            await asyncio.sleep(self._next - now)
