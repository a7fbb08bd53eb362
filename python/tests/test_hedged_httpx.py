# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""examples/retry/hedged_httpx.py over real connections: late answers are overtaken, errors come through."""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
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


def test_late_answers_are_overtaken(example: ModuleType) -> None:
    """400 requests, eight at a time; one answer in twenty is 200 ms late. The first fifty teach the timer."""

    async def run() -> tuple[list[float], dict[str, int]]:
        server = await example.serve(0.05, seed=3)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        transport = example.HedgedTransport(rate=0.05)
        async with httpx.AsyncClient(transport=transport) as client:
            await example.times_ms(client, url, 50)
            took = await asyncio.gather(*(example.times_ms(client, url, 50) for _ in range(8)))
        server.close()
        return sorted(itertools.chain(*took)), transport.counts()

    took_ms, counts = asyncio.run(run())
    assert counts["requests"] == counts["answers"] == 450
    assert counts["resends"] >= 10 and counts["needless"] <= 0.15 * 450, counts
    late = sum(ms > 200 for ms in took_ms)
    assert late <= 8, took_ms[-20:]  # of some twenty that the server delays


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
