# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Records response times of four services under load, for bench/retry_latency.py --recorded:

python bench/retry_record.py FOLDER              a quarter of an hour; root; needs Debian's nginx-light,
                                                 redis-server, postgresql and dnsmasq-base
python bench/retry_record.py FOLDER --requests 500 --services dns       a short trial

FOLDER/NAME.csv has a row for each request: t_s, the time at which it was sent, and rtt_ms, its response time.
A client sends requests to nginx, Redis, PostgreSQL and a DNS server over a link that `tcplearn emulate`
emulates, at random times, 100 in a second. Downloads of 250 kB over other connections fill the link's queue
now and then, and the server is stopped (SIGSTOP) for 50 to 500 ms every twenty seconds or so. The only losses
are packets that the queue drops."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import os
import random
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import time
from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import servers

PORTS = {"nginx": 8080, "redis": 6390, "postgresql": 5433, "dns": 5300}
DOWNLOADS = 9000  # port of the server whose downloads fill the queue
DOWNLOAD_BYTES = 250_000
CONNECTIONS = 16  # of the client
RATE = 100  # requests in a second
LATE_US = 50_000  # how much too late a packet may leave the emulated link; the server's pauses are longer
ANSWER_S = 10  # the time after which a request without an answer is given up; no row is written for it
PATH = """
name = "load"
[hop.line]
delay_ms = 8
jitter_ms = 1
forward = { rate_mbps = 20, queue_ms = 150 }
reverse = { rate_mbps = 20, queue_ms = 150 }
"""
Ask = Callable[[], Awaitable[None]]


def dns(folder: Path) -> list[str]:
    words = ("--keep-in-foreground", "--no-resolv", "--no-hosts", "--user=root", "--address=/test/192.0.2.1")
    return ["dnsmasq", *words, f"--port={PORTS['dns']}", f"--pid-file={folder}/pid", "--conf-file=/dev/null"]


SERVERS = {
    "nginx": lambda folder: servers.nginx(folder, [PORTS["nginx"]]),
    "redis": lambda folder: servers.redis(folder, PORTS["redis"]),
    "postgresql": lambda folder: servers.postgresql(folder, PORTS["postgresql"]),
    "dns": dns,
}


async def serve(name: str) -> None:
    """Run the service `name` and the downloads until this program is terminated. Stop the service (SIGSTOP)
    at random times for 50 to 500 ms."""

    async def download(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(bytes(DOWNLOAD_BYTES))
        with contextlib.suppress(ConnectionError):
            await writer.drain()
            writer.close()

    own = asyncio.current_task()
    assert own is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, own.cancel)
    dice = random.Random(f"pauses of {name}")
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(SERVERS[name](Path(folder)), stdout=subprocess.DEVNULL)
        try:
            await asyncio.start_server(download, os.environ["TCPLEARN_SERVER"], DOWNLOADS)
            while True:
                await asyncio.sleep(dice.expovariate(1 / 20))
                _signal(process.pid, signal.SIGSTOP)
                await asyncio.sleep(dice.uniform(0.05, 0.5))
                _signal(process.pid, signal.SIGCONT)
        finally:
            _signal(process.pid, signal.SIGCONT)
            process.terminate()
            process.wait()


def _signal(pid: int, number: int) -> None:
    """Send a signal to a process and to its children."""
    for one in (pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())):
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, number)


async def stream(address: str, name: str) -> Ask:
    """Connect to the service `name`, and return a function that sends a request and reads the answer."""
    reader, writer = await asyncio.open_connection(address, PORTS[name])
    question = {"nginx": b"GET /file HTTP/1.1\r\nHost: a\r\n\r\n", "redis": b"PING\r\n"}.get(name, b"")
    if name == "postgresql":
        start = struct.pack("!i", 196608) + b"user\0postgres\0database\0postgres\0\0"
        writer.write(struct.pack("!i", len(start) + 4) + start)
        while await _message(reader) != b"Z":  # ready for a query
            pass
        query = b"select count(*) from pg_class\0"
        question = b"Q" + struct.pack("!i", len(query) + 4) + query

    async def ask() -> None:
        writer.write(question)
        if name == "nginx":
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            await reader.readexactly(500)
        elif name == "redis":
            assert await reader.readline() == b"+PONG\r\n"
        else:
            while await _message(reader) != b"Z":
                pass

    return ask


async def _message(reader: asyncio.StreamReader) -> bytes:
    """Read a message of PostgreSQL, and return its kind."""
    kind, length = struct.unpack("!ci", await reader.readexactly(5))
    await reader.readexactly(length - 4)
    return bytes(kind)


class Lookups(asyncio.DatagramProtocol):
    """Sends queries to the DNS server, and assigns each answer to the query with the same number."""

    def __init__(self) -> None:
        self.waiting: dict[int, asyncio.Future[None]] = {}
        self.number = 0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, address: object) -> None:
        future = self.waiting.pop(int.from_bytes(data[:2], "big"), None)
        if future and not future.done():
            future.set_result(None)

    async def ask(self) -> None:
        self.number = (self.number + 1) % 65536
        self.waiting[self.number] = future = asyncio.get_running_loop().create_future()
        head = struct.pack("!HHHHHH", self.number, 0x0100, 1, 0, 0, 0)
        self.transport.sendto(head + b"\x01a\x04test\x00" + struct.pack("!HH", 1, 1))
        await future


async def fill(address: str) -> None:
    """Make downloads from `address`, which fill the link's queue, at random times, one every two seconds on
    average."""
    dice = random.Random("downloads")
    while True:
        await asyncio.sleep(dice.expovariate(1 / 2))
        reader, writer = await asyncio.open_connection(address, DOWNLOADS)
        await reader.read(-1)
        writer.close()


async def measure(name: str, requests: int, out: Path) -> None:
    """Send `requests` requests to the service `name` at random times, and write their times to `out`."""
    address, dice = os.environ["TCPLEARN_SERVER"], random.Random(f"requests to {name}")
    free: asyncio.Queue[Ask] = asyncio.Queue()
    if name == "dns":
        to, loop = (address, PORTS[name]), asyncio.get_running_loop()
        _, lookups = await loop.create_datagram_endpoint(Lookups, remote_addr=to)
        for _ in range(CONNECTIONS * 4):
            free.put_nowait(lookups.ask)
    else:
        for _ in range(CONNECTIONS):
            free.put_nowait(await stream(address, name))
    rows: list[tuple[float, float]] = []

    async def one() -> None:
        begun = time.monotonic()  # the response time includes the wait for a free connection
        ask = await free.get()
        try:
            await asyncio.wait_for(ask(), ANSWER_S)
            rows.append((begun - first, 1000 * (time.monotonic() - begun)))
        except TimeoutError:
            if name != "dns":  # the late answer would be taken for that to the next request
                ask = await stream(address, name)
        free.put_nowait(ask)

    filling, first, tasks = asyncio.create_task(fill(address)), time.monotonic(), []
    at = first
    for number in range(requests):
        at += dice.expovariate(RATE)
        await asyncio.sleep(at - time.monotonic())
        tasks.append(asyncio.create_task(one()))
        if number % 1000 == 999:
            print(f"{name}: {number + 1} requests", file=sys.stderr, flush=True)
    await asyncio.gather(*tasks)
    if filling.done():
        filling.result()  # raises the exception that ended the downloads
    filling.cancel()
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["t_s", "rtt_ms"])
        writer.writerows([f"{t:.6f}", f"{ms:.3f}"] for t, ms in sorted(rows))
    print(f"{name}: {len(rows)} of {requests} requests answered", file=sys.stderr)


def record(name: str, requests: int, out: Path) -> None:
    """Record `requests` requests to the service `name` over the emulated link."""
    me = [sys.executable, str(Path(__file__).resolve())]
    server = f"exec {shlex.join([*me, '--serve', name])}"
    client = [*me, "--measure", name, "--requests", str(requests), str(out)]
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / "link.toml"
        link.write_text(PATH)
        options = ["--quiet", "--server", server, "--wait-port", PORTS[name], "--late-limit-us", LATE_US]
        emulate = ["-m", "tcplearn", "emulate", *map(str, options), str(link)]
        subprocess.run([sys.executable, *emulate, "--", *client], check=True)


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="for the files")
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--services", default=",".join(PORTS))
    parser.add_argument("--serve", choices=PORTS, help=SUPPRESS)
    parser.add_argument("--measure", choices=PORTS, help=SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(serve(given.serve))
    elif given.folder is None:
        parser.error("no folder for the files")
    elif given.measure:
        asyncio.run(measure(given.measure, given.requests, given.folder))
    else:
        given.folder.mkdir(parents=True, exist_ok=True)
        for name in given.services.split(","):
            record(name, given.requests, given.folder / f"{name}.csv")


if __name__ == "__main__":
    main()
