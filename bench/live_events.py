# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures, for bench/live_load.py, how long the BPF program of `tcplearn live` runs for one event of a
connection, by the kernel's count of run times. The same is measured for a BPF program that does nothing,
because the kernel's count includes the time of reading the clock."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from live_criteria import CONFIDENCE, Row, met
from live_traffic import Traffic

from tcplearn.bpf import build
from tcplearn.bpf.libbpf import Object
from tcplearn.simulate.interval import mean_interval

MOST_US = 0.8
_RUN_TIMES = 0  # BPF_STATS_RUN_TIME


@contextlib.contextmanager
def attached(name: str, cgroup: Path) -> Iterator[int]:
    """Attach the BPF program in live_`name`.bpf.c of this folder to `cgroup`. Yield the descriptor of the
    link."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(__file__).with_name(f"live_{name}.bpf.c")
        program = Object(build.compiled(source, Path(folder) / f"{name}.o"))
    try:
        yield program.attach(name, cgroup)
    finally:
        program.close()


@contextlib.contextmanager
def _run_times() -> Iterator[None]:
    """Let the kernel count the run times of BPF programs."""
    counting = ctypes.CDLL("libbpf.so.1", use_errno=True).bpf_enable_stats(_RUN_TIMES)
    if counting < 0:
        raise SystemExit(f"counting run times: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        os.close(counting)


def _event_us(
    traffic: Traffic, loaded: AbstractContextManager[int], load: tuple[int, int]
) -> tuple[float, int]:
    """Return the mean time in us that the program attached by `loaded` runs for an event, and the number of
    events, while `traffic` makes connections: `load` has their number, and the number of requests on each."""
    with loaded as link, _run_times():
        traffic.run("talk", *load)
        lines = Path(f"/proc/self/fdinfo/{link}").read_text().splitlines()
        (number,) = (line.split()[1] for line in lines if line.startswith("prog_id:"))
        shown = subprocess.check_output([build.tool("bpftool"), "-j", "prog", "show", "id", number])
    program = json.loads(shown)
    return program["run_time_ns"] / program["run_cnt"] / 1000, program["run_cnt"]


def rows(traffic: Traffic, loads: Mapping[str, tuple[int, int]], times: int) -> tuple[list[Row], Any]:
    """Measure the time of an event, which is one run of a BPF program, under each of `loads`: `times` times
    with the BPF program of `tcplearn live`, and `times` times with an empty one. Return the rows of the
    table, and the measured times."""
    programs: dict[str, Callable[[], AbstractContextManager[int]]] = {
        "live": traffic.live,
        "an empty program": lambda: attached("empty", traffic.cgroup),
    }
    made, found = [], {}
    for what, load in loads.items():
        for name, loaded in programs.items():
            measured = [_event_us(traffic, loaded(), load) for _ in range(times)]
            found[f"{what}: {name}"] = measured
            mean, half = mean_interval([us for us, _ in measured], CONFIDENCE)
            ends = mean - (half or 0), mean + (half or 0)
            criterion = (f"at most {MOST_US} µs", met(*ends, most=MOST_US)) if name == "live" else ()
            spread = "{:.2f} to {:.2f}".format(*ends)
            made.append(Row(f"event, {what}: {name}", f"{mean:.2f} µs", spread, *criterion))
    return made, found
