# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Groups tambuwal2018's runs by load and startup policy (a rule for the initial window, IW, and ssthresh
after a lost SYN-ACK), and computes gains over the standard policy, IW 1 and ssthresh 2 segments."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from experiments.lib.batches import Figures
from experiments.lib.runs import Run as KeptRun
from experiments.tambuwal2018 import parts
from tcplearn.simulate.interval import mean_interval

Json = dict[str, Any]

STANDARD = "standard"
COLUMNS = {
    "rtts": "response_rtts",
    "whole_ms": "response_whole_ms",
    "path_rtt_ms": "path_rtt_ms",
    "bytes": "response_bytes",
}
BETWEEN = "between.csv"  # written by packmime.py
#: The smallest and the largest response in the paper's figure 4 (section 3.1).
SHORT_BYTES = 1000, 50_000
SEGMENT_BYTES = 1460  # Table 1
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Connection:
    """A connection on which a SYN-ACK was lost or retransmitted spuriously, and whose first response is
    complete."""

    rtts: float
    whole_ms: float
    path_rtt_ms: float
    size_bytes: float
    startup: str

    @property
    def data_s(self) -> float:
        """Returns the response time in s, in which the handshake counts as one RTT, without the waits for
        lost handshake packets."""
        return self.rtts * self.path_rtt_ms / 1000


@dataclass(frozen=True)
class Run:
    """A simulation run, or one part of a long run; the `seed` of a part is the number of the part."""

    seed: int
    metrics: Mapping[str, float]
    seconds: Mapping[str, Sequence[float]]
    lost: Sequence[Connection]
    unresolved: int
    spurious: Sequence[Connection]  # the SYN-ACK was repeated without a loss: the RTT is above the timer
    commit: str
    part_of: int | None = None  # the seed of the run of which this is a part


@dataclass
class Cell:
    """The runs, by seed, with one load, one startup policy (IW and ssthresh after a lost SYN-ACK) and one
    share of connections that use the policy. A long run is represented by its parts."""

    level: float
    startup: str
    share: float = 1.0
    runs: dict[int, Run] = field(default_factory=dict)
    totals: list[Mapping[str, float]] = field(default_factory=list)  # the metrics of each whole run

    @property
    def lost(self) -> list[Connection]:
        return [c for run in self.runs.values() for c in run.lost]


def level_of(cell: Cell) -> str:
    return f"{100 * cell.level:.0f} % load"


def is_short(of: Connection) -> bool:
    """Returns whether the response on the connection `of` has a size of 1 to 50 KB, as those in figure 4 of
    tambuwal2018 (section 3.1)."""
    return SHORT_BYTES[0] <= of.size_bytes <= SHORT_BYTES[1]


def keep(run: Any, result: Json, thin: bool = False) -> Figures:
    """Returns the numbers of a run that are stored: metrics, the share of lost packets in each second, and
    data on the connections that lost a SYN-ACK ("lost") or whose RTT exceeds the initial timer ("late"). The
    data on connections have 24 significant bits, or about ten in a long run or with `thin`, which keeps the
    file small. For a long run, each connection's part and the throughput of each second are stored too."""
    flows = result["flows"]
    lost = [f for f in flows if f["lost"] in ("syn-ack", "both")]
    late = [f for f in flows if f["lost"] == "none" and f["state"] == "finished"]
    late = [f for f in late if f["metrics"]["syn_ack_retransmissions"] > 0]
    finished = [f for f in lost if f["state"] == "finished"]
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


def _connections(run: KeptRun, name: str, startup: str) -> list[Connection]:
    columns = [run.series[f"{name}_{column}"].tolist() for column in (*COLUMNS, "studied")]
    names = (STANDARD, startup.partition(":")[0])
    return [
        Connection(rtts, whole_ms, path_rtt_ms, size, names[bool(studied)])
        for rtts, whole_ms, path_rtt_ms, size, studied in zip(*columns, strict=True)
    ]


def cells(runs: Iterable[KeptRun]) -> list[Cell]:
    """Returns the runs grouped by load, startup policy (IW and ssthresh after a lost SYN-ACK) and share of
    connections that use the policy; the groups are in the order of their first run."""
    out: dict[tuple[float, str, float], Cell] = {}
    for run in runs:
        load = run.parameters["load"]
        key = (load["level"], load["startup"], float(load["startup_share"]))
        lost, late = (_connections(run, name, load["startup"]) for name in ("lost", "late"))
        cell = out.setdefault(key, Cell(*key))
        cell.totals.append(run.metrics)
        seconds = {"loss_share": run.series["loss_share"].tolist()}
        unresolved = int(run.metrics["unresolved"])
        found = Run(run.seed, run.metrics, seconds, lost, unresolved, late, run.commit)
        for one in _split(found, run) if "lost_part" in run.series else (found,):
            cell.runs[one.seed] = one
    return list(out.values())


def _split(whole: Run, stored: KeptRun) -> Iterable[Run]:
    """Yields the parts of the long run `whole`. Connections that the run left unfinished are counted in the
    first part."""
    lost, late = (
        parts.divided(connections, stored.series[f"{name}_part"])
        for name, connections in (("lost", whole.lost), ("late", whole.spurious))
    )
    for number, link in enumerate(parts.links(stored.series, stored.parameters["topology"]["rate_mbps"])):
        yield replace(
            whole,
            seed=number,
            metrics={**whole.metrics, **link.metrics},
            seconds={"loss_share": link.loss_shares},
            lost=lost[number],
            unresolved=0 if number else whole.unresolved,
            spurious=late[number],
            part_of=whole.seed,
        )


Difference = tuple[float, float | None]  # the mean, and half the width of its interval


def shared(*cells: Cell) -> list[int]:
    """Returns the seeds that all `cells` have, in ascending order."""
    return sorted(set.intersection(*(set(c.runs) for c in cells)))


def difference(cell: Cell, base: Cell, value: Callable[[Run], float]) -> Difference | None:
    """Returns the mean of `value` of a run in `cell` minus `value` of the run in `base` with the same seed,
    and half the width of its interval; None if no seed has runs in both."""
    seeds = shared(cell, base)
    return (
        mean_interval([value(cell.runs[s]) - value(base.runs[s]) for s in seeds], CONFIDENCE)
        if seeds
        else None
    )


def relative(cell: Cell, base: Cell, value: Callable[[Run], float], confidence: float) -> Difference | None:
    """Returns by how many % `value` of a run in `cell` is above that of the run in `base` with the same seed:
    the mean over seeds, and half the width of its interval. Returns None if no seed has runs in both."""
    seeds = shared(cell, base)
    if not seeds:
        return None
    changes = [100 * (value(cell.runs[s]) / value(base.runs[s]) - 1) for s in seeds]
    return mean_interval(changes, confidence)


def mean_rtts(run: Run) -> float:
    return statistics.fmean(c.rtts for c in run.lost)


def mean_whole_ms(run: Run) -> float:
    return statistics.fmean(c.whole_ms for c in run.lost)


def quantile(values: Iterable[float], p: float) -> float:
    """Returns the quantile `p` (0 to 1) of the `values`; nan without values."""
    ordered = sorted(values)
    return ordered[min(int(p * len(ordered)), len(ordered) - 1)] if ordered else math.nan


def base_of(cell: Cell, among: Sequence[Cell]) -> Cell | None:
    """Returns the group of runs in `among` with the load and share of `cell` but the standard startup policy
    (IW 1, ssthresh 2 segments), or None."""
    wanted = (cell.level, STANDARD, cell.share)
    return next((c for c in among if (c.level, c.startup, c.share) == wanted), None)
