# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures the response times of requests of 1 kB and of downloads over QUIC, with aioquic's own probe
timeout and with a learned one (learned_pto.py). The links lose packets and are emulated by `tcplearn
emulate`.

    python compare.py                        # prints a table of all links with both timeouts
    python compare.py client --recovery own  # the client alone; the server's address is in TCPLEARN_SERVER"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import datetime
import json
import os
import shlex
import ssl
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from learned_pto import CountedRecovery, LearnedRecovery

import tcplearn

PORT = 4433
ANSWER_BYTES = 1024
COUNTS = b"counts"
COUNTED = ("packets", "probes", "spurious")
DISCARDED = 1  # exit code of `tcplearn emulate` for a run in which a packet was late
TRIES = 10
PATH = """
name = "quic"
[hop.line]
delay_ms = {delay_ms}
forward = {{ rate_mbps = 20, queue_ms = 100, loss_percent = {loss} }}
reverse = {{ rate_mbps = 20, queue_ms = 100, loss_percent = {loss} }}
"""


class Recoveries:
    """Gives each new connection a loss recovery of the kind "own" (aioquic's) or "learned". The timer of a
    learned recovery inherits what that of the previous connection has learned."""

    def __init__(self, kind: str) -> None:
        self._learned = kind == "learned"
        self._before: tcplearn.RetryTimer | None = None
        self.every: list[CountedRecovery] = []

    def give(self, connection: QuicConnection) -> None:
        if self._learned:
            learned = LearnedRecovery.of(connection, earlier=self._before)
            self._before = learned.timer
            self.every.append(learned)
        else:
            self.every.append(CountedRecovery.of(connection))

    def protocol(self, connection: QuicConnection, **more: Any) -> QuicConnectionProtocol:
        self.give(connection)
        return QuicConnectionProtocol(connection, **more)

    def counts(self) -> dict[str, int]:
        return {name: sum(getattr(one, name) for one in self.every) for name in COUNTED}


def certificate(folder: Path) -> tuple[Path, Path]:
    """Write a self-signed certificate and its key to `folder` and return their paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    pem = serialization.Encoding.PEM
    form = serialization.PrivateFormat.PKCS8
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(pem))
    paths[1].write_bytes(key.private_bytes(pem, form, serialization.NoEncryption()))
    return paths


async def serve_requests(kind: str, address: str) -> None:
    """Serve QUIC streams. A stream that contains a number, padded with dots, is answered with as many bytes;
    one that contains COUNTS is answered with the server's counts of packets and probes as JSON."""
    recoveries = Recoveries(kind)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = (await reader.read()).rstrip(b".")
        writer.write(json.dumps(recoveries.counts()).encode() if asked == COUNTS else bytes(int(asked)))
        writer.write_eof()

    def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(task := asyncio.ensure_future(answer(reader, writer)))
        task.add_done_callback(tasks.discard)

    tasks: set[asyncio.Task[None]] = set()
    configuration = QuicConfiguration(is_client=False)
    with tempfile.TemporaryDirectory() as folder:
        configuration.load_cert_chain(*certificate(Path(folder)))
        await serve(
            address,
            PORT,
            configuration=configuration,
            create_protocol=recoveries.protocol,
            stream_handler=handle,
        )
    await asyncio.Event().wait()


async def ask(connection: QuicConnectionProtocol, words: bytes) -> bytes:
    reader, writer = await connection.create_stream()
    writer.write(words)
    writer.write_eof()
    return await reader.read()


async def request(kind: str, address: str, asked: argparse.Namespace) -> dict[str, Any]:
    """Send the requests that the options `asked` describe, one after another. Return their response times in
    us, and the numbers of packets and probes of both ends."""
    recoveries = Recoveries(kind)
    configuration = QuicConfiguration(is_client=True, verify_mode=ssl.CERT_NONE)
    took_us: list[int] = []
    words = str(asked.bytes).encode().ljust(ANSWER_BYTES, b".")
    for first in range(0, asked.requests, asked.each):
        async with connect(
            address, PORT, configuration=configuration, create_protocol=recoveries.protocol
        ) as connection:
            for _ in range(min(asked.each, asked.requests - first)):
                begun = time.monotonic_ns()
                answer = await ask(connection, words)
                assert len(answer) == asked.bytes
                took_us.append((time.monotonic_ns() - begun) // 1000)
                await asyncio.sleep(asked.pause_ms / 1000)
            served = json.loads(await ask(connection, COUNTS))
    counts = {name: number + served[name] for name, number in recoveries.counts().items()}
    return {"recovery": kind, "took_us": took_us, **counts}


def over_link(kind: str, delay_ms: float, loss: float, seed: int, words: list[str]) -> dict[str, Any]:
    """Run a client with arguments `words` and its server over an emulated link, and return the results that
    the client printed. Repeat the run if the emulator was late, and raise SystemExit if no run was usable."""
    me = str(Path(__file__).resolve())
    server = shlex.join([sys.executable, me, "server", "--recovery", kind])
    client = [sys.executable, me, "client", "--recovery", kind, *words]
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / "link.toml"
        link.write_text(PATH.format(delay_ms=delay_ms, loss=loss))
        options = ["--quiet", "--seed", str(seed), "--server", f"exec {server}"]
        emulate = [sys.executable, "-m", "tcplearn", "emulate", *options, str(link), "--", *client]
        for _ in range(TRIES):
            done = subprocess.run(emulate, stdout=subprocess.PIPE, check=False)
            if done.returncode == 0:
                result: dict[str, Any] = json.loads(done.stdout)
                return result
            if done.returncode != DISCARDED:
                break
    raise SystemExit(f"no run over the link was usable: code {done.returncode}")


def over_links(kind: str, delay_ms: float, loss: float, asked: argparse.Namespace) -> dict[str, Any]:
    """Run the client over one link with each seed. Return the response times of all runs in us, and the sums
    of the counts of packets and probes."""
    words = [f"--requests={asked.requests}", f"--each={asked.each}"]
    words += [f"--pause-ms={asked.pause_ms}", f"--bytes={asked.bytes}"]
    seeds = range(asked.seed, asked.seed + asked.runs)
    runs = [over_link(kind, delay_ms, loss, seed, words) for seed in seeds]
    counts = {name: sum(run[name] for run in runs) for name in COUNTED}
    return {"recovery": kind, "took_us": [took for run in runs for took in run["took_us"]], **counts}


def quantile_ms(took_us: list[int], share: float) -> float:
    return sorted(took_us)[min(int(share * len(took_us)), len(took_us) - 1)] / 1000


def slowest_ms(took_us: list[int]) -> float:
    """Return the mean of the slowest 2 % of the response times `took_us`, in ms."""
    slow = sorted(took_us)[-max(len(took_us) // 50, 1) :]
    return sum(slow) / len(slow) / 1000


def line(run: dict[str, Any]) -> str:
    took = run["took_us"]
    times = f"{quantile_ms(took, 0.5):7.1f}  {quantile_ms(took, 0.99):7.1f}  {slowest_ms(took):15.1f}"
    return f"{run['recovery']:8}  {times}  {1000 * run['spurious'] / max(run['packets'], 1):17.1f}"


def compare(asked: argparse.Namespace) -> None:
    print("RTT, ms  loss, %  recovery  p50, ms  p99, ms  slowest 2 %, ms  spurious in 1,000")
    kinds = ("own", "learned")
    pool = ThreadPoolExecutor(len(kinds))
    for delay_ms in asked.delay_ms:
        for loss in asked.loss:
            run = partial(over_links, delay_ms=delay_ms, loss=loss, asked=asked)
            for one in pool.map(run, kinds):
                print(f"{2 * delay_ms:7g}  {loss:7g}  {line(one)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["compare", "server", "client"], default="compare")
    parser.add_argument("--recovery", choices=["own", "learned"], default="learned")
    parser.add_argument("--runs", type=int, default=5, help="over each link, with seeds of their own")
    parser.add_argument("--requests", type=int, default=300, help="of a run")
    parser.add_argument("--each", type=int, default=150, help="requests of a connection")
    parser.add_argument("--pause-ms", type=float, default=100, help="between two requests")
    parser.add_argument("--bytes", type=int, default=ANSWER_BYTES, help="of an answer")
    parser.add_argument("--loss", type=float, nargs="*", default=[1, 2], help="per cent, in each direction")
    parser.add_argument("--delay-ms", type=float, nargs="*", default=[5, 20], help="one way")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if asked.part == "compare":
        compare(asked)
        return
    address = os.environ.get("TCPLEARN_SERVER", "127.0.0.1")
    with contextlib.suppress(KeyboardInterrupt):
        if asked.part == "server":
            asyncio.run(serve_requests(asked.recovery, address))
        else:
            print(json.dumps(asyncio.run(request(asked.recovery, address, asked))))


if __name__ == "__main__":
    main()
