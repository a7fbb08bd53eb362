# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists the runs of hwang2018's senders in ns-3, and computes the tables and figures of simulated.md."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.hwang2018 import choice, criteria, figures, tables, training
from experiments.hwang2018.sample import CALLS, CONFIDENCE, SENDERS, Sample, name_of
from experiments.lib.batches import Batch, Figures, SimulatedRuns
from experiments.lib.runs import Run

FILES = (
    "figure-5", "figure-7", "figure-9", "harm", "training", "calibration", "calibration-past",
    "calibration-cubic", tables.SCENARIO,
)  # fmt: skip
METRICS = (
    "goodput_mbps", "mean_rtt_ms", "queue_dropped_packets", "beside_goodput_mbps", "jain_index", *CALLS,
)  # fmt: skip
#: The senders that decide the cause of a loss. The paper's tables 1 and 2 count such decisions.
DECIDED = tuple(name for name in SENDERS if name.startswith(("veno-", "ml-")) and name != "ml-past")


def keep(run: Any, result: Mapping[str, Any]) -> Figures:
    """Returns what is stored of a run: metrics, training data and, for figure 6, the mean cwnd by second."""
    measured = result["run"]["metrics"]
    series = training.keep(result.get("losses"))
    drawn = (run.document.name, run.scenario.topology.loss_rate) == ("5", figures.OVER_TIME_AT)
    if drawn and run.labels["variant"] in figures.OVER_TIME:
        series["cwnd_bytes"] = np.array(result["run"]["cwnd_over_time"]["bytes"] or (), float)
    return {name: measured[name] for name in METRICS if name in measured}, series


def batches(folder: Path, profile: str) -> list[Batch]:
    return [SimulatedRuns(folder / f"{name}.toml", profile or "quick", keep) for name in FILES]


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    found = Sample.of(runs)
    printed = [row for row in _csv(folder / "published.csv") if row["where"] != "training"]
    paper = tables.published(_csv(folder / "published-tables.csv"))
    shares = {
        row["sender"]: (_at(row)["loss_rate"], float(row["value"]))
        for row in printed
        if row["metric"] == "goodput_to_lossless"
    }
    return {
        "profile": runs[0].profile,
        "confidence": f"{100 * CONFIDENCE:.0f} %",
        "criteria": list(criteria.rows(found)),
        "criteria_head": criteria.HEAD,
        "missed": criteria.missed_by_others(found),
        "networks": {name: len({run.run for run in found.at(scenario=name)}) for name in FILES},
        "threshold": choice.table(found.at(scenario="calibration"), "history-"),
        "past": choice.table(found.at(scenario="calibration-past"), "past-"),
        "lossy": choice.LOSSY,
        "cubic": choice.cubic(found.at(scenario="calibration-cubic")),
        "training": training.tables(found),
        "protocol": training,
        "rates": [f"{rate:g}" for rate in (0.0, *training.TABLES)],
        "five": found.at(scenario="5"),
        "decided": DECIDED,
        "published": {at: " / ".join(map(str, counts)) for at, counts in paper.items()},
        "packets_needed": tables.packets_needed(paper),
        "tables": tables.ours(found.at(scenario=tables.SCENARIO)),
        "to_veno": tables.ratio_to_veno(found.at(scenario=tables.SCENARIO), 60.0, 1e-2),
        "printed": [[*_shown(row), *_ours(found, row)] for row in printed],
        "harm": found.at(scenario="harm"),
        "name_of": name_of,
        "figures": list(figures.simulated(found, shares)),
    }


def _csv(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as opened:
        return list(csv.DictReader(opened))


def _at(row: Mapping[str, str]) -> dict[str, float]:
    """Returns the network condition for which the paper prints a number, as labels of our runs."""
    return {key: float(value) for key, _, value in (word.partition("=") for word in row["condition"].split())}


def _shown(row: Mapping[str, str]) -> list[str]:
    condition, value = row["condition"].replace("_", " "), f"{float(row['value']):g}"
    return [row["where"], row["metric"], condition, SENDERS.get(row["sender"], row["sender"]), value]


def _ours(found: Sample, row: Mapping[str, str]) -> list[str]:
    """Returns our result for a number in the paper and, if that is ML-TCP's, our classifier `wide`'s."""
    at, sender = _at(row), row["sender"]
    five, seven, nine = (found.at(scenario=name) for name in ("5", "7", "9"))

    def over(own: Sample, base: Sample) -> str:
        return str(own.over(base, "goodput_mbps"))

    out = []
    for one in [sender, "ml-wide"] if sender == "ml-hwang2018" else [sender]:
        match row["metric"]:
            case "goodput_to_lossless":
                out.append(over(five.at(one, **at), five.at(one, loss_rate=0.0)))
            case "goodput_to_30ms":
                out.append(over(seven.at(one, **at), seven.at(one, **{**at, "rtt_ms": 30.0})))
            case "goodput_to_veno":
                here = {share: nine.at(udp_share=share, **at) for share in (0.0, 0.2, 0.6)}
                ratios = (f"{share:g}: {over(of.at(one), of.at('veno-5'))}" for share, of in here.items())
                out.append(", ".join(ratios))
            case _:
                means = [of.mean("goodput_mbps").value for of in nine.at(**at).senders().values()]
                out.append(f"{min(means):.2f} to {max(means):.2f}" if means else "–")
    return out if len(out) == 2 else [*out, ""]
