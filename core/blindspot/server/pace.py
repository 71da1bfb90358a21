"""Pace of browsers' messages on a server that strangers use: so much at once, then so much a second.

Who is faster waits; meanwhile one message more is read of that connection, so that its browser cannot send many, and
whoever has left takes nobody's turn.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from time import monotonic


@dataclass
class Pace:
    """A token bucket: ``burst`` tokens at once, ``rate`` a second after those.

    Turns are first come, first served. Who is cancelled while waiting has taken nothing.
    """

    rate: float
    burst: float
    _empty_until: float = 0.0
    _line: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def turn(self, tokens: float) -> None:
        """Wait until there are so many tokens, and take them."""
        async with self._line:
            now = monotonic()
            empty_until = max(self._empty_until, now - self.burst / self.rate) + tokens / self.rate
            if empty_until > now:
                await asyncio.sleep(empty_until - now)
            self._empty_until = empty_until
