# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares a loss classifier's decisions in the kernel module's log with captures around each hop."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from tcplearn import losses
from tcplearn.traces import tlog, tlog_losses

from . import kernel_log, truth

_SEQUENCES = 1 << 32

Figures = Iterator[tuple[str, float]]


def figures(folder: Path, loss: str, module: Mapping[str, float]) -> Figures:
    """Yield (metric, value) of the classifier `loss`; `module` has increments of the module's counters."""
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
    counts = {(true, said): 0 for true in losses.CAUSES for said in losses.CAUSES}
    needless = 0
    for decision in c.losses:
        lost = list(_lost(decision, drops))
        true = losses.CONGESTION if truth.QUEUE in lost else losses.RANDOM
        counts[true, losses.CAUSES[int(decision["cause"])]] += 1
        needless += not lost
    for (true, said), count in counts.items():
        yield f"{true}_called_{said}", float(count)
    yield "needless_recoveries", float(needless)


def _lost(decision: tlog.Records, drops: list[truth.Drop]) -> Iterator[str]:
    first, out = int(decision["first"]), (int(decision["end"]) - int(decision["first"])) % _SEQUENCES
    now_us = int(decision["time_us"])
    for drop in drops:
        is_out = (drop.sequence - first) % _SEQUENCES < out
        if is_out and drop.sent_us <= now_us:
            yield drop.by
