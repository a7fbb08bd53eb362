# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Groups tambuwal2018's runs by load and startup policy (a rule for the initial window, IW, and ssthresh
after a lost SYN-ACK), and computes values of runs that are compared with the standard policy, IW 1 and
ssthresh 2 segments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.lib.batches import Figures
from experiments.lib.runs import Floats
from experiments.lib.runs import Run as KeptRun
from experiments.tambuwal2018 import parts

Json = dict[str, Any]
Array = npt.NDArray[Any]

STANDARD = "standard"
#: The startup policies in the order of tables, and the colour of each in figures. Most colours are from Okabe
#: and Ito's palette, which colour-blind readers can distinguish.
COLOURS = {
    STANDARD: "#6b6b6b",
    "tsl/1-16": "#56b4e9",
    "tsl/1-1000": "#0072b2",
    "tsl/3-2": "#e69f00",
    "tsl/3-16": "#d55e00",
    "tsl/3-1000": "#882255",
    "tsl": "#009e73",
    "linux": "#cc79a7",
    "tsl-feedback": "#332288",
}
#: What is stored of a connection on which a SYN-ACK was lost or retransmitted spuriously, and whose first
#: response is complete: our names and ns-3's. In `rtts` the handshake counts as one RTT, without the waits
#: for lost handshake packets.
COLUMNS = {
    "rtts": "response_rtts",
    "whole_ms": "response_whole_ms",
    "path_rtt_ms": "path_rtt_ms",
    "bytes": "response_bytes",
}
#: A connection; `studied` is 1 if it has the startup policy of the scenario, 0 if it has the standard policy.
CONNECTION = np.dtype([(name, float) for name in (*COLUMNS, "studied")])
#: The smallest and the largest response in the paper's figure 4 (section 3.1).
SHORT_BYTES = 1000, 50_000
FAR_MS = 50
SEGMENT_BYTES = 1460  # Table 1
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Run:
    """A simulation run, or one part of a long run."""

    metrics: Mapping[str, float]
    loss_shares: Floats  # of each second
    lost: Array  # the connections that lost a SYN-ACK, with the fields of `CONNECTION`
    spurious: Array  # those whose SYN-ACK was repeated without a loss: the RTT is above the timer
    is_part: bool = False


@dataclass
class Cell:
    """The runs, by seed, with one load, one startup policy (IW and ssthresh after a lost SYN-ACK) and one
    share of connections that use the policy. A long run is represented by its parts, by their numbers."""

    level: float
    startup: str
    share: float = 1.0
    runs: dict[int, Run] = field(default_factory=dict)
    totals: list[Mapping[str, float]] = field(default_factory=list)  # the metrics of each whole run

    @property
    def lost(self) -> Array:
        return joined(run.lost for run in self.runs.values())

    @property
    def spurious(self) -> Array:
        return joined(run.spurious for run in self.runs.values())


def joined(connections: Iterable[Array]) -> Array:
    return np.concatenate([np.empty(0, CONNECTION), *connections])


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def short(of: Array) -> Array:
    """Returns those of the connections whose response has a size of 1 to 50 KB, as those in figure 4 of
    tambuwal2018 (section 3.1)."""
    least, most = SHORT_BYTES
    return of[(least <= of["bytes"]) & (of["bytes"] <= most)]


def far(of: Array) -> Array:
    """Returns those of the connections whose path has an RTT above 50 ms, as in figure 5 of tambuwal2018."""
    return of[of["path_rtt_ms"] > FAR_MS]


def data_s(of: Array) -> Array:
    """Returns the response times of the connections in s, in which the handshake counts as one RTT, without
    the waits for lost handshake packets."""
    return np.asarray(of["rtts"] * of["path_rtt_ms"] / 1000)


def keep(run: Any, result: Json, thin: bool = False) -> Figures:
    """Returns the numbers of a run that are stored: metrics, the share of lost packets in each second, and
    data on the connections that lost a SYN-ACK ("lost") or whose RTT exceeds the initial timer ("late"). The
    data on connections have 24 significant bits, or about ten in a long run or with `thin`, which keeps the
    file small. For a long run, each connection's part and the throughput of each second are stored too."""
    flows = result["flows"]
    lost = [f for f in flows if f["lost"] in ("syn-ack", "both")]
    finished = [f for f in lost if f["state"] == "finished"]
    late = [f for f in flows if f["lost"] == "none" and f["state"] == "finished"]
    late = [f for f in late if f["metrics"]["syn_ack_retransmissions"] > 0]
    series = {"loss_share": np.array(result["run"]["seconds"]["loss_share"], float)}
    begun = result["run"]["metrics"].get("connections", 0)
    is_long = parts.is_long(begun)
    if is_long:
        series["mbps"] = np.array(result["run"]["seconds"]["throughput_mbps"], float)
        series = {name: parts.thinned(values, parts.LINK_BITS) for name, values in series.items()}
    for name, of in (("lost", finished), ("late", late)):
        for column, key in COLUMNS.items():
            values = np.array([f["metrics"][key] for f in of], np.float32).astype(float)
            bits = parts.SIZE_BITS if column == "bytes" else parts.TIME_BITS
            series[f"{name}_{column}"] = parts.thinned(values, bits) if is_long or thin else values
        series[f"{name}_studied"] = np.array([f["startup"] != STANDARD for f in of], float)
        if is_long:
            series[f"{name}_part"] = np.array([parts.part_of(f["flow"], begun) for f in of], float)
    cost = {name: result["run"]["cost"][name] for name in ("cpu_s", "peak_mib")}
    return {**result["run"]["metrics"], **cost, "unresolved": float(len(lost) - len(finished))}, series


def cells(runs: Iterable[KeptRun]) -> list[Cell]:
    """Returns the runs grouped by load, startup policy (IW and ssthresh after a lost SYN-ACK) and share of
    connections that use the policy; the groups are in the order of their first run."""
    out: dict[tuple[float, str, float], Cell] = {}
    for run in runs:
        load = run.parameters["load"]
        key = (load["level"], load["startup"], float(load["startup_share"]))
        cell = out.setdefault(key, Cell(*key))
        cell.totals.append(run.metrics)
        cell.runs |= _numbered(run)
    return list(out.values())


def _numbered(stored: KeptRun) -> Iterator[tuple[int, Run]]:
    """Yields a run with its seed or, if it is long, each of its parts with its number."""
    series = stored.series
    lost, late = (
        np.rec.fromarrays([series[f"{name}_{column}"] for column in CONNECTION.names or ()], CONNECTION)
        for name in ("lost", "late")
    )
    if "lost_part" not in series:
        yield stored.seed, Run(stored.metrics, series["loss_share"], lost, late)
        return
    lost_part, late_part = series["lost_part"], series["late_part"]
    links = parts.links(series, stored.parameters["topology"]["rate_mbps"])
    for number, (metrics, shares) in enumerate(links):
        metrics = {**stored.metrics, **metrics}
        yield number, Run(metrics, shares, lost[lost_part == number], late[late_part == number], is_part=True)


def by_level(cells: Iterable[Cell]) -> dict[float, dict[str, Cell]]:
    """Returns the cells by load, in ascending order, and by startup policy."""
    out: dict[float, dict[str, Cell]] = {}
    for cell in cells:
        out.setdefault(cell.level, {})[cell.startup] = cell
    return dict(sorted(out.items()))


def paired(*cells: Cell) -> list[tuple[Run, ...]]:
    """Returns the runs of all `cells` with each seed that all of them have, in ascending order of seeds."""
    seeds = sorted(set.intersection(*(set(cell.runs) for cell in cells)))
    return [tuple(cell.runs[seed] for cell in cells) for seed in seeds]


def mean(values: Array) -> float:
    """Returns the mean of the `values`; nan without values."""
    return float(np.mean(values)) if len(values) else math.nan


def quantile(values: Array, p: float) -> float:
    """Returns the quantile `p` (0 to 1) of the `values`; nan without values."""
    at = min(int(p * len(values)), len(values) - 1)
    return float(np.partition(values, at)[at]) if len(values) else math.nan


def mean_rtts(run: Run) -> float:
    return mean(run.lost["rtts"])


def mean_whole_ms(run: Run) -> float:
    return mean(run.lost["whole_ms"])


def loss_share(run: Run) -> float:
    return run.metrics["link_loss_share"]
