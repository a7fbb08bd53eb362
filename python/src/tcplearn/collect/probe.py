# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define a probe of a host (a SYN) and its reply, and limit the rate of probes."""

import asyncio
import enum
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

Sent = TypeVar("Sent")

#: Errors of send() and connect() that mean that there is no route to the host.
NO_ROUTE = frozenset({"ENETUNREACH", "EHOSTUNREACH", "EHOSTDOWN", "ENETDOWN", "EACCES", "EPERM", "EINVAL"})
HOP_LIMIT = 64


class Answer(enum.StrEnum):
    open = "open"  # SYN-ACK
    closed = "closed"  # RST
    expired = "expired"  # from a router on the path: the TTL has expired
    unreachable = "unreachable"  # from a router or this machine: no route to the host
    silent = "silent"


@dataclass(frozen=True, slots=True)
class Reply:
    answer: Answer
    rtt_us: int | None = None
    ttl: int | None = None  # TTL of the answer on arrival

    @property
    def by_host(self) -> bool:
        """Return whether the reply is from the host itself and not from a router."""
        return self.answer in (Answer.open, Answer.closed)


SILENT = Reply(Answer.silent)
UNREACHABLE = Reply(Answer.unreachable)


@dataclass(frozen=True, slots=True)
class Destination:
    family: socket.AddressFamily
    address: str
    port: int

    @property
    def sockaddr(self) -> tuple[str, int]:
        return self.address, self.port


class Prober(Protocol):
    """Sends SYNs at a limited rate. The method probe() sends one with the TTL `hop_limit`, and returns the
    reply or, after `timeout_s` seconds, SILENT."""

    name: str

    async def probe(self, to: Destination, hop_limit: int, timeout_s: float) -> Reply: ...

    def close(self) -> None: ...


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
