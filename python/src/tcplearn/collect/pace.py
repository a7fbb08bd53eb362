# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Pace all probes, so that the time between two probes is never shorter than the configured rate allows."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

Sent = TypeVar("Sent")


class Pacer:
    """Limits the rate of probes. Delayed probes are not sent faster afterwards, so there are no bursts."""

    def __init__(self, per_second: float) -> None:
        self.gap_s = 1 / per_second
        self._next_s = 0.0
        self._lock = asyncio.Lock()

    async def send(self, action: Callable[[], Sent]) -> Sent:
        """Call `action`, which sends a probe, when the rate allows it, and return the result of `action`."""
        loop = asyncio.get_running_loop()
        async with self._lock:
            while (wait_s := self._next_s - loop.time()) > 0:
                await asyncio.sleep(wait_s)
            try:
                return action()
            finally:
                self._next_s = loop.time() + self.gap_s
