# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test examples/retry/hedged_httpx.py over real connections: a second copy of a request replaces an answer
that never comes, and errors are passed on."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
from collections import Counter
from types import ModuleType

import httpx
import pytest

from samples import ROOT


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "hedged_httpx", ROOT / "examples" / "retry" / "hedged_httpx.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Numbered(httpx.AsyncBaseTransport):
    """Sends each copy of a request with its number, from 0, in the header `copy`, because a copy may reach
    the server before an earlier one that waits for a new connection."""

    def __init__(self) -> None:
        self._inner = httpx.AsyncHTTPTransport()
        self._copies: Counter[str] = Counter()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        copy = self._copies[str(request.url)]
        self._copies[str(request.url)] += 1
        headers = {**request.headers, "copy": str(copy)}
        return await self._inner.handle_async_request(
            httpx.Request(request.method, request.url, headers=headers, extensions=request.extensions)
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


async def server_that_forgets() -> tuple[asyncio.Server, set[str]]:
    """Start a server that does not answer the first copy of a request for a path that ends in 7: copy 0, if
    copies are numbered, and otherwise the one that comes first. Return the server and the requested paths."""
    seen: set[str] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split()[1].decode()
                first = b"\r\ncopy: 0\r\n" in head if b"\r\ncopy: " in head else path not in seen
                seen.add(path)
                if first and path.endswith("7"):
                    continue
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
                await writer.drain()
        writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", 0), seen


def test_answers_that_never_come_are_overtaken(example: ModuleType) -> None:
    """Test fifty requests, then eight times fifty at once. Every tenth request is answered only at its second
    copy."""

    async def run() -> dict[str, int]:
        server, seen = await server_that_forgets()
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        transport = example.HedgedTransport(rate=0.05, inner=Numbered())

        async def ask(numbers: range) -> None:
            for number in numbers:
                assert (await client.get(f"{url}{number}")).text == "ok"

        async with httpx.AsyncClient(transport=transport, timeout=None) as client:
            await ask(range(50))
            await asyncio.gather(*(ask(range(begin, begin + 50)) for begin in range(50, 450, 50)))
        server.close()
        assert len(seen) == 450
        return transport.counts()

    counts = asyncio.run(run())
    assert counts["requests"] == counts["answers"] == 450
    assert counts["resends"] - counts["needless"] >= 45, counts


def test_errors_are_those_of_the_connection(example: ModuleType) -> None:
    async def run() -> None:
        async with httpx.AsyncClient(transport=example.HedgedTransport()) as client:
            await client.get("http://127.0.0.1:9/")

    with pytest.raises(httpx.ConnectError):
        asyncio.run(run())


def test_what_changes_something_is_sent_once(example: ModuleType) -> None:
    class Slow(httpx.AsyncBaseTransport):
        sent = 0

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            self.sent += 1
            await asyncio.sleep(1.3)  # the timer's first wait is a second
            return httpx.Response(200, text="ok")

    async def run(method: str) -> int:
        slow = Slow()
        async with httpx.AsyncClient(transport=example.HedgedTransport(inner=slow)) as client:
            assert (await client.request(method, "http://a/")).text == "ok"
        return slow.sent

    assert asyncio.run(run("POST")) == 1
    assert asyncio.run(run("GET")) == 2


def test_cancelled_requests_leave_no_task(example: ModuleType) -> None:
    async def run() -> None:
        server, _ = await server_that_forgets()
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with httpx.AsyncClient(transport=example.HedgedTransport(rate=0.05)) as client:
            for number in range(7, 200, 10):  # the first copy of each is not answered
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(client.get(f"{url}{number}"), 0.02)
            await asyncio.sleep(0.05)
            mine = [task for task in asyncio.all_tasks() if "Event.wait" in repr(task)]
        server.close()
        assert not mine

    asyncio.run(run())
