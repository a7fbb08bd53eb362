# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Opens many TCP connections at the same time under `tcplearn live`, and closes them. Measures how much
kernel memory they need while they are open, and what is left afterwards: socket storage, entries of BPF maps,
programs, links and kernel memory. bench/live_load.py uses it."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from live_criteria import Row, met
from live_traffic import Traffic

from tcplearn.bpf.build import tool
from tcplearn.bpf.libbpf import map_of, sock_ops_programs
from tcplearn.live import notes

#: The most kernel memory that may be left afterwards, at most a tenth of what the program needs for 100,000
#: connections.
MARGIN_MB = 16
STEPS = ("held", "churned", "closed")
_LEFT_WITHIN_S = 20.0
#: The kernel has freed all memory if its memory has not fallen for 3 s; it is given 30 s.
_SETTLED_S, _SETTLED_WITHIN_S = 3.0, 30.0
_FIELDS = ("Slab", "SUnreclaim", "Percpu")  # of /proc/meminfo
_CONNECTION_KB = 20  # free memory that is required for each connection; both its ends together use less
_START = ("start", "--ramp", "none", "--control-percent", "0")
Found = dict[str, Any]


def _meminfo_kb() -> dict[str, int]:
    fields = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return {field[0].rstrip(":"): int(field[1]) for field in fields}


def _memory_kb() -> dict[str, int]:
    found = _meminfo_kb()
    return {name: found[name] for name in _FIELDS}


def _settled_kb() -> dict[str, int]:
    """Wait until the kernel has freed, in batches, the memory of closed connections. Return the memory that
    it then uses, in kB, by field of /proc/meminfo."""
    least, since_s = _memory_kb(), time.monotonic()
    end_s = since_s + _SETTLED_WITHIN_S
    while time.monotonic() < min(since_s + _SETTLED_S, end_s):
        time.sleep(0.2)
        now = _memory_kb()
        if _mb(now) < _mb(least):
            least, since_s = now, time.monotonic()
    return least


def _becomes(holds: Callable[[], bool]) -> bool:
    end_s = time.monotonic() + _LEFT_WITHIN_S
    while not holds():
        if time.monotonic() > end_s:
            return False
        time.sleep(0.05)
    return True


def _bpftool(*words: object) -> Any:
    """Return what bpftool prints about a BPF object, or None if there is no such object."""
    done = subprocess.run(
        [tool("bpftool"), "-j", *map(str, words)], capture_output=True, text=True, check=False
    )
    return json.loads(done.stdout) if done.returncode == 0 and done.stdout.strip() else None


def _live(*words: object) -> None:
    command = [sys.executable, "-m", "tcplearn", "live", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"live {words[0]}: {done.stderr.strip()}")


class _Started:
    """The BPF program that `tcplearn live start` has attached to a cgroup, as bpftool shows it."""

    def __init__(self, cgroup: Path) -> None:
        self._cgroup = cgroup
        (self._note,) = (note for note in notes.living() if note.cgroup == str(cgroup))
        (attached,) = _bpftool("cgroup", "show", cgroup)
        self._program = int(attached["id"])
        self._maps = [int(number) for number in _bpftool("prog", "show", "id", self._program)["map_ids"]]

    def tables(self) -> dict[str, tuple[int, int]]:
        """Return, for each hash map of the program by name, its number of entries and the most that it may
        have."""
        found = {}
        for number in self._maps:
            shown = _bpftool("map", "show", "id", number)
            if "hash" in shown["type"]:
                with map_of(number) as of:
                    entries = sum(1 for _ in of.keys(int(shown["bytes_key"])))
                found[str(shown["name"])] = entries, int(shown["max_entries"])
        return found

    def counts(self) -> Any:
        return self._note.read()["counts"]

    def left(self) -> list[str]:
        """Return the names of what is left of the program after `tcplearn live stop`, which should be
        nothing."""
        gone = {
            "process": lambda: not self._note.lives and not self._note.path.exists(),
            "attached program": lambda: not sock_ops_programs(self._cgroup),
            "link": lambda: all(of.get("prog_id") != self._program for of in _bpftool("link", "show") or []),
            "program": lambda: _bpftool("prog", "show", "id", self._program) is None,
            "maps": lambda: all(_bpftool("map", "show", "id", number) is None for number in self._maps),
        }
        return [name for name, is_gone in gone.items() if not _becomes(is_gone)]


def _with_storage(process: int) -> int:
    """Return how many TCP sockets in the network namespace of `process` have socket storage, which ss(8)
    shows as a number above 0 after "o" in skmem."""
    ss = ["nsenter", "--net", "--target", str(process), "ss", "-tamnH"]
    shown = subprocess.run(ss, capture_output=True, text=True, check=True).stdout
    return len(re.findall(r"skmem:\(\S*,o[1-9]", shown))


def _play(traffic: Traffic, connections: int, addresses: int) -> Found:
    """Open `connections` connections to `addresses` addresses, close half of them and open them again, and
    close all. Return the kernel's memory with all connections open, and the number of sockets with socket
    storage after each of these steps."""
    held_kb, sockets = {}, {}
    with traffic.popen("hold", connections, addresses, stdin=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        for step in STEPS:
            if process.stdout.readline().strip() != step:
                raise SystemExit(f"live_traffic hold: not {step}")
            if step == "closed":  # the server closes its ends a moment later
                _becomes(lambda: _with_storage(process.pid) == 0)
            held_kb[step] = _memory_kb()
            sockets[step] = _with_storage(process.pid)
            process.stdin.write("\n")
            process.stdin.flush()
    return {"held_kb": held_kb["held"], "sockets": sockets}


def run(traffic: Traffic, connections: int, addresses: int, live: bool) -> Found:
    """Open `connections` connections to `addresses` addresses, both ends on this machine, close half of them
    and open them again, and close all. If `live` is true, this happens under `tcplearn live`. Return the
    memory of the kernel before, with all connections open, and afterwards; with `live` also the entries of
    the BPF program's maps and its counts at the end, and what is left of the program."""
    found: Found = {"before_kb": _settled_kb()}
    if not live:
        found |= _play(traffic, connections, addresses)
        return {**found, "after_kb": _settled_kb()}
    _live(*_START, "--cgroup", traffic.cgroup)
    try:
        started = _Started(traffic.cgroup)
        found |= _play(traffic, connections, addresses)
        found |= {"tables": started.tables(), "counts": started.counts()}
    finally:
        _live("stop", "--cgroup", traffic.cgroup)
    return {**found, "left": started.left(), "after_kb": _settled_kb()}


def _mb(memory_kb: dict[str, int]) -> float:
    return (memory_kb["Slab"] + memory_kb["Percpu"]) / 1024


def rows(traffic: Traffic, connections: int, addresses: int, times: int) -> tuple[list[Row], Any]:
    """Hold `connections` connections to `addresses` addresses open, without and with `tcplearn live` in turn,
    `times` times each. Return the rows of the table, and the figures of each run."""
    if _meminfo_kb()["MemAvailable"] < connections * _CONNECTION_KB:
        raise SystemExit(f"{connections:,} connections: not enough memory")
    run(traffic, connections, addresses, live=False)  # afterwards the kernel's caches keep some pages
    pairs = [
        tuple(run(traffic, connections, addresses, live) for live in (False, True)) for _ in range(times)
    ]
    more_mb = {
        step: statistics.median(
            _mb(live[step]) - _mb(live["before_kb"]) - _mb(stock[step]) + _mb(stock["before_kb"])
            for stock, live in pairs
        )
        for step in ("held_kb", "after_kb")
    }
    lives = [live for _, live in pairs]
    left = sum(live["sockets"]["closed"] + len(live["left"]) for live in lives)
    over = sum(entries > most for live in lives for entries, most in live["tables"].values())
    sockets = min(live["sockets"]["held"] for live in lives)
    a_socket = more_mb["held_kb"] * 2**20 / (2 * connections)
    after_mb = more_mb["after_kb"]
    margin = (f"at most {MARGIN_MB} MB", met(after_mb, after_mb, most=MARGIN_MB))
    return [
        Row("held: sockets that the program knows", f"{sockets:,}"),
        Row("held: kernel memory a socket, more than stock", f"{a_socket:,.0f} bytes"),
        Row("closed: sockets, programs, links and maps left", f"{left}", "", "0", met(left, left, 0, 0)),
        Row("closed: tables with more entries than their size", f"{over}", "", "0", met(over, over, 0, 0)),
        Row("closed: kernel memory, more than stock", f"{after_mb:.1f} MB", "", *margin),
    ], [{"stock": stock, "live": live} for stock, live in pairs]
