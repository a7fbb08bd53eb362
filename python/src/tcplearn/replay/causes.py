# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Let each loss classifier decide, at each fast retransmit of a capture, whether congestion or random loss is
the cause. A table of true causes, if there is one, shows how often they are right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tcplearn import documents, losses, provenance
from tcplearn.errors import UserError, printable
from tcplearn.output.numbers import counted
from tcplearn.output.rows import Record
from tcplearn.output.table import Cell, Column, Table, headed, text
from tcplearn.traces import TraceOptions, open_trace

DEFAULTS = ("veno", "threshold", "mlp/hwang2018", "mlp", "adaptive", "history")
SHOWN = 40  # fast retransmits that the table shows by default
TABLED = {"rtt_min_to_rtt": "RTTmin\n/ RTT", "veno_packets": "Veno's\nN"}  # features shown
NEAR_US = 5000  # a fast retransmit belongs to the nearest row of the table, at most this far away

_FAST, _TIMEOUT = 1, 2
_EVENTS = ("kind", "time_us", "rtt_us", "delivered_segments", "duplicate", "flight_segments")
Progress = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Truths:
    """The times and true causes of losses, by flow ("" if the table names none) and in order of time."""

    times_us: dict[str, list[int]]
    causes: dict[str, list[str]]

    def of(self, flow: str, time_us: int) -> str | None:
        for name in (flow, ""):
            times = self.times_us.get(name)
            if not times:
                continue
            k = int(np.searchsorted(times, time_us))
            best = min((i for i in (k - 1, k) if 0 <= i < len(times)), key=lambda i: abs(times[i] - time_us))
            if abs(times[best] - time_us) <= NEAR_US:
                return self.causes[name][best]
        return None


def read_truths(path: Path) -> Truths:
    """Return the true causes of losses in the CSV or Parquet file `path`, with the columns time_us, truth
    (congestion or random) and, for several flows, flow. Raise UserError."""
    import polars as pl

    where = printable(path)
    frame = documents.table(path, "causes")
    for column in ("time_us", "truth"):
        if column not in frame.columns:
            raise UserError(f"{where}: no column {column}; a row has time_us and truth of a fast retransmit")
    if not frame["time_us"].dtype.is_integer() or frame["time_us"].null_count():
        raise UserError(f"{where}: time_us is not whole microseconds in every row")
    other = [v for v in frame["truth"].cast(pl.String).unique() if v not in losses.CAUSES]
    if other:
        raise UserError(f"{where}: truth is {printable(other[0])}; it has to be congestion or random")
    flows = frame["flow"].cast(pl.String).fill_null("") if "flow" in frame.columns else pl.Series([""])
    frame = frame.select("time_us", "truth").with_columns(flow=flows if len(flows) > 1 else pl.lit(flows[0]))
    out = Truths({}, {})
    for (flow,), rows in frame.sort("time_us").group_by("flow", maintain_order=True):
        out.times_us[str(flow)] = rows["time_us"].to_list()
        out.causes[str(flow)] = rows["truth"].to_list()
    return out


def recalls(pairs: Sequence[tuple[str, str]]) -> tuple[float | None, float | None]:
    """Return the recalls of congestion and of random losses, or None, from `pairs` of (cause, decision)."""
    found = []
    for cause in (losses.CONGESTION, losses.RANDOM):
        of_cause = [called == truth for truth, called in pairs if truth == cause]
        found.append(sum(of_cause) / len(of_cause) if of_cause else None)
    return found[0], found[1]


@dataclass(frozen=True, slots=True)
class Retransmit:
    """A fast retransmit, with the probability of congestion and the cause that each classifier gives."""

    source: str
    flow: str
    time_us: int
    flight_segments: int
    features: Mapping[str, float]
    answers: Mapping[str, tuple[float, str]]
    truth: str | None = None  # the true cause, if the user's table has it

    def records(self, *, with_truth: bool) -> list[Record]:
        """Return a row for each classifier's decision. `with_truth` adds the true cause."""
        where: Record = {"source": self.source, "flow": self.flow, "time_us": self.time_us}
        if with_truth:
            where["truth"] = self.truth
        return [
            {**where, "classifier": name, "cause": cause, "congestion_probability": probability}
            | {"flight_segments": self.flight_segments, **self.features}
            for name, (probability, cause) in self.answers.items()
        ]


@dataclass(slots=True)
class Causes:
    classifiers: tuple[str, ...]
    found: list[Retransmit] = field(default_factory=list)
    timeouts: int = 0
    truths: Truths | None = None
    warnings: list[str] = field(default_factory=list)
    made_by: dict[str, str] = field(default_factory=provenance.made_by)


def run(
    paths: Sequence[Path],
    sender: str,
    arithmetic: str,
    flow: str,
    truth: Path | None = None,
    classifiers: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Causes:
    """Return every fast retransmit of the captures `paths` with each loss classifier's decision. `sender`,
    such as "near" or an address, selects the side that is examined; `flow` is text that a flow's name must
    contain; `truth` is a file of true causes. `classifiers` are specs (default: DEFAULTS). `arithmetic` is
    "double" or "fixed". Raise UserError or TraceError."""
    for spec in classifiers or ():
        losses.chosen(spec)
    out = Causes(tuple(classifiers or DEFAULTS), truths=read_truths(truth) if truth else None)
    for path in paths:
        source = printable(path)
        trace = open_trace(path, options=TraceOptions(sender, events=True))
        if trace.kind != "capture":
            raise UserError(f"{source}: a {trace.kind}; only a capture has the ACKs that causes needs")
        held: dict[int, list[dict[str, Any]]] = {}
        for batch in trace.batches():
            events: Any = batch["events"]
            _hold(events, held)
            for ended in batch["ended"].tolist():
                info, parts = trace.flow(ended), held.pop(ended, [])
                trace.release(ended)
                if info["chosen"] and flow in info["name"]:
                    _judge(source, info["name"], parts, arithmetic, out)
            if progress:
                progress(trace.progress, path.name)
        out.warnings += [f"{source}: {line}" for line in trace.warnings]
    return out


def _hold(events: Mapping[str, Any], held: dict[int, list[dict[str, Any]]]) -> None:
    """Append each flow's rows of the table `events` to the flow's list in `held`."""
    flows = events["flow"]
    for number in np.unique(flows).tolist():
        mine = flows == number
        held.setdefault(number, []).append({name: events[name][mine] for name in _EVENTS})


def _judge(source: str, name: str, parts: list[dict[str, Any]], arithmetic: str, out: Causes) -> None:
    if not parts:
        return
    events = {key: np.concatenate([part[key] for part in parts]) for key in _EVENTS}
    out.timeouts += int((events["kind"] == _TIMEOUT).sum())
    fast = np.flatnonzero(events["kind"] == _FAST)
    if not len(fast):
        return
    answers = {}
    features: Any = None
    for classifier in out.classifiers:
        said = losses.classifier(classifier, arithmetic).run(*(events[key] for key in _EVENTS))
        answers[classifier] = [(p, losses.CAUSES[c]) for p, c in zip(said[0].tolist(), said[1], strict=True)]
        features = said[2].reshape(len(fast), -1)
    for k, row in enumerate(fast.tolist()):
        time_us = int(events["time_us"][row])
        out.found.append(
            Retransmit(
                source,
                name,
                time_us,
                int(events["flight_segments"][row]),
                dict(zip(losses.features(), features[k].tolist(), strict=True)),
                {classifier: said[k] for classifier, said in answers.items()},
                out.truths.of(name, time_us) if out.truths else None,
            )
        )


def summary(causes: Causes) -> Table:
    """Return a table of each loss classifier's decisions in `causes`, counted by cause, and their accuracy if
    true causes are known."""
    retransmits = counted(len(causes.found), "fast retransmit")
    known = [found for found in causes.found if found.truth is not None]
    judged = ("right of\ncongestion", "right of\nrandom", "balanced\naccuracy") if causes.truths else ()
    cause_known = f", {len(known):,} with a known cause" if causes.truths else ""
    out = Table(
        headed("classifier", "congestion", "random", "mean P", *judged),
        title=f"{retransmits}, {counted(causes.timeouts, 'timeout')}{cause_known}",
        legend="P: probability of congestion. A capture has no cwnd and no ssthresh: the data in flight is "
        "taken for cwnd, and half of the data in flight at the previous recovery for ssthresh.",
    )
    for name in causes.classifiers:
        said = [found.answers[name] for found in causes.found]
        congestion = sum(cause == losses.CONGESTION for _, cause in said)
        mean = sum(p for p, _ in said) / len(said) if said else None
        shown = Cell("" if mean is None else f"{mean:.3f}", mean)
        counts = [Cell(f"{n:,}", n) for n in (congestion, len(said) - congestion)]
        row = [text(name), *counts, shown]
        if causes.truths:
            row += _judged([(found.truth or "", found.answers[name][1]) for found in known])
        out.rows.append(row)
    return out


def _judged(pairs: Sequence[tuple[str, str]]) -> list[Cell]:
    """Return cells of the recalls of congestion and of random losses, and of their mean."""
    both = recalls(pairs)
    there = [value for value in both if value is not None]
    balanced = sum(there) / 2 if len(there) == 2 else None
    return [Cell("" if v is None else f"{v:.3f}", v) for v in (*both, balanced)]


def table(causes: Causes, everything: bool) -> Table:
    """Return a table of the classifiers' decisions at all fast retransmits if `everything`, else at the first
    `SHOWN` of them."""
    columns = [
        Column("flow", words=True),
        Column("time,\ns"),
        Column("in\nflight"),
        *map(Column, TABLED.values()),
    ]
    columns += [Column("truth", words=True)] * (causes.truths is not None)
    columns += [Column(name, words=True) for name in causes.classifiers]
    shown = causes.found if everything else causes.found[:SHOWN]
    more = len(causes.found) - len(shown)
    out = Table(columns, legend=f"And {more:,} more: --all, or --format csv." if more else "")
    for found in shown:
        cells = [text(found.flow), Cell(f"{found.time_us / 1e6:.3f}"), Cell(f"{found.flight_segments:,}")]
        cells += [Cell(f"{found.features[name]:.2f}") for name in TABLED]
        if causes.truths:
            cells.append(text(found.truth or ""))
        cells += [Cell(f"{cause} {p:.2f}") for p, cause in found.answers.values()]
        out.rows.append(cells)
    return out
