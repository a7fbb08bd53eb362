# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists the runs of the senders of the paper hwang2018 in ns-3, and computes the contents of simulated.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.hwang2018 import choice, criteria, figures, published, training
from experiments.hwang2018.sample import CALLS, CONFIDENCE, DROPS_ADDED, SENDERS, Sample, name_of
from experiments.lib.batches import Batch, Figures, LabRuns, SimulatedRuns
from experiments.lib.pages import csv_rows
from experiments.lib.runs import Run

FILES = (
    "figure-5", "figure-7", "figure-9", "baselines", "acks", "harm", "training", "calibration",
    "calibration-past", "calibration-cubic", published.TABLES,
)  # fmt: skip
METRICS = (
    "goodput_mbps", "mean_rtt_ms", "queue_dropped_packets", "beside_goodput_mbps", "jain_index", *CALLS,
)  # fmt: skip
#: The senders that decide the cause of a loss. The paper's tables 1 and 2 count such decisions.
DECIDED = tuple(name for name in SENDERS if name.startswith(("veno-", "ml-")) and name != "ml-past")


def metrics_of(_run: Any, result: Mapping[str, Any]) -> Figures:
    """Returns those metrics of a run's `result` that are stored, by name, and no series."""
    measured = result["run"]["metrics"]
    return {name: measured[name] for name in METRICS if name in measured}, {}


def keep(run: Any, result: Mapping[str, Any]) -> Figures:
    """Returns what is stored of a run in ns-3: its metrics, data for training the loss classifier (inputs and
    true cause of each loss) and, if figure 6 shows the run, the mean cwnd in each second."""
    series = training.keep(result.get("losses"))
    drawn = (run.document.name, run.scenario.topology.loss_rate) == ("5", figures.OVER_TIME_AT)
    if drawn and run.labels["variant"] in figures.OVER_TIME:
        series["cwnd_bytes"] = np.array(result["run"]["cwnd_over_time"]["bytes"] or (), float)
    return metrics_of(run, result)[0], series


def keep_on_linux(_chosen: Any, _folder: Path, measured: Mapping[str, float]) -> Figures:
    """Returns what is stored of a run in the lab: the goodput in Mbit/s."""
    return {"goodput_mbps": measured["goodput_mbps"]}, {}


def batches(folder: Path, profile: str) -> list[Batch]:
    found: list[Batch] = [SimulatedRuns(folder / f"{name}.toml", profile or "quick", keep) for name in FILES]
    on_linux = LabRuns(folder / "lab" / "friendly-region.toml", profile or "full", keep_on_linux)
    return [*found, on_linux]


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    found = Sample.of(runs)
    five = found.at(scenario="5")
    trained = training.tables(found)
    shares = {
        row["sender"]: (published.at(row["at"])["loss_rate"], float(row["printed"]))
        for row in csv_rows(folder / "published.csv")
        if row["where"] == "figure 5" and row["base"] == row["sender"]
    }
    return {
        "profile": found.at(host="ns3")[0].profile,
        "confidence": f"{100 * CONFIDENCE:.0f} %",
        "found": found,
        "five": five,
        "harm": found.at(scenario="harm"),
        "acks": found.at(scenario="acks"),
        "criteria": criteria,
        "choice": choice,
        "published": published,
        "printed": list(published.rows(found, trained.get("trained", ()), folder)),
        "paper": published.counts(csv_rows(folder / "published-tables.csv")),
        "training": trained,
        "protocol": training,
        "rates": [f"{rate:g}" for rate in (0.0, *training.TABLES)],
        "decided": DECIDED,
        "equations": equations(five, found.at(scenario="baselines")),
        "drops_added": DROPS_ADDED,
        "name_of": name_of,
        "figures": list(figures.simulated(found, shares)),
    }


def equations(ours: Sample, theirs: Sample) -> dict[str, list[list[str]]]:
    """Returns the rows of two tables that compare `ours`, runs in which NewReno, Veno, Vegas and Westwood+
    follow their equations, with `theirs`, runs of ns-3's own versions. The first table has the goodput of
    each sender, the second the ratio of the goodput with a loss classifier to that of each other sender."""
    ours = Sample(run for run in ours if run.run in {other.run for other in theirs})
    both = (ours, theirs)

    def goodput(runs: Sample, sender: str, rate: float = 1e-2) -> Sample:
        name = "vegas" if runs is theirs and sender == "vegas-linux" else sender  # ns-3's Vegas has one cut
        return runs.at(name, loss_rate=rate)

    def over(above: Sample, below: Sample) -> str:
        return str(above.over(below, "goodput_mbps"))

    bases = ("newreno", "veno-5", "vegas", "vegas-linux", "westwood")
    with_classifier = ("ml-hwang2018", "ml-history")
    senders = []
    for name in (*bases, *with_classifier):
        means = [str(goodput(runs, name).mean("goodput_mbps")) for runs in both]
        kept = [over(goodput(runs, name), goodput(runs, name, 0.0)) for runs in both]
        senders.append([name_of(name), *means, over(*(goodput(runs, name) for runs in both)), *kept])
    ratios = [
        [f"{name_of(own)} over {name_of(base)}", *(over(goodput(r, own), goodput(r, base)) for r in both)]
        for own in with_classifier
        for base in bases
    ]
    return {"senders": senders, "ratios": ratios}
