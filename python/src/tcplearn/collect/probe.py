# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One probe of a host and what came back."""

from __future__ import annotations

import enum
import socket
from dataclasses import dataclass
from typing import Protocol

#: Errors of a send or connect that say that there is no way to the host.
NO_ROUTE = frozenset({"ENETUNREACH", "EHOSTUNREACH", "EHOSTDOWN", "ENETDOWN", "EACCES", "EPERM", "EINVAL"})
HOP_LIMIT = 64


class Answer(enum.StrEnum):
    open = "open"  # SYN-ACK
    closed = "closed"  # RST
    expired = "expired"  # a router on the way: its TTL was used up
    unreachable = "unreachable"  # a router, or this machine: no way there
    silent = "silent"


@dataclass(frozen=True, slots=True)
class Reply:
    answer: Answer
    rtt_us: int | None = None
    ttl: int | None = None  # of the answer, as it came in

    @property
    def by_host(self) -> bool:
        """Of the host itself, not of a router."""
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
    """Sends SYNs, at the pace it was given."""

    name: str

    async def probe(self, to: Destination, hop_limit: int, timeout_s: float) -> Reply: ...

    def close(self) -> None: ...
