# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements a transport for httpx that sends an idempotent request again if its answer is late, and takes
the answer that comes first ("hedging"). A tcplearn.RetryTimer for each host decides when, so that spurious
retransmissions stay at about the share `rate` of the requests.

    client = httpx.AsyncClient(transport=HedgedTransport(rate=0.01))

python hedged_httpx.py --requests 600    # against a server on the loopback interface, with late answers"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator

import httpx

import tcplearn

#: Methods whose requests have the same effect if they are sent twice (RFC 9110, 9.2.2) and change nothing.
IDEMPOTENT = {"GET", "HEAD", "OPTIONS"}
MOST_COPIES = 3
Answer = asyncio.Task[httpx.Response]


def now_us() -> int:
    return time.monotonic_ns() // 1000


class _Host:
    """Holds the retry timer of a host, and the requests that wait until the timer lets them be sent again."""

    def __init__(self, rate: float) -> None:
        self.timer = tcplearn.RetryTimer(rate=rate)
        self.due: dict[int, asyncio.Event] = {}
        self.sooner = asyncio.Event()  # set when an answer has moved deadlines to earlier times

    def answered(self, id: int, copy: int) -> None:
        """Record that transmission `copy` of the request `id` was answered."""
        before = self.timer.deadline_us() or 0
        self.timer.answered(id, now_us(), copy)
        if (self.timer.deadline_us() or before) < before:
            self.sooner.set()
            self.sooner = asyncio.Event()

    def look(self) -> None:
        """Wake each request that is now due to be sent again."""
        for id, _ in self.timer.fired(now_us()):
            self.due[id].set()

    @contextlib.contextmanager
    def begun(self, id: int) -> Iterator[asyncio.Event]:
        self.timer.sent(id, now_us())
        self.due[id] = asyncio.Event()
        try:
            yield self.due[id]
        finally:
            del self.due[id]
            with contextlib.suppress(tcplearn.RetryTimer.NotWaiting):  # it was answered
                self.timer.cancelled(id)


class HedgedTransport(httpx.AsyncBaseTransport):
    """Sends a request again if its answer is late. Spurious retransmissions are at most about the share
    `rate` of the requests. Errors are those of the transport `inner` (None: that of httpx)."""

    def __init__(self, rate: float = 0.01, inner: httpx.AsyncBaseTransport | None = None) -> None:
        self._inner = inner or httpx.AsyncHTTPTransport()
        self._rate = rate
        self._hosts: dict[bytes, _Host] = {}
        self._numbers = itertools.count()

    def counts(self) -> dict[str, int]:
        """Return the numbers of events at the retry timers, such as answers and retransmissions, by name,
        summed over all hosts."""
        every = [host.timer.counts for host in self._hosts.values()]
        return {name: sum(one[name] for one in every) for name in every[0]} if every else {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host = self._hosts.setdefault(request.url.netloc, _Host(self._rate))
        if request.method not in IDEMPOTENT or host.timer.out == host.timer.most_out:
            return await self._inner.handle_async_request(request)
        await request.aread()
        id = next(self._numbers)
        with host.begun(id) as due:
            return await self._first(request, host, id, due)

    async def _first(
        self, request: httpx.Request, host: _Host, id: int, due: asyncio.Event
    ) -> httpx.Response:
        """Return the answer that comes first. If every copy of the request fails, raise the error of the last
        copy."""
        copies = [self._sent(request)]
        try:
            while True:
                answered = await self._waited(copies, host, id, due)
                for copy, task in enumerate(copies):
                    if task in answered and not task.exception():
                        host.answered(id, copy)
                        copies.remove(task)
                        return task.result()
                if all(task.done() for task in copies):
                    return copies[-1].result()
                if due.is_set() and len(copies) < MOST_COPIES:
                    copies.append(self._sent(request))
                due.clear()
        finally:
            await _dropped(copies)

    def _sent(self, request: httpx.Request) -> Answer:
        return asyncio.ensure_future(self._inner.handle_async_request(request))

    async def _waited(self, copies: list[Answer], host: _Host, id: int, due: asyncio.Event) -> set[Answer]:
        """Wait until a copy is answered or fails, or another copy is due. Return the finished copies."""
        left_s = ((host.timer.deadline_us(id) or now_us()) - now_us()) / 1e6
        sooner = asyncio.ensure_future(host.sooner.wait())
        out = [sooner, *(task for task in copies if not task.done())]
        try:
            done, _ = await asyncio.wait(out, timeout=max(left_s, 0), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sooner.cancel()
        if not done and not due.is_set():
            host.look()
        return {task for task in copies if task in done}

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _dropped(copies: list[Answer]) -> None:
    """Cancel the copies of a request whose answers are not needed."""
    for task in copies:
        task.cancel()
    for answer in await asyncio.gather(*copies, return_exceptions=True):
        if isinstance(answer, httpx.Response):
            await answer.aclose()


async def serve(late: float, seed: int) -> asyncio.Server:
    """Start a server on the loopback interface; the share `late` of its answers takes 0.2 s longer."""
    dice = random.Random(seed)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(dice.uniform(0.001, 0.003) + 0.2 * (dice.random() < late))
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
                await writer.drain()
        writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", 0)


async def times_ms(client: httpx.AsyncClient, url: str, requests: int) -> list[float]:
    """Send requests to `url` one after another and return their response times in ms, in ascending order."""
    took = []
    for _ in range(requests):
        begun = time.monotonic()
        assert (await client.get(url)).text == "ok"
        took.append(1000 * (time.monotonic() - begun))
    return sorted(took)


async def main(requests: int, seed: int) -> None:
    server = await serve(0.02, seed)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    hedged = HedgedTransport(rate=0.01)
    for name, transport in (("httpx", httpx.AsyncHTTPTransport()), ("hedged", hedged)):
        async with httpx.AsyncClient(transport=transport) as client:
            took = await times_ms(client, url, requests)
        print(f"{name:7} median {took[requests // 2]:5.1f} ms, p99 {took[requests * 99 // 100]:6.1f} ms")
    counts = hedged.counts()
    print(f"{counts['resends']} second copies in {requests} requests, {counts['needless']} of them spurious")
    server.close()


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    asyncio.run(main(given.requests, given.seed))
