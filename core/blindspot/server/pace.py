"""Pace of browsers' messages on a server that strangers use: so much at once, then so much a second.

Who is faster waits; meanwhile nothing more is read of that connection, so that its browser cannot send more.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import monotonic


@dataclass
class Pace:
    """A token bucket: ``burst`` tokens at once, ``rate`` a second after those. Turns are first come, first served."""

    rate: float
    burst: float
    _empty_until: float = 0.0

    async def turn(self, tokens: float) -> None:
        """Wait until there are so many tokens, and take them."""
        now = monotonic()
        self._empty_until = max(self._empty_until, now - self.burst / self.rate) + tokens / self.rate
        if self._empty_until > now:
            await asyncio.sleep(self._empty_until - now)
