# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measure one host: its RTTs by pings, and the smallest TTL with which a SYN reaches it."""

import asyncio
import socket
import time
from collections import Counter
from dataclasses import dataclass

from tcplearn.collect.hosts import Target
from tcplearn.collect.probe import HOP_LIMIT, Answer, Destination, Prober, Reply
from tcplearn.collect.rows import Row

#: The number of pings after which a host without any answer is given up.
GIVE_UP = 4
#: A hop counts as silent after this many unanswered probes; at 10 % loss all are lost once in 100,000 hops.
TRIES = 5
#: The largest factor by which back-off multiplies the interval between probes.
BACK_OFF_MAX = 8
#: The usual initial TTLs of hosts. The initial TTL minus the TTL of an answer is the number of routers.
_TTLS = (64, 128, 255)


@dataclass(frozen=True, slots=True)
class Settings:
    count: int = 10  # number of pings
    interval_s: float = 0.5  # between two probes of a host
    # a host whose SYN-ACK is not acknowledged retransmits it after a second (RFC 6298, 2.1)
    timeout_s: float = 1.0
    trace: bool = True
    family: int = 0  # 4, 6, or 0 for either


class _Visit:
    """The state of the measurement of one host."""

    def __init__(self, to: Destination, prober: Prober, settings: Settings) -> None:
        self.to, self.prober, self.settings = to, prober, settings
        self.rtts_us: list[int] = []
        self.ttls: Counter[int] = Counter()
        self.answers: Counter[Answer] = Counter()
        self.sent = 0
        self._silent = 0  # number of successive probes without an answer
        self._next_s = 0.0

    async def _probe(self, hop_limit: int) -> Reply:
        """Send the next probe and return the reply. Each successive probe without an answer doubles the
        interval to the next, up to `BACK_OFF_MAX` times the usual interval."""
        loop = asyncio.get_running_loop()
        if (wait_s := self._next_s - loop.time()) > 0:
            await asyncio.sleep(wait_s)
        started_s = loop.time()
        reply = await self.prober.probe(self.to, hop_limit, self.settings.timeout_s)
        self._silent = self._silent + 1 if reply.answer is Answer.silent else 0
        back_off = min(2**self._silent, BACK_OFF_MAX)
        self._next_s = started_s + self.settings.interval_s * back_off
        return reply

    async def ping(self) -> Reply:
        reply = await self._probe(HOP_LIMIT)
        self.sent += 1
        self.answers[reply.answer] += 1
        if reply.by_host and reply.rtt_us is not None:
            self.rtts_us.append(reply.rtt_us)
            if reply.ttl is not None:
                self.ttls[reply.ttl] += 1
        return reply

    @property
    def hopeless(self) -> bool:
        refused = self.answers[Answer.unreachable]
        return not self.rtts_us and (refused >= 2 or self.sent >= GIVE_UP)

    async def _reaches(self, hop_limit: int) -> bool | None:
        """Return whether a SYN with TTL `hop_limit` reaches the host, or None if there is no answer."""
        for _ in range(TRIES):
            reply = await self._probe(hop_limit)
            if reply.by_host:
                return True
            if reply.answer is Answer.expired:
                return False
        return None

    async def hops(self) -> int | None:
        """Return the number of routers on the path, or None if the host no longer answers. The search for the
        smallest TTL that reaches the host starts from an estimate from the TTLs of the host's answers."""
        limit = self._guess()
        if await self._reaches(limit):
            return await self._down_from(limit)
        while limit < HOP_LIMIT:
            limit += 1
            found = await self._reaches(limit)
            if found:
                return limit - 1
            if found is None and not (await self.ping()).by_host:
                return None
        return None

    async def _down_from(self, limit: int) -> int | None:
        """Return the number of routers on the path, given that TTL `limit` reaches the host. If a TTL gets no
        answer but the host still answers to the next larger one, that TTL is too small; if the host does not
        answer, return None."""
        while limit > 1:
            found = await self._reaches(limit - 1)
            if found is False:
                return limit - 1
            if found is None:
                return limit - 1 if await self._reaches(limit) else None
            limit -= 1
        return 0

    def _guess(self) -> int:
        if not self.ttls:
            return 1
        ttl = self.ttls.most_common(1)[0][0]
        return min(next(start for start in _TTLS if ttl <= start) - ttl + 1, HOP_LIMIT)

    @property
    def state(self) -> str:
        told = (Answer.open, Answer.closed, Answer.unreachable)
        return next((answer for answer in told if self.answers[answer]), Answer.silent).value


async def measure(target: Target, prober: Prober, settings: Settings) -> Row:
    """Measure the host `target` and return the row of its results. Network failures are shown in the row."""
    row = Row(host=target.host, port=target.port, method=prober.name, started_us=_now_us())
    to = await _resolve(target, settings.family)
    if to is None:
        row.state = "unresolved"
    else:
        row.address = to.address
        await _visit(_Visit(to, prober, settings), row)
    row.ended_us = _now_us()
    return row


async def _visit(visit: _Visit, row: Row) -> None:
    traced = not visit.settings.trace
    while visit.sent < visit.settings.count and not visit.hopeless:
        await visit.ping()
        if visit.rtts_us and not traced:
            row.hops = await visit.hops()
            traced = True
    row.state = visit.state
    row.ttl = visit.ttls.most_common(1)[0][0] if visit.ttls else None
    row.measured(visit.rtts_us, visit.sent)


async def _resolve(target: Target, family: int) -> Destination | None:
    wanted = {4: socket.AF_INET, 6: socket.AF_INET6}.get(family, socket.AF_UNSPEC)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            target.host, target.port, family=wanted, type=socket.SOCK_STREAM
        )
    except OSError:
        return None
    return Destination(found[0][0], str(found[0][4][0]), target.port) if found else None


def _now_us() -> int:
    return time.time_ns() // 1000
