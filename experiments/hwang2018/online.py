# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists the runs of the loss classifier `online` in ns-3 and in a Linux kernel, and computes the tables of
online.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from experiments.hwang2018 import choice, criteria, lab
from experiments.hwang2018.sample import CALLS, CONFIDENCE, Sample, name_of
from experiments.hwang2018.simulated import METRICS
from experiments.lib.batches import Batch, Figures, LabRuns, SimulatedRuns
from experiments.lib.runs import Run
from experiments.lib.statistics import Estimate, student_mean, student_ratio

LAB = "online-1e-2"
FILES = ("online", "online-harm", "calibration-online")
ONLINE, HISTORY = "ml-online", "ml-history"
LOSS_RATE = 1e-2
EVENTS = 200  # number of losses after which the goodput is judged
OVER_HISTORY = 0.9  # smallest goodput from then on, relative to that of `history`
DROPS, DROPS_ADDED = criteria.DROPS, criteria.DROPS_ADDED


def keep(_run: Any, result: Mapping[str, Any]) -> Figures:
    """Returns those metrics of a run's `result` that are stored, by name."""
    measured = result["run"]["metrics"]
    return {name: measured[name] for name in METRICS if name in measured}, {}


def batches(folder: Path, profile: str) -> list[Batch]:
    """Returns the batches of runs in ns-3 and, if `profile` is "", also those in the lab, which need virtual
    machines."""
    found: list[Batch] = [SimulatedRuns(folder / f"{name}.toml", profile or "quick", keep) for name in FILES]
    return found if profile else [*found, LabRuns(folder / "lab" / f"{LAB}.toml", "full", lab.keep)]


def fill(runs: Sequence[Run], _folder: Path) -> dict[str, Any]:
    found = Sample.of(run for run in runs if run.host == "ns3")
    kernel = Sample.of(run for run in runs if run.host == "lab")
    if not found:
        return {}
    learning, harm = (found.at(scenario=name) for name in FILES[:2])
    ends = sorted({run.labels["duration_s"] for run in learning})
    return {
        "profile": found[0].profile,
        "kernel": ", ".join(sorted({run.host_version for run in kernel})),
        "in_kernel": in_kernel(kernel),
        "in_kernel_over": kernel.at("reno+online").over(kernel.at("reno+history"), "goodput_mbps"),
        "differences": round(kernel.total("decision_differences")),
        "confidence": f"{100 * CONFIDENCE:.0f} %",
        "periods": [f"{start:g} to {end:g} s" for start, end in zip([0.0, *ends], ends, strict=False)],
        "learning": by_period(learning, ends),
        "end": f"{ends[-1]:g}",
        "begin": f"{ends[-2]:g}",
        "losses": losses(learning.at(ONLINE, duration_s=ends[-2])),
        "events": EVENTS,
        "late": late(learning, ends),
        "over_history": OVER_HISTORY,
        "criteria_head": criteria.HEAD,
        "criteria": [
            row
            for sender in (ONLINE, HISTORY)
            for row in criteria.no_harm(harm, "newreno", "oracle", sender)
            if row[-1] != "not run"
        ],
        "clean": clean(harm.at(loss_rate=0.0)),
        "lossy": lossy(harm.at(loss_rate=LOSS_RATE)),
        "calls": calls(harm),
        "drops_added": DROPS_ADDED,
        "threshold": choice.table(found.at(scenario="calibration-online"), "online-"),
        "networks": len({run.run for run in found.at(scenario="calibration-online")}),
        "lossy_rates": choice.LOSSY,
    }


def between(found: Sample, start: float, end: float) -> dict[Any, float]:
    """Returns the goodput in Mbit/s between the times `start` and `end`, in seconds, by the number of the
    run. `found` has two runs of one sender with each number: one ends at `start`, the other at `end`. Until
    `start` both runs are equal."""
    sums = {
        at: {run.run: at * run.metrics["goodput_mbps"] for run in found.at(duration_s=at)}
        for at in (start, end)
        if at
    }
    first = sums.get(start, {})
    return {
        run: (bits - first.get(run, 0.0)) / (end - start)
        for run, bits in sums[end].items()
        if not start or run in first
    }


def by_period(found: Sample, ends: Sequence[float]) -> list[list[str]]:
    """Returns a list of table rows, one for each sender. A row has the sender's goodput in Mbit/s in each of
    the periods that end at the times `ends`, in seconds."""
    periods = list(zip([0.0, *ends], ends, strict=False))
    return [
        [
            name_of(name),
            *(str(student_mean(list(between(own, *of).values()), CONFIDENCE)) for of in periods),
        ]
        for name, own in found.senders().items()
    ]


def late(found: Sample, ends: Sequence[float]) -> dict[str, Estimate]:
    """Returns, for each other sender by name, the goodput of the sender with the loss classifier `online`
    divided by the goodput of the other sender, both between the last two of the times `ends` in seconds."""
    of = {name: between(own, *ends[-2:]) for name, own in found.senders().items()}
    return {
        name: student_ratio(of[ONLINE], values, CONFIDENCE) for name, values in of.items() if name != ONLINE
    }


def losses(found: Sample) -> dict[str, int]:
    """Returns the smallest, the mean and the largest number of fast retransmits in a run of `found`."""
    counts = [sum(run.metrics[name] for name in CALLS) for run in found]
    return {"least": round(min(counts)), "mean": round(fmean(counts)), "most": round(max(counts))}


def in_kernel(found: Sample) -> list[list[str]]:
    """Returns a list of table rows, one for each sender in the lab. A row has the sender's goodput, the ratio
    of this goodput to NewReno's, the numbers of the sender's decisions by the true cause of the loss, and the
    numbers of CPU instructions that a decision and an ACK take."""
    rows = []
    for name, own in found.senders().items():
        ratio = "" if name == "reno+none" else str(own.over(found.at("reno+none"), "goodput_mbps"))
        row = [name_of(name), str(own.mean("goodput_mbps")), ratio]
        if lab.decides(name):
            calls = [str(round(own.total(call))) for call in CALLS]
            cost = [
                f"{own.mean(of).value:,.0f}" for of in ("instructions_per_decision", "instructions_per_ack")
            ]
            rows.append([*row, *calls, *cost])
        else:
            rows.append([*row, *[""] * (len(CALLS) + 2)])
    return rows


def _conditions(found: Sample) -> list[tuple[str, Sample]]:
    return [
        (f"{words}, {where}", here)
        for beside, words in ((0, "alone"), (1, "shared"))
        for where, here in found.at(beside=beside).conditions().items()
    ]


def clean(found: Sample) -> list[list[str]]:
    """Returns a list of table rows, one for each condition without random loss. A row has the goodput, the
    queue drops and the mean RTT with the loss classifier `online`, divided by NewReno's. If there is a
    competing transfer, the row also has the goodput of this transfer and Jain's index, divided by those
    beside NewReno."""
    rows = []
    for where, here in _conditions(found):
        own, base = here.at(ONLINE), here.at("newreno")
        ratios = [own.over(base, name) for name in ("goodput_mbps", "queue_dropped_packets", "mean_rtt_ms")]
        shared = [
            own.over(base, name) for name in ("beside_goodput_mbps", "jain_index") if name in own[0].metrics
        ]
        rows.append([where, *map(str, ratios), *(map(str, shared) if shared else ("", ""))])
    return rows


def lossy(found: Sample) -> list[list[str]]:
    """Returns a list of table rows, one for each condition with random loss. A row has the goodput with the
    loss classifier `online`, divided by that of each other sender; the queue drops with `online`, divided by
    those with the oracle (which knows each loss's cause) and with the classifier `history`; and the goodput
    of a competing transfer, divided by its goodput beside the oracle."""
    rows = []
    for where, here in _conditions(found):
        own = here.at(ONLINE)
        goodput = [own.over(here.at(of), "goodput_mbps") for of in ("newreno", "westwood", HISTORY, "oracle")]
        drops = [own.over(here.at(of), DROPS, plus=DROPS_ADDED) for of in ("oracle", HISTORY)]
        shared = "beside_goodput_mbps" in own[0].metrics
        neighbour = str(own.over(here.at("oracle"), "beside_goodput_mbps")) if shared else ""
        rows.append([where, *map(str, goodput), *map(str, drops), neighbour])
    return rows


def calls(found: Sample) -> list[list[str]]:
    """Returns a list of table rows, one for each sender with a loss classifier. A row has the numbers of the
    sender's decisions in all conditions together, by the true cause of the loss and by the decided cause."""
    return [
        [name_of(name), *map(str, own.calls())]
        for name, own in found.senders().items()
        if name.startswith("ml-")
    ]
