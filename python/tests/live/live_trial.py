# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures how much learned floors shorten response times on this machine's own kernel, over emulated paths
that lose or delay packets:

    PYTHONPATH=python/tests .venv/bin/python python/tests/live/live_trial.py    # root; about ten minutes

It sends requests of 1 kB, one at a time on one connection, over three paths. On each path the stock
kernel, BBR, the route setting `rto_min 5ms` and `tcplearn live run` are measured side by side; all but
BBR have CUBIC as congestion control. Only the client's packets are lost, so that only the client's timer
matters. live_trial.py COUNT SEED sets another number of requests, or another seed."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from live_command import Room, ask, room, server, tail, words_of
from lossy_path import LossyPath, Spec

from tcplearn.output.markdown import table_of

PATHS = {
    "30 ms, 2 % lost": Spec(rtt_ms=30, loss=0.02),
    "30 ms and jitter of 10 ms, 2 % lost": Spec(rtt_ms=30, jitter_ms=5, loss=0.02),
    "30 ms, 1 % of packets late by 150 ms, none lost": Spec(rtt_ms=30, stall=0.005),
}
ARMS = ("stock", "BBR", "rto_min 5 ms", "live")
COUNT, PAUSE_MS, SEED = 1500, 50, 1
MOST_LATE_MS = 1.0  # a trial whose path was later than this is played again, because the machine was too busy
MOST_TRIES = 4
HEADS = ("path", "timer", "p50, ms", "p99, ms", "slowest 2 %, ms", "resent", "spurious", "path late by, ms")


@dataclass
class Arm:
    name: str
    path: LossyPath
    process: subprocess.Popen[str]


def _begin(name: str, path: LossyPath, at: Room, count: int) -> Arm:
    words = ask(path, count, PAUSE_MS)
    if name == "rto_min 5 ms":
        route = ["route", "change", "10.77.0.0/30", "dev", "path", "rto_min", "5ms", *path.congestion_control]
        subprocess.run(["ip", "-n", path.near, *route], check=True)
    if name == "live":
        words = words_of("run", "--", *words)
    return Arm(name, path, at.popen(words, stdout=subprocess.PIPE))


def _counters(path: LossyPath) -> dict[str, int]:
    """Return the near host's TCP counters of /proc/net/netstat and /proc/net/snmp."""
    text = subprocess.run(
        path.within(path.near, "cat", "/proc/net/netstat", "/proc/net/snmp"),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [line.split() for line in text.splitlines() if line.startswith(("TcpExt:", "Tcp:"))]
    names = [name for row in rows[::2] for name in row[1:]]
    values = [int(value) for row in rows[1::2] for value in row[1:]]
    return dict(zip(names, values, strict=True))


def _figures(arm: Arm) -> tuple[list[str], float]:
    """Return the results of one timer, and how late the emulated path was, in ms."""
    output = arm.process.communicate()[0]
    assert arm.process.returncode == 0, arm.name
    ms = json.loads(output)["ms"]
    counters = _counters(arm.path)
    ended: dict[str, Any] = arm.path.end()
    figures = [median(ms), *tail(ms)]
    counted = [counters["RetransSegs"], counters["TCPDSACKRecv"]]
    return [*(f"{figure:.0f}" for figure in figures), *map(str, counted)], ended["late_p99_ms"]


def _played(spec: Spec, count: int) -> tuple[list[list[str]], float]:
    """Return a row of results for each timer, and how late the latest of the paths was."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        at = stack.enter_context(room())
        specs = [replace(spec, congestion_control="bbr" if arm == "BBR" else "cubic") for arm in ARMS]
        paths = [stack.enter_context(LossyPath(of, folder)) for of in specs]
        for path in paths:
            stack.enter_context(server(path))
        arms = [_begin(name, path, at, count) for name, path in zip(ARMS, paths, strict=True)]
        found = [_figures(arm) for arm in arms]
    rows = [[name, *figures] for name, (figures, _) in zip(ARMS, found, strict=True)]
    return rows, max(late_ms for _, late_ms in found)


def main(count: int, seed: int) -> None:
    rows = []
    for of, spec in PATHS.items():
        for _ in range(MOST_TRIES):
            found, late_ms = _played(replace(spec, seed=seed), count)
            print(of, f"late by {late_ms:.1f} ms", *found, sep="\n", file=sys.stderr, flush=True)
            if late_ms <= MOST_LATE_MS:
                break
        rows += [[of, *row, f"{late_ms:.1f}"] for row in found]
    print(table_of(list(HEADS), rows, [True, True, *[False] * (len(HEADS) - 2)]))


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*given, *(COUNT, SEED)[len(given) :])
