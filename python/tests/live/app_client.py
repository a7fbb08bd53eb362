# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures response times of real services, with one request at a time on one connection, and prints them as
JSON in milliseconds:

python app_client.py KIND ADDRESS COUNT FOLDER    # KIND: http1, http2, postgresql, redis, ssh"""

from __future__ import annotations

import http.client
import json
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PORTS = {"http1": 8080, "http2": 8081, "postgresql": 5433, "redis": 6390, "ssh": 2222}
_PAUSE_S = 0.02


def _timed(count: int, ask: Callable[[], object]) -> list[float]:
    out, draw = [], random.Random(1)
    for _ in range(count):
        time.sleep(_PAUSE_S * draw.uniform(0.5, 1.5))
        begun_s = time.monotonic()
        ask()
        out.append(1000 * (time.monotonic() - begun_s))
    return out


def http1(address: str, count: int, _folder: Path) -> list[float]:
    connection = http.client.HTTPConnection(address, PORTS["http1"])

    def ask() -> None:
        connection.request("GET", "/file")
        assert len(connection.getresponse().read()) == 500

    ask()
    return _timed(count, ask)


def http2(address: str, count: int, folder: Path) -> list[float]:
    log = folder / "h2load"
    words = ("h2load", "-n", str(count), "-c", "1", "-m", "1", f"--log-file={log}")
    url = f"http://{address}:{PORTS['http2']}/file"
    subprocess.run([*words, url], check=True, capture_output=True)
    return [int(line.split("\t")[2]) / 1000 for line in log.read_text().splitlines()]


def postgresql(address: str, count: int, folder: Path) -> list[float]:
    words = ("-h", address, "-p", str(PORTS["postgresql"]), "-U", "postgres", "-n", "-S", "-c", "1")
    (pgbench,) = Path("/usr/lib/postgresql").glob("*/bin/pgbench")
    more = ("-t", str(count), "-l", f"--log-prefix={folder}/pgbench", "postgres")
    subprocess.run([pgbench, *words, *more], check=True, capture_output=True)
    (log,) = folder.glob("pgbench.*")
    return [int(line.split()[2]) / 1000 for line in log.read_text().splitlines()]


def redis(address: str, count: int, _folder: Path) -> list[float]:
    with socket.create_connection((address, PORTS["redis"])) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(b"SET key " + b"v" * 200 + b"\r\n")
        assert sock.recv(100) == b"+OK\r\n"
        answer = b"$200\r\n" + b"v" * 200 + b"\r\n"

        def ask() -> None:
            sock.sendall(b"GET key\r\n")
            got = b""
            while len(got) < len(answer):
                got += sock.recv(1000)
            assert got == answer

        return _timed(count, ask)


def ssh(address: str, count: int, folder: Path) -> list[float]:
    options = (
        "StrictHostKeyChecking=no",
        f"UserKnownHostsFile={folder}/known",
        "BatchMode=yes",
        "LogLevel=ERROR",
    )
    words = [
        "ssh",
        "-T",
        "-i",
        str(folder / "key"),
        "-p",
        str(PORTS["ssh"]),
        *(w for o in options for w in ("-o", o)),
    ]
    line = b"k" * 199 + b"\n"
    with subprocess.Popen([*words, f"root@{address}", "cat"], stdin=-1, stdout=-1, bufsize=0) as shell:
        assert shell.stdin and shell.stdout
        sender, receiver = shell.stdin, shell.stdout

        def ask() -> None:
            sender.write(line)
            got = b""
            while len(got) < len(line):
                got += receiver.read(len(line)) or b""
            assert got == line

        ask()
        out = _timed(count, ask)
        sender.close()
    return out


if __name__ == "__main__":
    kind, address, count, folder = sys.argv[1:5]
    print(json.dumps(globals()[kind](address, int(count), Path(folder))))
