# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes live.md, which compares our results on a real kernel with the tables and figure 26 of the paper
nunes2014."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.lib.batches import Batch, Figures, LabRuns
from experiments.lib.pages import Figure
from experiments.lib.runs import Floats, Run, grouped
from experiments.nunes2014 import figures, published
from experiments.nunes2014.figures import MEASURED
from experiments.nunes2014.published import ERROR, Live
from experiments.nunes2014.runs import SCORED as IN_NS3
from experiments.nunes2014.runs import mean_and_half, pairs
from tcplearn.lab import kernel_log
from tcplearn.lab.guest import arms
from tcplearn.lab.scenario import STOCK

#: The congestion control that tables do not name. The paper does not state its congestion control.
PLAIN = "reno"
OF = "experts/nunes2014-linux"
#: The paper's names of estimators that have another name here.
NAMES = {STOCK: "jacobson", OF: "experts"}
#: The values that predictions are compared with. "The clock count" is of 4 ms ticks, from the log in us.
SCORED = {**IN_NS3, "the RTT": ERROR}
#: The metrics of the table of sent packets; only the first two are in the paper.
SENT = (
    ("mean_cwnd_segments", "cwnd, segments", 1),
    (published.RESENT, "retransmissions", 1),
    ("nstat.TcpExtTCPTimeouts", "timeouts", 1),
    ("nstat.TcpExtTCPLossProbes", "loss probes", 1),
    ("nstat.TcpExtTCPSpuriousRTOs", "spurious timeouts", 1),
    ("goodput_mbps", "Mbit/s", 2),
    ("mean_rtt_ms", "RTT, ms", 0),
    ("mean_rto_ms", "RTO, ms", 0),
    ("instructions_per_ack", "instructions an ACK", 0),
)

#: Figure 26, RTTs and predictions: number of samples, and estimators in the kernel and in a replay.
SAMPLES, LINUX = 200, "linux"
REPLAYED = ("jacobson", "experts/fitted", "tracking")
SIDES = {"in the kernel": (OF, LINUX), "replayed on the same samples": REPLAYED}


def batches(folder: Path, profile: str) -> list[Batch]:
    """Returns the batches of the profile `profile` or, if it is "", those of the published page: runs without
    tail loss probes, and runs of some algorithms with them."""
    profiles = [profile] if profile else ["compare", "probes"]
    return [LabRuns(file, name, keep) for file in sorted(folder.glob("live-*.toml")) for name in profiles]


def keep(chosen: Any, folder: Path, measured: Mapping[str, float]) -> Figures:
    """Returns what is stored of one algorithm's transfer: its metrics, with 0 for a missing kernel counter,
    and, for the algorithm that figure 26 shows, the samples of this figure."""
    names = (*SCORED.values(), *(metric for metric, _, _ in SENT))
    values = {name: measured.get(name, 0.0 if name.startswith("nstat.") else None) for name in names}
    shown = [a.folder for a in arms(chosen, 0) if (a.congestion, a.estimator, a.tlp) == (PLAIN, OF, False)]
    series = figure_26(folder / "log") if folder.name in shown else {}
    return {name: value for name, value in values.items() if value is not None}, series


def figure_26(log: Path) -> dict[str, Floats]:
    """Returns series in ms: RTT samples from the middle of the transfer in the kernel log `log`, and by the
    name of an estimator its predictions before each sample."""
    from tcplearn import _native

    acks = kernel_log.opened(log).connection.acks
    s = acks[acks["rtt_us"] >= 0]
    time_us, rtt_us = (s[name].astype(np.int64) for name in ("time_us", "rtt_us"))
    flight = s["flight_segments"].astype(np.int64)
    out = {MEASURED: rtt_us, OF: np.roll(s["rtt_q8"] / 256, 1), LINUX: np.roll(s["srtt_us"], 1)}
    for name in REPLAYED:
        core = _native.Estimator(name, "double", {})
        out[name] = core.run(rtt_us, time_us, time_us - rtt_us, flight_segments=flight)[0]
    first = max(1, (len(s) - SAMPLES) // 2)
    return {name: of[first : first + SAMPLES].astype(np.float64) / 1000 for name, of in out.items()}


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    runs = sorted(runs, key=lambda run: (run.scenario, run.run))
    printed, title = published.live(folder), "RTTs and predictions, sample by sample"
    scenarios = grouped(runs, lambda run: run.scenario)
    drawn = [row for of in scenarios.values() for row in _samples(of)]
    specs = [figures.chart(drawn, f"{title}, ms", "sample")] if drawn else []
    return {
        "kernels": ", ".join(sorted({run.host_version for run in runs})),
        "sent": [heading for _, heading, _ in SENT],
        "parts": [
            {"name": scenario, "title": of[0].parameters["title"], **_tables(scenario, of, printed)}
            for scenario, of in scenarios.items()
        ],
        "samples": SAMPLES,
        "figures": [Figure("live-figure-26.svg", title, spec) for spec in specs],
    }


def _tables(scenario: str, runs: Sequence[Run], printed: Live) -> dict[str, Any]:
    """Returns the rows of two tables of the algorithms in a scenario: prediction errors with their ratios to
    those of Linux's own estimator ("errors"), and metrics of the transfers ("sent")."""
    by = grouped(runs, lambda run: f"{run.algorithm} {'on' if run.labels['tlp'] else 'off'}")
    errors, sent = [], []
    for key, ours in by.items():
        algorithm, probes = key.rsplit(" ", 1)
        congestion, _, name = algorithm.partition("+")
        stock = by.get(f"{congestion}+{STOCK} {probes}", []) if name != STOCK else []
        first = [f"`{name}`" + (f", {congestion}" if congestion != PLAIN else ""), probes, str(len(ours))]
        found = [pairs(ours, stock, metric) for metric in SCORED.values()]
        theirs = _printed(printed, scenario, congestion, name)
        paper, jacobson = theirs.get(ERROR), _printed(printed, scenario, congestion, STOCK).get(ERROR)
        beside = [f"{paper[0]:.2f} ± {paper[1]:.2f}" if paper else ""]
        beside.append(f"{paper[0] / jacobson[0]:.2f}" if paper and jacobson and stock else "")
        own = [_cell(ours, metric, 2) for metric in SCORED.values()]
        errors.append([*first, *own, *(of.spread for of in found), *beside])
        sent.append([*first, *(_cell(ours, m, digits, theirs.get(m)) for m, _, digits in SENT)])
    return {"errors": errors, "sent": sent}


def _printed(printed: Live, scenario: str, congestion: str, name: str) -> dict[str, tuple[float, float]]:
    """Returns the mean and the standard deviation that nunes2014 prints for each metric of the algorithm
    `name`. Our scenarios live-2h and live-3h have the paper's numbers for live-2 and live-3."""
    wanted = scenario.removesuffix("h"), NAMES.get(name, name)
    return printed.get(wanted, {}) if congestion == PLAIN else {}


def _cell(runs: Sequence[Run], metric: str, digits: int, paper: tuple[float, float] | None = None) -> str:
    values = [run.metrics[metric] for run in runs if metric in run.metrics]
    shown = mean_and_half(values, f".{digits}f") if any(values) else "0" if values else ""
    return shown + (f"; paper {paper[0]:.{digits}f} ± {paper[1]:.{digits}f}" if paper else "")


def _samples(runs: Sequence[Run]) -> Iterator[figures.Json]:
    """Yields the points of figure 26, which are RTT samples and predictions. They come from the first run
    that has a stored transfer with nunes2014's estimator."""
    for run in [run for run in runs if MEASURED in run.series][:1]:
        for side, names in SIDES.items():
            for name in (MEASURED, *names):
                for k, value in enumerate(run.series[name].tolist(), 1):
                    yield {"row": run.scenario, "panel": side, "e": name, "x": k, "y": value}
