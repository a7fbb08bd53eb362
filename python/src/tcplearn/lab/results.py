# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a run left, as tidy rows: the kernel's own counters, and figures from the module's log."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcplearn import _native
from tcplearn.errors import FailedError
from tcplearn.traces import TraceError, tlog

from . import bursts
from .guest import Arm, arms
from .machine import Machine
from .scenario import NO_ESTIMATOR, STOCK, Scenario

#: HZ of Debian's kernels is 250: the tick in which nunes2014 gives its errors.
TICK_US = 4000
#: QEMU's -icount shift=1: an instruction takes 2 ns of the guest's clock, and its TSC runs at 1 GHz.
CYCLES_PER_INSTRUCTION = 2
#: Whose versions matter, by the transfer's program.
PACKAGES: dict[str, tuple[str, ...]] = {"send": (), "nginx": ("nginx", "curl"), "iperf3": ("iperf3",)}

Figures = Iterator[tuple[str, float, str]]


@dataclass(frozen=True, slots=True)
class Row:
    """One metric of one transfer."""

    paper: str
    scenario: str
    host: str
    algorithm: str
    run: int
    seed: int
    parameters: str
    metric: str
    value: float | None
    unit: str
    commit: str
    kernel: str


def rows(scenario: Scenario, run: int, seed: int, out: Path, machine: Machine) -> list[Row]:
    """All rows of one run, an arm after the other in the scenario's own order."""
    found: list[Row] = []
    made_at = (out / "complete").read_text().strip()
    for arm in arms(scenario, 0):
        parameters = f"tlp={'on' if arm.tlp else 'off'},bytes={scenario.transfer.bytes}"
        if scenario.algorithms.set_srtt:
            parameters += ",set_srtt=1"
        for name in PACKAGES[scenario.transfer.by]:
            parameters += f",{name}={machine.versions[name]}"
        try:
            figures = list(_figures(arm, out / arm.folder, scenario.transfer.by))
        except (OSError, ValueError) as error:
            raise FailedError(f"{out / arm.folder}: what the guest left cannot be read: {error}") from error
        found += [
            Row(
                scenario.paper,
                scenario.name,
                "lab",
                arm.name,
                run,
                seed,
                parameters,
                metric,
                value,
                unit,
                made_at,
                machine.kernel,
            )
            for metric, value, unit in figures
        ]
    return found


def _figures(arm: Arm, folder: Path, by: str) -> Figures:
    info = _pairs(folder / "info")
    yield "duration", info["elapsed_us"] / 1e6, "s"
    yield "goodput", 8 * info["bytes"] / info["elapsed_us"], "Mbit/s"
    yield from bursts.figures(info)
    nstat = _difference(_nstat(folder / "before.nstat"), _nstat(folder / "after.nstat"))
    # curl does not see the sender's socket: the namespace's counters, of which it is the only user
    resent = info.get("retrans", nstat["TcpRetransSegs"])
    yield "retransmissions", resent, "1"
    yield "retransmitted_share", resent / max(info.get("data_segs_out", nstat["TcpOutSegs"]), 1), "1"
    module = _difference(_pairs(folder / "before.module"), _pairs(folder / "after.module"))
    if arm.estimator != NO_ESTIMATOR:
        yield from _of_log(arm, folder / "log")
        yield from _of_module(module)
    yield from ((f"module.{name}", value, "1") for name, value in module.items())
    yield from (
        (f"{'ss' if by == 'send' else by}.{name}", value, _unit(name)) for name, value in info.items()
    )
    yield from ((f"nstat.{name}", value, "1") for name, value in nstat.items() if value)


def _unit(name: str) -> str:
    return "us" if name.endswith("_us") else "B" if name.startswith("bytes") else "1"


def _of_log(arm: Arm, path: Path) -> Figures:
    """The first sample is left out of every error: some estimators predict nothing before it."""
    log = read_log(path)
    if len(log.connections) != 1:
        raise FailedError(f"{path}: {len(log.connections)} connections in the log of one transfer")
    c = next(iter(log.connections.values()))
    yield "log_records_lost", float(c.lost), "1"
    acks = c.acks
    s = acks[acks["rtt_us"] >= 0]
    if len(acks):
        yield "mean_cwnd", _mean(acks["cwnd"]), "segments"
    yield "samples", float(len(s)), "1"
    if len(s) < 2:
        return
    error_us = np.abs(s["rtt_q8"][:-1] / 256 - s["rtt_us"][1:])
    yield "mean_abs_error", _mean(error_us) / 1000, "ms"
    yield "mean_abs_error_ticks", _mean(error_us) / TICK_US, "ticks of 4 ms"
    yield "mean_rtt", _mean(s["rtt_us"]) / 1000, "ms"
    yield "mean_rto", _mean(s["rto_us"]) / 1000, "ms"
    yield "mean_stock_rto", _mean(s["stock_rto_us"]) / 1000, "ms"
    if arm.estimator != STOCK:
        yield "replay_differences", float(replay_differences(c)), "1"


def read_log(path: Path) -> tlog.Log:
    """The log of a run, packed or not."""
    packed = path.with_name(path.name + ".gz")
    try:
        data = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
        return tlog.parse(data, str(path))
    except TraceError as error:
        raise FailedError(str(error)) from error


def replay_differences(c: tlog.Connection) -> int:
    """Answers of the kernel that the core, given the same samples here, does not give to the bit."""
    s = c.acks[c.acks["rtt_us"] >= 0]
    core = _native.Estimator(c.estimator, "fixed", {})
    time_us, rtt_us = (s[name].astype(np.int64) for name in ("time_us", "rtt_us"))
    flight = s["flight_segments"].astype(np.int64)
    rtt, rto = core.run(rtt_us, time_us, time_us - rtt_us, flight_segments=flight)
    after = (np.append(rtt[1:], core.rtt_us), np.append(rto[1:], core.rto_us))
    return int(((after[0] * 256 != s["rtt_q8"]) | (after[1] * 256 != s["rto_q8"])).sum())


def _of_module(counts: dict[str, float]) -> Figures:
    if counts["armed"]:
        yield "armed_ours_share", counts["armed_ours"] / counts["armed"], "1"
    at_once = counts["armed"] - counts["armed_late"]
    if at_once:
        yield "armed_ours_at_once_share", (counts["armed_ours"] - counts["armed_late_ours"]) / at_once, "1"
    if counts["measured"]:
        n = counts["measured"] * CYCLES_PER_INSTRUCTION
        yield "instructions_per_ack_base", (counts["cycles_base"] - counts["cycles_clock"]) / n, "1"
        yield "instructions_per_ack", (counts["cycles_all"] - 2 * counts["cycles_clock"]) / n, "1"


def _mean(values: Any) -> float:
    return float(np.mean(values))


def _pairs(path: Path) -> dict[str, float]:
    """Lines of "name value"."""
    return {name: float(value) for name, value in (line.split() for line in path.read_text().splitlines())}


def _nstat(path: Path) -> dict[str, float]:
    """/proc/net/snmp and netstat: a line of names, then one of values, each with its protocol."""
    lines = path.read_text().splitlines()
    out: dict[str, float] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        protocol, *keys = names.split()
        gauges = {"RtoAlgorithm", "RtoMin", "RtoMax", "MaxConn", "Forwarding", "DefaultTTL", "CurrEstab"}
        for key, value in zip(keys, values.split()[1:], strict=True):
            if key not in gauges:
                out[protocol.rstrip(":") + key] = float(value)
    return out


def _difference(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    return {name: value - before.get(name, 0.0) for name, value in after.items()}
