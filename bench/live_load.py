# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures what `tcplearn live` costs on this machine's kernel, over lo, and compares it with criteria:

python bench/live_load.py -o out/live-load.json    root; a quarter of an hour on an idle machine
python bench/live_load.py --small                  checks that everything works; its figures mean nothing

- events: the time of one run of the BPF program of `tcplearn live`, and of a BPF program that does nothing.
- speeds: a bulk transfer, and short connections with a request each. Both ends run with `tcplearn live`, then
  without, without, with, and so on. Short connections are also measured with a BPF program that only makes
  socket storage for each connection, and with one that does nothing. The interval of a ratio is one of 95 %,
  by Student's t, of the logarithms of the pairs' ratios. CPU times are those of both ends together.
- held: the memory for 100,000 connections that are open at the same time, and what is left after they were
  closed, without and with `tcplearn live`. Half of them are closed and opened again before all are closed.
- loading: the time from the start of `tcplearn live run` until the command that it is given runs, with the
  BPF program attached.

--parts NAME... measures only some of these."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import live_events
import live_held
from live_criteria import CONFIDENCE, Row, met
from live_traffic import Traffic, made

from tcplearn import provenance
from tcplearn.bpf import build
from tcplearn.output.markdown import table_of
from tcplearn.simulate.interval import ratio_interval

LEAST_RATIO, MOST_LOADING_S = 0.98, 3.0
#: The titles of BPF programs that are compared with that of `tcplearn live`.
_NAMES = {"storage": "socket storage alone", "empty": "an empty program"}
#: Runs a command of tcplearn as if tcplearn was installed. Its first argument is the folder of compiled BPF
#: programs.
_INSTALLED = """
import sys
from pathlib import Path
from tcplearn.bpf import build
from tcplearn.cli import main
build.BUILT = Path(sys.argv[1])
sys.exit(main(sys.argv[2:]))
"""
_TELL_TIME = ("live", "run", "-q", "--", "date", "+%s.%N")


@dataclass(frozen=True)
class Sizes:
    pairs: int = 20
    bulk_bytes: int = 4_000_000_000
    short: int = 20_000  # connections with one request each
    requests: int = 15_000  # on each of four connections, for `events`
    connections: int = 3_000  # with 20 requests each, for `events`
    held: int = 100_000  # connections that are open at the same time
    addresses: int = 10_000  # of the `held` ones; the program's tables of hosts and prefixes have less room
    rounds: int = 3  # repetitions of the parts "events" and "held"
    loads: int = 10


SMALL = Sizes(2, 20_000_000, 200, 50, 20, 500, 50, 1, 1)


Measured = tuple[list[Row], Any]  # rows of the table, and figures for JSON


def events(traffic: Traffic, sizes: Sizes) -> Measured:
    loads = {
        "4 connections": (4, sizes.requests),
        "connections of 20 requests": (sizes.connections, 20),
        "connections of 1 request": (sizes.short, 1),
    }
    return live_events.rows(traffic, loads, sizes.rounds)


Times = dict[str, list[tuple[float, float]]]  # wall and CPU times of runs with and without a program, in s


def _compared(traffic: Traffic, pairs: int, *words: object, program: str = "live") -> Times:
    """Return the times of `pairs` runs of live_traffic with the arguments `words` under the BPF program
    `program`, and of as many without it. `program` is "live" (that of `tcplearn live`) or the name of a
    program in this folder."""
    times: Times = {program: [], "stock": []}
    traffic.run(*words)
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(traffic.elsewhere())
        is_live = program == "live"
        stack.enter_context(other.live() if is_live else live_events.attached(program, other.cgroup))
        for i in range(2 * pairs):
            name, where = (program, other) if i % 4 in (0, 3) else ("stock", traffic)
            times[name].append(where.run(*words))
    return times


def _speed(what: str, times: Times, amount: float, unit: str) -> list[Row]:
    name = next(iter(times))
    wall_s, cpu_s = ({name: [one[i] for one in of] for name, of in times.items()} for i in (0, 1))
    speed = ratio_interval(wall_s["stock"], wall_s[name], CONFIDENCE)
    cpu = ratio_interval(cpu_s[name], cpu_s["stock"], CONFIDENCE)
    assert speed and cpu
    medians = {name: f"{amount / statistics.median(of):,.4g}" for name, of in wall_s.items()}
    criterion = (f"at least {LEAST_RATIO}", met(*speed[1:], least=LEAST_RATIO)) if name == "live" else ()
    called = _NAMES.get(name, name)
    over = f"{called} over stock"
    return [
        Row(f"{what}, {unit}: {called}, stock", f"{medians[name]}, {medians['stock']}"),
        Row(f"{what}: {over}", f"{speed[0]:.3f}", f"{speed[1]:.3f} to {speed[2]:.3f}", *criterion),
        Row(f"{what}, CPU time: {over}", f"{cpu[0]:.3f}", f"{cpu[1]:.3f} to {cpu[2]:.3f}"),
    ]


def speeds(traffic: Traffic, sizes: Sizes) -> Measured:
    bulk = _compared(traffic, sizes.pairs, "bulk", sizes.bulk_bytes)
    found = {"bulk_s": bulk}
    rows = _speed("bulk transfer", bulk, sizes.bulk_bytes * 8e-9, "Gbit/s")
    for program in ("live", *_NAMES):
        short = _compared(traffic, sizes.pairs, "talk", sizes.short, 1, program=program)
        rows += _speed("short connections", short, sizes.short, "a second")
        found[f"short_s, {program}"] = short
    return rows, found


def _loading_s(words: list[str]) -> float:
    begun_s = time.time()
    done = subprocess.run([sys.executable, *words, *_TELL_TIME], check=True, capture_output=True, text=True)
    return float(done.stdout) - begun_s


def loading(_: Traffic, sizes: Sizes) -> Measured:
    rows, found = [], {}
    with tempfile.TemporaryDirectory() as folder:
        build.compiled(build.SOURCES / "live.bpf.c", Path(folder) / "live.o")
        ways = {"with clang": ["-m", "tcplearn"], "compiled before": ["-c", _INSTALLED, folder]}
        for way, words in ways.items():
            times = sorted(_loading_s(words) for _ in range(sizes.loads))
            found[way] = times
            criterion = (f"under {MOST_LOADING_S:g} s", met(times[-1], times[-1], most=MOST_LOADING_S))
            spread = f"{times[0]:.2f} to {times[-1]:.2f}"
            what = f"loading, {way}: median, least to most"
            rows.append(Row(what, f"{statistics.median(times):.2f} s", spread, *criterion))
    return rows, found


PARTS: dict[str, Callable[[Traffic, Sizes], Measured]] = {
    "events": events,
    "speeds": speeds,
    "held": lambda traffic, sizes: live_held.rows(traffic, sizes.held, sizes.addresses, sizes.rounds),
    "loading": loading,
}


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="NAME")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="for the figures, as JSON")
    given = parser.parse_args()
    sizes = SMALL if given.small else Sizes()
    kernel, before, rows, found = platform.release(), os.getloadavg()[0], [], {}
    with made() as traffic:
        for name in given.parts:
            more, found[name] = PARTS[name](traffic, sizes)
            rows += [asdict(row) for row in more]
    after = os.getloadavg()[0]
    print(table_of([*rows[0]], [[*row.values()] for row in rows], [True, False, False, True, True]))
    print(f"\nLinux {kernel}, {os.cpu_count()} processors; load average {before:.1f}, then {after:.1f}")
    if given.output:
        made_by = provenance.made_by(kernel=kernel, machine=platform.machine())
        given_by = {"processors": os.cpu_count(), "load_average": [before, after], "sizes": asdict(sizes)}
        shown = {**made_by, **given_by, "rows": rows, **found}
        given.output.parent.mkdir(parents=True, exist_ok=True)
        given.output.write_text(json.dumps(shown, indent=1) + "\n")


if __name__ == "__main__":
    main()
