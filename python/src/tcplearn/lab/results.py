# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes the result rows of a lab run from kernel counters, the kernel module's log and captures."""

import itertools
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tcplearn import losses
from tcplearn.errors import FailedError
from tcplearn.jobs.job import NOT_AS_WRITTEN
from tcplearn.metrics import LAB
from tcplearn.output.rows import Head, tidy
from tcplearn.traces import tlog, tlog_losses

from . import kernel_log, requests, truth
from .arm import NO_ESTIMATOR, SENDER, Arm
from .guest import arms
from .kept import made_by
from .machine import Machine
from .scenario import Scenario
from .workload import SENT, Figures, Left

PACKAGES: dict[str, tuple[str, ...]] = {  # Debian packages whose versions are recorded, by program
    "nginx": ("nginx", "curl"),
    "iperf3": ("iperf3",),
}

TRANSFER = "transfer"  # the flow that is measured under each algorithm; a workload may add others
SEGMENT_BYTES = 1448  # data in a full Ethernet packet whose TCP header has timestamps
_SEQUENCES = 1 << 32

Json = dict[str, Any]


def rows(scenario: Scenario, key: str, seed: int, out: Path, machine: Machine) -> list[Json]:
    """Return a row for each metric of each algorithm in the run `key`, whose output is in the folder `out`.
    Raise FailedError if the output is not readable."""
    found: list[Json] = []
    commit, version = made_by(out)
    for arm in arms(scenario, 0):
        head = Head(
            host=LAB,
            paper=scenario.paper,
            scenario=scenario.name,
            flow=TRANSFER,
            algorithm=arm.name,
            run=key,
            seed=seed,
            parameters=_parameters(scenario, arm, machine),
            version=version,
            commit=commit,
        )
        folder = out / arm.folder
        try:
            found += tidy(head, dict(_figures(scenario, arm, folder)))
            for flow, parameters, figures in scenario.transfer.workload.flows(folder):
                of = replace(head, flow=flow, parameters={**head.parameters, **parameters})
                found += tidy(of, figures)
        except (OSError, EOFError, zlib.error, ArithmeticError, FailedError, *NOT_AS_WRITTEN) as error:
            why = f"no {error}" if isinstance(error, LookupError) else str(error)
            unread = f"{folder}: the guest's output cannot be read: {why}; --fresh runs it again"
            raise FailedError(unread) from error
    return found


def _parameters(scenario: Scenario, arm: Arm, machine: Machine) -> Json:
    out: Json = {
        "tlp": arm.tlp,
        "bytes": scenario.transfer.bytes,
        "set_srtt": scenario.algorithms.set_srtt,
        "kernel": machine.kernel,
    }
    if lost := scenario.handshakes:
        out["handshakes"] = f"{lost.dropped()}, {lost.percent:g} %"
    if scenario.tick_ms is not None:
        out["tick_ms"] = scenario.tick_ms
    return out | {name: machine.versions[name] for name in PACKAGES.get(scenario.transfer.by, ())}


def _figures(scenario: Scenario, arm: Arm, folder: Path) -> Figures:
    by = scenario.transfer.by
    left = _left(folder)
    info, nstat = left.info, left.nstat
    yield "duration_s", info["elapsed_us"] / 1e6
    own_mbps = 8 * info["bytes"] / info["elapsed_us"]
    yield "goodput_mbps", own_mbps
    yield from beside_figures(scenario, folder, own_mbps, info["elapsed_us"], read_nstat)
    resent = info.get("retrans", nstat["TcpRetransSegs"])  # curl reports none, but is alone in its namespace
    yield "retransmitted_packets", resent
    yield "retransmitted_share", resent / max(info.get("data_segs_out", nstat["TcpOutSegs"]), 1)
    for load in scenario.workloads:
        yield from load.figures(left)
    module = _difference(_pairs(folder / "before.module"), _pairs(folder / "after.module"))
    if arm.estimator != NO_ESTIMATOR and scenario.transfer.workload.one_connection and arm.at == SENDER:
        yield from kernel_log.figures(folder / "log", scenario.tick_ms)
        yield from _of_module(module)
    if arm.resend:
        inherited = scenario.transfer.inherits
        yield from requests.policy_figures(folder, arm.resend, module, inherited=inherited)
    if scenario.truth or arm.loss:
        yield from _of_losses(folder, arm.loss, module)
    yield from ((f"module.{name}", value) for name, value in module.items())
    yield from ((f"{'ss' if by == 'send' else by}.{name}", value) for name, value in info.items())
    yield from ((f"nstat.{name}", value) for name, value in nstat.items() if value)


def beside_figures(
    scenario: Scenario,
    folder: Path,
    own_mbps: float,
    elapsed_us: float,
    read: Callable[[Path], Mapping[str, float]],
) -> Figures:
    """Yield (metric, value) for the background TCP senders' mean goodput in Mbit/s, and for Jain's fairness
    index of their goodputs and `own_mbps`, the goodput of the main transfer, which took `elapsed_us`."""
    rates = []
    for k in scenario.counted_senders:
        sent = read(folder / f"after.x{k}").get(SENT, 0.0) - read(folder / f"before.x{k}").get(SENT, 0.0)
        rates.append(8 * SEGMENT_BYTES * sent / elapsed_us)
    if rates:
        yield "beside_goodput_mbps", sum(rates) / len(rates)
        every = [own_mbps, *rates]
        yield "jain_index", sum(every) ** 2 / (len(every) * sum(rate**2 for rate in every))


def data_segments(folder: Path) -> float:
    return _left(folder).data_segments


def _left(folder: Path) -> Left:
    counts = _difference(read_nstat(folder / "before.nstat"), read_nstat(folder / "after.nstat"))
    return Left(folder, _pairs(folder / "info"), counts)


def _of_module(counts: dict[str, float]) -> Figures:
    if counts["armed"]:
        yield "armed_ours_share", counts["armed_ours"] / counts["armed"]
    at_once = counts["armed"] - counts["armed_late"]
    if at_once:
        yield "armed_ours_at_once_share", (counts["armed_ours"] - counts["armed_late_ours"]) / at_once
    if counts["measured"]:
        n = counts["measured"] * kernel_log.CYCLES_PER_INSTRUCTION
        yield "instructions_per_ack_base", (counts["cycles_base"] - counts["cycles_clock"]) / n
        ours = counts["cycles_all"] - 2 * counts["cycles_clock"] - counts.get("cycles_resend_log", 0.0)
        yield "instructions_per_ack", ours / n


def _of_losses(folder: Path, loss: str, module: Mapping[str, float]) -> Figures:
    """Yield the metrics of the loss classifier `loss`; `module` has increments of the module's counters."""
    found = folder.parent / truth.FILE
    drops = truth.drops(folder.parent) if found.exists() else None
    if not loss:
        return
    c = kernel_log.opened(folder / "log").connection
    yield "loss_decisions", float(len(c.losses))
    same = tlog_losses.compare(c, loss)
    yield "decision_differences", float(same.features + same.answers)
    if module["loss_measured"]:
        cycles = module["cycles_loss"] - module["cycles_loss_clock"]
        yield "instructions_per_decision", kernel_log.instructions(cycles, module["loss_measured"])
    if drops is not None:
        yield from _judged(c, drops)


def _judged(c: tlog.Connection, all_drops: list[truth.Drop]) -> Figures:
    port = int(c.open["source_port"]) if c.open is not None else -1
    drops = [drop for drop in all_drops if drop.port == port]
    for by in (truth.QUEUE, truth.CHANNEL):
        yield f"{by}_dropped_packets", float(sum(drop.by == by for drop in drops))
    counts: Counter[tuple[str, str]] = Counter()
    needless = 0
    for decision in c.losses:
        first, end, now_us = (int(decision[name]) for name in ("first", "end", "time_us"))
        out = (end - first) % _SEQUENCES
        lost = {d.by for d in drops if (d.sequence - first) % _SEQUENCES < out and d.sent_us <= now_us}
        true = losses.CONGESTION if truth.QUEUE in lost else losses.RANDOM
        counts[true, losses.CAUSES[int(decision["cause"])]] += 1
        needless += not lost
    for true, said in itertools.product(losses.CAUSES, repeat=2):
        yield f"{true}_called_{said}", float(counts[true, said])
    yield "needless_recoveries", float(needless)


def _pairs(path: Path) -> dict[str, float]:
    return {name: float(value) for name, value in (line.split() for line in path.read_text().splitlines())}


def read_nstat(path: Path) -> dict[str, float]:
    """Return the counters in a copy of /proc/net/snmp or /proc/net/netstat, by nstat's names."""
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
