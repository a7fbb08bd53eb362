# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures how much `tcplearn live run` shortens the response times of five services whose answers are
sometimes lost:

    PYTHONPATH=python/tests .venv/bin/python python/tests/live/applications_trial.py    # root; minutes

It needs Debian's nginx-light, nghttp2-client, postgresql, redis-server and openssh-server. Each service
runs twice side by side, under the stock kernel and under `live run`, each over a path of its own with an
RTT of 20 ms. One in a hundred of the server's packets with data is lost, the same ones for both. One
client sends one request at a time. applications_trial.py COUNT sets another number of requests."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean, median

from app_client import PORTS
from live_command import Room, room, words_of
from lossy_path import LossyPath, Spec

from samples import ROOT
from tcplearn.output.markdown import table_of

sys.path.insert(0, str(ROOT / "bench"))
import servers

COUNT = 1500
SPEC = Spec(rtt_ms=20, loss=0.01)
NAMES = {
    "http1": "nginx, HTTP/1.1",
    "http2": "nginx, HTTP/2",
    "postgresql": "PostgreSQL, pgbench -S",
    "redis": "Redis, GET",
    "ssh": "ssh, lines echoed",
}
CLIENT = Path(__file__).with_name("app_client.py")
_WAITS_S = 60.0
_SERVER = "10.77.0.1"  # the near host: its timers are what differs


def _nginx(folder: Path) -> list[str]:
    return servers.nginx(folder, [PORTS["http1"], f"{PORTS['http2']} http2"])


def _ssh(folder: Path) -> list[str]:
    for name in ("host", "key"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name]
        subprocess.run(words, check=True)
    Path("/run/sshd").mkdir(exist_ok=True)
    settings = (
        f"Port={PORTS['ssh']}", f"HostKey={folder}/host", f"AuthorizedKeysFile={folder}/key.pub",
        "StrictModes=no", "UsePAM=no", "PermitRootLogin=yes", f"PidFile={folder}/pid",
    )  # fmt: skip
    return [
        "/usr/sbin/sshd",
        "-D",
        "-e",
        "-f",
        "/dev/null",
        *(word for one in settings for word in ("-o", one)),
    ]


SERVERS = {
    "http1": _nginx,
    "http2": _nginx,
    "postgresql": lambda folder: servers.postgresql(folder, PORTS["postgresql"]),
    "redis": lambda folder: servers.redis(folder, PORTS["redis"]),
    "ssh": _ssh,
}


def _until_it_succeeds(path: LossyPath, *words: object) -> None:
    """Run a command beside the server until it succeeds."""
    end = time.monotonic() + _WAITS_S
    while (run := subprocess.run(path.within(path.near, *words), capture_output=True)).returncode:
        assert time.monotonic() < end, run.stderr.decode()
        time.sleep(0.2)


def _ready(path: LossyPath, kind: str) -> None:
    """Wait until the server answers; fill PostgreSQL's tables."""
    connect = f"import socket; socket.create_connection(('{_SERVER}', {PORTS[kind]}), 1).close()"
    _until_it_succeeds(path, sys.executable, "-c", connect)
    if kind == "postgresql":  # listens before it serves
        (bin_,) = Path("/usr/lib/postgresql").glob("*/bin")
        fill = ["-h", _SERVER, "-p", PORTS[kind], "-U", "postgres", "-i", "-q", "postgres"]
        _until_it_succeeds(path, bin_ / "pgbench", *fill)


def tried(kind: str, count: int) -> list[list[float]]:
    """Return the response times of service `kind` in ms, under the stock kernel and under `live run`."""
    with ExitStack() as stack:
        clients = []
        for live in (False, True):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            path = stack.enter_context(LossyPath(SPEC, folder))
            at: Room = stack.enter_context(room())
            words = path.within(path.near, *SERVERS[kind](folder))
            process = at.popen(
                words_of("run", "-q", "--", *words) if live else words,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
            _ready(path, kind)
            ask = path.within(path.far, sys.executable, CLIENT, kind, _SERVER, count, folder)
            clients.append(subprocess.Popen(ask, stdout=subprocess.PIPE, text=True))
        return [json.loads(client.communicate()[0]) for client in clients]


def slowest(ms: list[float]) -> float:
    return fmean(sorted(ms)[-max(len(ms) // 50, 1) :])


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    rows = []
    for kind, name in NAMES.items():
        print(name, file=sys.stderr)
        both = tried(kind, count)
        p99 = [sorted(ms)[int(0.99 * (len(ms) - 1))] for ms in both]
        slow = [slowest(ms) for ms in both]
        figures = [*(median(ms) for ms in both), *p99, *slow]
        rows.append([name, str(len(both[1])), *(f"{ms:.1f}" for ms in figures), f"{slow[1] / slow[0]:.2f}"])
    head = [
        "service",
        "requests",
        *(f"{f}, ms: {w}" for f in ("p50", "p99", "slowest 2 %") for w in ("stock", "live")),
    ]
    print(table_of([*head, "slowest 2 %, live over stock"], rows))


if __name__ == "__main__":
    main()
