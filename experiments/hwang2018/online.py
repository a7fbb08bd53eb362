# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists the runs of the loss classifier `online` in ns-3 and in a Linux kernel, and computes the tables of
online.md."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from experiments.hwang2018 import choice, criteria, lab
from experiments.hwang2018.sample import CALLS, CONFIDENCE, DROPS, DROPS_ADDED, Sample, name_of
from experiments.hwang2018.simulated import metrics_of
from experiments.lib.batches import Batch, LabRuns, SimulatedRuns
from experiments.lib.runs import Run
from experiments.lib.statistics import Estimate, student_mean, student_ratio

FILES = ("online", "online-harm", "calibration-online")
ONLINE, HISTORY = "ml-online", "ml-history"


def batches(folder: Path, profile: str) -> list[Batch]:
    """Returns the runs in ns-3 and, if `profile` is "", also those in the lab, which need virtual
    machines."""
    files = [folder / f"{name}.toml" for name in FILES]
    found: list[Batch] = [SimulatedRuns(file, profile or "quick", metrics_of) for file in files]
    return found if profile else [*found, LabRuns(folder / "lab" / "online-1e-2.toml", "full", lab.keep)]


def fill(runs: Sequence[Run], _folder: Path) -> dict[str, Any]:
    found = Sample.of(run for run in runs if run.host == "ns3")
    kernel = Sample.of(run for run in runs if run.host == "lab")
    if not found:
        return {}
    learning, harm = (found.at(scenario=name) for name in FILES[:2])
    ends = sorted({run.labels["duration_s"] for run in learning})
    return {
        "profile": found[0].profile,
        "kernels": ", ".join(sorted({run.host_version for run in kernel})),
        "kernel": kernel,
        "in_kernel": in_kernel(kernel),
        "confidence": f"{100 * CONFIDENCE:.0f} %",
        "ends": ends,
        "periods": [f"{start:g} to {end:g} s" for start, end in pairwise([0.0, *ends])],
        "learning": by_period(learning, ends),
        "losses": losses(learning.at(ONLINE, duration_s=ends[-2])),
        "late": late(learning, ends),
        "criteria_head": criteria.HEAD,
        "criteria": [*criteria.no_harm(harm, ONLINE), *criteria.no_harm(harm, HISTORY)],
        "clean": clean(harm.at(loss_rate=0.0)),
        "lossy": lossy(harm.at(loss_rate=1e-2)),
        "harm": harm,
        "name_of": name_of,
        "drops_added": DROPS_ADDED,
        "calibration": found.at(scenario=FILES[2]),
        "choice": choice,
    }


def between(found: Sample, start: float, end: float) -> dict[Any, float]:
    """Returns the goodput in Mbit/s between the times `start` and `end`, in seconds, by the number of the
    run. `found` has two runs of one sender with each number: one ends at `start`, the other at `end`. Until
    `start` both runs are equal."""
    first, last = (
        {run.run: at * run.metrics["goodput_mbps"] for run in found.at(duration_s=at)} for at in (start, end)
    )
    both = [run for run in last if run in first or not start]
    return {run: (last[run] - first.get(run, 0.0)) / (end - start) for run in both}


def by_period(found: Sample, ends: Sequence[float]) -> list[list[str]]:
    """Returns a table row for each sender: its goodput in Mbit/s in each of the periods that end at the times
    `ends`, in seconds."""
    rows = []
    for name, own in found.senders().items():
        of = [list(between(own, *period).values()) for period in pairwise([0.0, *ends])]
        rows.append([name_of(name), *(str(student_mean(values, CONFIDENCE)) for values in of)])
    return rows


def late(found: Sample, ends: Sequence[float]) -> dict[str, Estimate]:
    """Returns the goodput with the loss classifier `online` divided by that of each other sender, by its
    name, between the last two of the times `ends` in seconds."""
    of = {name: between(own, *ends[-2:]) for name, own in found.senders().items()}
    ours = of.pop(ONLINE)
    return {name: student_ratio(ours, values, CONFIDENCE) for name, values in of.items()}


def losses(found: Sample) -> dict[str, int]:
    """Returns the smallest, the mean and the largest number of fast retransmits in a run of `found`."""
    counts = [sum(run.metrics[name] for name in CALLS) for run in found]
    return {"least": round(min(counts)), "mean": round(fmean(counts)), "most": round(max(counts))}


def in_kernel(found: Sample) -> list[list[str]]:
    """Returns a table row for each sender in the lab: its goodput, the ratio of this goodput to NewReno's,
    the numbers of its decisions in the order of `CALLS`, and the CPU instructions of a decision and of an
    ACK."""
    rows = []
    for name, own in found.senders().items():
        ratio = "" if name == "reno+none" else str(own.over(found.at("reno+none"), "goodput_mbps"))
        costs = [own.mean(f"instructions_per_{of}").value for of in ("decision", "ack")]
        cells = [*map(str, own.calls()), *(f"{cost:,.0f}" for cost in costs)]
        cells = cells if lab.decides(name) else [""] * len(cells)
        rows.append([name_of(name), str(own.mean("goodput_mbps")), ratio, *cells])
    return rows


def _over_others(found: Sample, columns: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Returns a table row for each network condition: for each pair of a sender and a metric in `columns`,
    the metric with the loss classifier `online` divided by the sender's."""
    return [
        [where, *(here.at(ONLINE).over_text(here.at(base), metric) for base, metric in columns)]
        for where, here in found.shared_or_not()
    ]


def clean(found: Sample) -> list[list[str]]:
    """Returns the rows of the table without random loss: ratios to NewReno."""
    metrics = ("goodput_mbps", "queue_dropped_packets", "mean_rtt_ms", "beside_goodput_mbps", "jain_index")
    return _over_others(found, [("newreno", metric) for metric in metrics])


def lossy(found: Sample) -> list[list[str]]:
    """Returns the rows of the table with random loss: ratios of goodput, of drops and of the goodput of a
    competing transfer."""
    columns = [(base, "goodput_mbps") for base in ("newreno", "westwood", HISTORY, "oracle")]
    columns += [("oracle", DROPS), (HISTORY, DROPS), ("oracle", "beside_goodput_mbps")]
    return _over_others(found, columns)
