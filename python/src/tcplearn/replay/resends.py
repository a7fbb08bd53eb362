# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Simulate requests of one segment, one at a time, over recorded RTTs under each resend policy. A resend
policy decides how long TCP waits before it retransmits. `stock` is unchanged Linux. `linear` does not double
the wait at the first six timeouts. `priced` learns its first wait by weighing the wait for lost segments
against spurious retransmissions, each of which counts as a given time of waiting (its price); `priced/spaced`
learns later waits too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tcplearn import _native, provenance
from tcplearn.errors import UserError, printable
from tcplearn.output.numbers import counted
from tcplearn.output.rows import Record as Row
from tcplearn.output.table import Cell, Table, headed, milliseconds, ratio, text
from tcplearn.replay import resend_paths as paths
from tcplearn.traces import TraceOptions

#: Settings of Linux's `rto_min`. In each cell (a path and a loss process), each figure of a policy is
#: compared with that of the setting that is best in hindsight.
FLOORS_MS = (1, 5, 10, 20, 50, 100)
STOCK = "stock"
Policy = tuple[str, Mapping[str, float]]
_STATIC: dict[str, Policy] = {
    **{f"rto_min {ms} ms": ("stock", {"rto_min_us": 1000.0 * ms}) for ms in FLOORS_MS},
    STOCK: ("stock", {}),
}
POLICIES: dict[str, Policy] = {
    **_STATIC,
    "linear": ("linear", {}),
    "linear, 5 ms": ("linear", {"rto_min_us": 5000.0}),
    "s-rto": ("s-rto", {}),
    "priced": ("priced", {}),
    "priced/backoff-1.5": ("priced/backoff-1.5", {}),
    "priced/quarter": ("priced/quarter", {}),
    "priced/spaced, 30 ms": ("priced/spaced", {"price_us": 30_000.0}),
    "priced/spaced": ("priced/spaced", {}),
    "priced/spaced, 300 ms": ("priced/spaced", {"price_us": 300_000.0}),
}
#: Timers that know what no sender knows, as limits of any policy: their names in the native simulator.
CLAIRVOYANT, STATISTICAL = "clairvoyant", "statistical oracle"
LIMITS = {
    "clairvoyant, doubling": "clairvoyant/doubling",
    STATISTICAL: "statistical",
    CLAIRVOYANT: "clairvoyant",
}
#: share() leaves out the cells in which a limit's figure is more than this times that of `stock`.
LEAST_GAIN = 0.9
WARM_UP = 100  # first requests, which are not counted
SLACK = 0.5  # spurious retransmissions in 1,000 requests by which a compared `rto_min` may exceed a policy
TIMES = ("p99_response_ms", "p999_response_ms", "slowest_response_ms")
NEEDLESS = "needless_resends_permille"
_REPEATS = (0, 1)  # rto_min settings are chosen on repeat 1; all policies are judged on repeat 0
Progress = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Setup:
    """The requests and loss processes that are simulated over each path of recorded RTTs."""

    processes: Sequence[str]
    requests: int
    seed: int
    clear: bool = True  # TCP timestamps: an ACK shows which transmission it answers
    arithmetic: str = "double"
    flow: str = ""  # only flows whose names contain this text
    trace: TraceOptions = field(default_factory=TraceOptions)


@dataclass(frozen=True, slots=True)
class Run:
    """The results of one resend policy (a rule for when to retransmit) over one path and one loss process."""

    source: str
    flow: str
    losses: str
    policy: str
    figures: Mapping[str, float]

    def record(self) -> Row:
        where = {"source": self.source, "flow": self.flow, "losses": self.losses, "policy": self.policy}
        return where | dict(self.figures)


@dataclass(slots=True)
class Resends:
    runs: list[Run] = field(default_factory=list)
    paths: int = 0
    requests: int = 0
    warnings: list[str] = field(default_factory=list)
    made_by: dict[str, str] = field(default_factory=provenance.made_by)


def figures(found: Mapping[str, Any]) -> dict[str, float]:
    """Return percentiles of response times in ms and rates of retransmissions in 1,000 requests, by name.
    `found` has the arrays that `played` returns; its first `WARM_UP` requests are left out."""
    response = np.sort(found["response_us"][WARM_UP:]) / 1000
    needless, resends = found["needless"][WARM_UP:], found["resends"][WARM_UP:]
    p50, p99, p999 = np.percentile(response, (50, 99, 99.9)).tolist()
    return {
        "requests": float(len(response)),
        "median_response_ms": p50,
        TIMES[0]: p99,
        TIMES[1]: p999,
        TIMES[2]: float(response[-max(len(response) // 50, 1) :].mean()),
        "longest_response_ms": float(response[-1]),
        NEEDLESS: 1000 * float(needless.mean()),
        "resends_permille": 1000 * float(resends.mean()),
        "lost_permille": 1000 * float((found["answered"][WARM_UP:] > 0).mean()),
    }


def played(
    record: paths.Record, process: str, policy: Policy, setup: Setup, repeat: int = 0
) -> dict[str, Any]:
    """Simulate the requests over the path `record` under `policy` with the loss process `process`. Return
    arrays over the requests: `response_us`, `resends` (retransmissions), `needless` (spurious ones) and
    `answered` (which transmission was answered, from 0). `repeat` is added to the seed."""
    native = _native.ResendPolicy(policy[0], setup.arithmetic, policy[1])
    return native.requests(**_path(record, process, setup, setup.seed + repeat), clear=setup.clear)


def played_at_limit(record: paths.Record, process: str, limit: str, setup: Setup) -> dict[str, Any]:
    """Simulate the requests of played() under the timer `limit`, a value of `LIMITS`. A clairvoyant timer
    knows which transmissions are lost. The statistical oracle knows how RTTs and losses are distributed, and
    weighs spurious retransmissions against waiting as the resend policy `priced` does by default."""
    return _native.requests_at_limit(limit, **_path(record, process, setup, setup.seed))


def _path(record: paths.Record, process: str, setup: Setup, seed: int) -> dict[str, Any]:
    """Return the native simulator's arguments for the path `record` with the loss process `process`."""
    wanted_us = paths.wanted(setup.requests, seed)
    of = paths.losses(process, record, int(wanted_us[-1] * 1.5) + 400_000_000, seed)
    path = {"time_us": record.time_us, "rtt_us": record.rtt_us, "wanted_us": wanted_us, "seed": seed}
    return path | asdict(of)


def run_cell(
    record: paths.Record, process: str, policy: Policy, setup: Setup, repeat: int = 0
) -> dict[str, float]:
    return figures(played(record, process, policy, setup, repeat))


def run(files: Sequence[Path], setup: Setup, progress: Progress | None = None) -> Resends:
    """Simulate all resend policies (rules for when to retransmit) over all flows of `files` with at least
    `paths.LEAST_SAMPLES` RTT samples. Raise UserError or TraceError."""
    out = Resends(requests=setup.requests)
    for k, path in enumerate(files):
        before = out.paths
        for record in paths.records(path, setup.trace, setup.flow):
            out.paths += 1
            for process in setup.processes:
                out.runs += _compared(record, process, setup)
        if out.paths == before:
            least = f"{paths.LEAST_SAMPLES} samples"
            out.warnings.append(f"{printable(path)}: no flow with {least}; it is left out")
        if progress:
            progress((k + 1) / len(files), path.name)
    if not out.runs:
        raise UserError(f"no flow has {paths.LEAST_SAMPLES} samples")
    return out


def _compared(record: paths.Record, process: str, setup: Setup) -> list[Run]:
    """Return the results of all policies and `LIMITS`, compared with stock Linux and the best `rto_min`."""

    def cell(policy: Policy, repeat: int) -> dict[str, float]:
        return run_cell(record, process, policy, setup, repeat)

    judged = {label: cell(policy, _REPEATS[0]) for label, policy in POLICIES.items()}
    chosen_on = {label: cell(policy, _REPEATS[1]) for label, policy in _STATIC.items()}
    for label, limit in LIMITS.items():
        judged[label] = figures(played_at_limit(record, process, limit, setup))
    out = []
    for label, own in judged.items():
        beside: dict[str, float] = {}
        most = own[NEEDLESS] + SLACK
        allowed = [floor for floor, of in chosen_on.items() if floor == STOCK or of[NEEDLESS] <= most]
        for key in TIMES:
            best = min(allowed, key=lambda floor: chosen_on[floor][key])
            stem = key.removesuffix("_ms")
            beside[f"{stem}_stock_ratio"] = own[key] / judged[STOCK][key]
            beside[f"{stem}_floor_ratio"] = own[key] / judged[best][key]
        out.append(Run(record.source, record.flow, process, label, own | beside))
    return out


def mean(values: Sequence[float]) -> float:
    """Return the geometric mean of `values`."""
    return math.exp(sum(map(math.log, values)) / len(values))


@dataclass(frozen=True, slots=True)
class Summary:
    """A resend policy's means over all paths and loss processes: arithmetic for spurious retransmissions,
    geometric for response times and their ratios."""

    policy: str
    figures: Mapping[str, float]


def summaries(result: Resends, policies: Iterable[str] = POLICIES) -> list[Summary]:
    out = []
    for policy in policies:
        rows = [run.figures for run in result.runs if run.policy == policy]
        ratios = [key for key in rows[0] if key.endswith("_ratio")]
        means = {key: mean([row[key] for row in rows]) for key in (*TIMES, *ratios)}
        out.append(Summary(policy, means | {NEEDLESS: sum(row[NEEDLESS] for row in rows) / len(rows)}))
    return out


def table(result: Resends) -> Table:
    cells = counted(len(result.runs) // len([*POLICIES, *LIMITS]), "cell")
    heads = ["policy", "p99,\nms", "\np99.9", "slowest\n2 %, ms", "spurious\nin 1,000"]
    heads += ["× stock\np99", "\np99.9", "\nslowest", "× floor\np99", "\np99.9", "\nslowest"]
    out = Table(
        headed(*heads),
        title=f"Thin requests with simulated losses: {counted(result.paths, 'path')}, {cells} of "
        f"{result.requests:,} requests",
        legend="Geometric means over cells (a path with a loss process); of spurious retransmissions, the "
        "mean. × stock, × floor: divided by the times of stock Linux, and of the best rto_min in hindsight, "
        "chosen on another seed among settings with no more spurious retransmissions. The last three know "
        "what no sender knows: a clairvoyant timer which transmissions are lost, the statistical oracle how "
        "RTTs and losses are distributed.",
    )
    for row in summaries(result, [*POLICIES, *LIMITS]):
        f = row.figures
        line = [text(row.policy), *(milliseconds(f[key]) for key in TIMES)]
        line.append(Cell(f"{f[NEEDLESS]:.1f}", f[NEEDLESS]))
        for beside in ("stock", "floor"):
            line += [ratio(f[f"{key.removesuffix('_ms')}_{beside}_ratio"]) for key in TIMES]
        out.rows.append(line)
    return out


def share(result: Resends, policy: str, limit: str, key: str) -> float:
    """Return which share of the gain of the timer `limit` over stock Linux the resend policy `policy` reaches
    in the response time `key`: the sum of ln(time under `policy` / time under stock Linux) divided by the sum
    of ln(time under `limit` / time under stock Linux). The sums are over the cells (a path and a loss
    process) in which the time under `limit` is at most `LEAST_GAIN` times that under stock Linux. Return nan
    if there are none."""
    stem = f"{key.removesuffix('_ms')}_stock_ratio"
    ours, limits = (
        [math.log(run.figures[stem]) for run in result.runs if run.policy == name] for name in (policy, limit)
    )
    pairs = [(a, b) for a, b in zip(ours, limits, strict=True) if b <= math.log(LEAST_GAIN)]
    return sum(a for a, _ in pairs) / sum(b for _, b in pairs) if pairs else math.nan


def shares(result: Resends) -> Table:
    out = Table(
        headed(
            "policy", "clairvoyant\np99", "\np99.9", "\nslowest", "statistical\np99", "\np99.9", "\nslowest"
        ),
        title="Share of the way from stock to each limit",
        legend="ln(policy / stock) / ln(limit / stock), over the cells (a path with a loss "
        "process) where the limit gains 10 % or more.",
    )
    for policy in POLICIES:
        if policy != STOCK:
            limits = (CLAIRVOYANT, STATISTICAL)
            found = [share(result, policy, limit, key) for limit in limits for key in TIMES]
            out.rows.append([text(policy), *(Cell("-" if math.isnan(f) else f"{f:.2f}", f) for f in found)])
    return out
