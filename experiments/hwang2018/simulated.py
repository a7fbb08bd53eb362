# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists the runs of the senders of the paper hwang2018 in ns-3, and computes the contents of simulated.md."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.hwang2018 import choice, criteria, figures, published, tables, training
from experiments.hwang2018.sample import CALLS, CONFIDENCE, SENDERS, Sample, name_of
from experiments.lib.batches import Batch, Figures, LabRuns, SimulatedRuns
from experiments.lib.runs import Run
from experiments.lib.statistics import Estimate, student_mean, student_ratio

FILES = (
    "figure-5", "figure-7", "figure-9", "baselines", "acks", "harm", "training", "calibration",
    "calibration-past", "calibration-cubic", tables.SCENARIO,
)  # fmt: skip
#: A scenario of the lab: Linux's CUBIC with and without its TCP-friendly region.
ON_LINUX, WITH, WITHOUT = "lab-friendly-region", "cubic+none", "cubic+stock+no-friendly-region"
METRICS = (
    "goodput_mbps", "mean_rtt_ms", "queue_dropped_packets", "beside_goodput_mbps", "jain_index", *CALLS,
)  # fmt: skip
#: The senders that decide the cause of a loss. The paper's tables 1 and 2 count such decisions.
DECIDED = tuple(name for name in SENDERS if name.startswith(("veno-", "ml-")) and name != "ml-past")


def keep(run: Any, result: Mapping[str, Any]) -> Figures:
    """Returns what is stored of a run in ns-3: its metrics, data for training the loss classifier (inputs and
    true cause of each loss) and, if figure 6 shows the run, the mean cwnd in each second."""
    measured = result["run"]["metrics"]
    series = training.keep(result.get("losses"))
    drawn = (run.document.name, run.scenario.topology.loss_rate) == ("5", figures.OVER_TIME_AT)
    if drawn and run.labels["variant"] in figures.OVER_TIME:
        series["cwnd_bytes"] = np.array(result["run"]["cwnd_over_time"]["bytes"] or (), float)
    return {name: measured[name] for name in METRICS if name in measured}, series


def batches(folder: Path, profile: str) -> list[Batch]:
    found: list[Batch] = [SimulatedRuns(folder / f"{name}.toml", profile or "quick", keep) for name in FILES]
    on_linux = LabRuns(folder / "lab" / "friendly-region.toml", profile or "full", keep_on_linux)
    return [*found, on_linux]


def keep_on_linux(_chosen: Any, _folder: Path, measured: Mapping[str, float]) -> Figures:
    """Returns what is stored of a run in the lab: the goodput in Mbit/s."""
    return {"goodput_mbps": measured["goodput_mbps"]}, {}


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    on_linux = [run for run in runs if run.scenario == ON_LINUX]
    runs = [run for run in runs if run.scenario != ON_LINUX]
    found = Sample.of(runs)
    trained = training.tables(found)
    judged = list(published.rows(found, trained.get("trained", ()), folder))
    paper = tables.published(published.read(folder / "published-tables.csv"))
    shares = {
        row["sender"]: (published.at(row["at"])["loss_rate"], float(row["printed"]))
        for row in published.read(folder / "published.csv")
        if row["where"] == "figure 5" and row["base"] == row["sender"]
    }
    return {
        "profile": runs[0].profile,
        "confidence": f"{100 * CONFIDENCE:.0f} %",
        "main": criteria.main_result(found),
        "criteria": list(criteria.rows(found)),
        "criteria_head": criteria.HEAD,
        "missed": criteria.missed_by_others(found),
        "networks": {name: len({run.run for run in found.at(scenario=name)}) for name in FILES},
        "threshold": choice.table(found.at(scenario="calibration"), "history-"),
        "past": choice.table(found.at(scenario="calibration-past"), "past-"),
        "lossy": choice.LOSSY,
        "cubic": choice.cubic(found.at(scenario="calibration-cubic")),
        "training": trained,
        "protocol": training,
        "rates": [f"{rate:g}" for rate in (0.0, *training.TABLES)],
        "five": found.at(scenario="5"),
        "decided": DECIDED,
        "published": {at: " / ".join(map(str, counts)) for at, counts in paper.items()},
        "packets_needed": tables.packets_needed(paper),
        "tables": tables.ours(found.at(scenario=tables.SCENARIO)),
        "to_veno": [
            tables.ratio_to_veno(of.at(loss_rate=1e-2))
            for of in (found.at(scenario="5"), found.at(scenario=tables.SCENARIO, rtt_ms=60.0))
        ],
        "printed": judged,
        "printed_head": published.HEAD,
        "verdicts": published.counted(judged),
        "tolerance": f"{100 * published.TOLERANCE:.0f} %",
        "equations": equations(found.at(scenario="5"), found.at(scenario="baselines")),
        "acks": list(acks(found.at(scenario="acks"))),
        "friendly_region": friendly_region(on_linux),
        "cubic_in_ns3": {
            f"{of:g}": found.at(scenario="acks", duration_s=of, delayed_ack_segments=1)
            .at("cubic")
            .mean("goodput_mbps")
            for of in (15.0, 100.0)
        },
        "acks_runs": found.at(scenario="acks", duration_s=100.0),
        "drops": list(criteria.drops(found.at(scenario="harm"))),
        "drops_added": criteria.DROPS_ADDED,
        "harm": found.at(scenario="harm"),
        "name_of": name_of,
        "figures": list(figures.simulated(found, shares)),
    }


def equations(ours: Sample, theirs: Sample) -> dict[str, list[list[str]]]:
    """Returns the rows of two tables that compare `ours`, runs in which NewReno, Veno, Vegas and Westwood+
    follow their equations, with `theirs`, runs of ns-3's own versions. The first table has the goodput of
    each sender, the second the ratio of the goodput with a loss classifier to that of each other sender."""
    ours = Sample(run for run in ours if run.run in {other.run for other in theirs})
    vegas = {"vegas-linux": "vegas"}  # ns-3's Vegas has one cut

    def goodput(runs: Sample, sender: str, rate: float) -> Sample:
        name = vegas.get(sender, sender) if runs is theirs else sender
        return runs.at(name, loss_rate=rate)

    def over(runs: Sample, above: tuple[str, float], below: tuple[str, float]) -> str:
        return str(goodput(runs, *above).over(goodput(runs, *below), "goodput_mbps"))

    both = (ours, theirs)
    senders = []
    for name in ("newreno", "veno-5", "vegas", "vegas-linux", "westwood", "ml-hwang2018", "ml-history"):
        means = [str(goodput(runs, name, 1e-2).mean("goodput_mbps")) for runs in both]
        ratio = goodput(ours, name, 1e-2).over(goodput(theirs, name, 1e-2), "goodput_mbps")
        kept = [over(runs, (name, 1e-2), (name, 0.0)) for runs in both]
        senders.append([name_of(name), *means, str(ratio), *kept])
    ratios = [
        [f"{name_of(own)} over {name_of(base)}", *(over(runs, (own, 1e-2), (base, 1e-2)) for runs in both)]
        for own in ("ml-hwang2018", "ml-history")
        for base in ("newreno", "veno-5", "vegas", "vegas-linux", "westwood")
    ]
    return {"senders": senders, "ratios": ratios}


def friendly_region(runs: Sequence[Run]) -> dict[str, Estimate]:
    """Returns the mean goodput of Linux's CUBIC in Mbit/s, with and without its TCP-friendly region, and the
    ratio of the goodput without the region to that with it."""
    goodputs: dict[str, dict[Hashable, float]] = {
        name: {run.run: run.metrics["goodput_mbps"] for run in runs if run.algorithm == name}
        for name in (WITH, WITHOUT)
    }
    means = {
        key: student_mean(list(goodputs[name].values()), CONFIDENCE)
        for key, name in (("with_it", WITH), ("without", WITHOUT))
    }
    return means | {"ratio": student_ratio(goodputs[WITHOUT], goodputs[WITH], CONFIDENCE)}


def acks(found: Sample) -> Iterator[list[str]]:
    """Yields a table row for each sender: its goodput, and that with the loss classifier `history` divided
    by it, in three cases: an ACK for every second segment, an ACK for every segment, and an ACK for every
    segment in runs of only 15 s."""
    cases = (("100", 2), ("100", 1), ("15", 1))
    runs = [found.at(duration_s=float(of), delayed_ack_segments=every) for of, every in cases]
    for name in found.senders():
        means = [str(here.at(name).mean("goodput_mbps")) for here in runs]
        ratios = [str(here.at("ml-history").over(here.at(name), "goodput_mbps")) for here in runs]
        yield [name_of(name), *means, *ratios]
