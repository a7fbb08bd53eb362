# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Records counts of connections of the stock kernel over emulated paths: rounds, rounds with a loss that the
timer repaired, and rounds with a spurious retransmission. Tests count the guard's false alarms on these
records.

    PYTHONPATH=python/tests .venv/bin/python python/tests/live/record_rounds.py >python/tests/live/rounds.csv

It needs root and takes five minutes. `tcplearn live observe` learns but sets no floors, and `live top`
reads the counts before the connections are closed."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from live_command import room, server, sessions, words_of
from lossy_path import LossyPath, Spec

PATHS = {
    "2 % lost": Spec(rtt_ms=20, loss=0.02),
    "jitter, 1 % lost": Spec(rtt_ms=20, jitter_ms=8, loss=0.01),
    "late by 300 ms": Spec(rtt_ms=20, stall=0.003, stall_ms=300, loss=0.003),
    "often late by 300 ms": Spec(rtt_ms=20, stall=0.02, stall_ms=300),
    "late by 150 ms": Spec(rtt_ms=20, stall=0.01, stall_ms=150, loss=0.01),
    "calm": Spec(rtt_ms=20),
}
CONNECTIONS, REQUESTS, PAUSE_S = 40, 120, 0.1
_CLIENT = f"""
import random, socket, sys, threading, time
import small_talk
def ask(number):
    draw = random.Random(number)
    sock = socks[number]
    for _ in range(draw.randrange(1, {2 * REQUESTS})):
        time.sleep({PAUSE_S} * draw.uniform(0.5, 1.5))
        sock.sendall(b"q" * 1000)
        assert small_talk._whole(sock, 200)
socks = [socket.create_connection((sys.argv[1], small_talk.PORT)) for _ in range({CONNECTIONS})]
for sock in socks:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(socks))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("asked", flush=True)
sys.stdin.read()
"""


def _recorded(spec: Spec) -> list[dict[str, int]]:
    with (
        tempfile.TemporaryDirectory() as folder,
        LossyPath(spec, Path(folder)) as path,
        server(path),
        room() as at,
    ):
        observing = at.popen(
            words_of("observe", "--cgroup", at.cgroup, "--for", "10m"), stdout=subprocess.DEVNULL
        )
        while not sessions(at):
            time.sleep(0.1)
        words = path.within(path.near, sys.executable, "-c", _CLIENT, path.address)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": Path(__file__).parent}
        with at.popen(words, **pipes) as asking:
            assert asking.stdout and asking.stdin
            assert asking.stdout.readline() == "asked\n"
            shown = json.loads(at.live("top", "--json").stdout)
            asking.stdin.close()
        observing.kill()
        observing.wait()
    (session,) = (one for one in shown if one["cgroup"] == str(at.cgroup))
    return [one for one in session["connections"] if one["peer"].endswith(":7000")]


def main() -> None:
    print("path,rounds,lost,spurious")
    for name, spec in PATHS.items():
        for one in _recorded(spec):
            print(name.replace(",", ";"), one["rounds"], one["lost"], one["spurious"], sep=",", flush=True)


if __name__ == "__main__":
    main()
