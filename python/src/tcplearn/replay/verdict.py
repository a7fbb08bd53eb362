# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Which timer would have served the traffic best: `docs/metrics.md`, "Which timer", has the rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tcplearn.replay.row import Row

#: What people run, and what the standard says.
LINUX, STANDARD = "linux", "jacobson/rfc6298"
#: The key of a mean RTO over that of Linux's timer, and the beginning of its interval's.
LINUX_RATIO = f"mean_rto_{LINUX}_ratio"
#: One needless timeout in each so many samples begun is no fault.
SAMPLES_PER_TIMEOUT = 1000
#: Fewer samples do not show whether a timer fires needlessly: none in 300 still allows one in 100, at 95 %.
FEW = 300
#: Waits that differ by less are called equal.
SAME = 0.05

#: Of the ratio of two mean RTOs, at 95 %.
Interval = tuple[float, float]
#: By base and estimator: of the estimator's mean RTO over the base's.
Waits = Mapping[str, Mapping[str, Interval]]


@dataclass(frozen=True, slots=True)
class Beside:
    """The best timer's wait over that of a timer which people know."""

    row: Row
    ratio: float
    interval: Interval | None  # None: not known

    @property
    def chance(self) -> bool:
        """Whether the difference may be chance."""
        return self.interval is None or self.interval[0] <= 1 <= self.interval[1]


@dataclass(frozen=True, slots=True)
class Alone:
    """What one flow says by itself, where it has samples enough to."""

    flow: str
    samples: int
    allowed: int  # needless timeouts that a timer might have
    best: tuple[str, ...]  # as `Verdict.equal`, by name
    needless: Mapping[str, int]  # timeouts, by estimator

    def refuses(self, estimator: str) -> bool:
        """Whether that timer fires needlessly too often here."""
        return self.needless[estimator] > self.allowed

    def agreeing(self, estimator: str) -> Alone:
        """The same with that timer among the best."""
        return replace(self, best=tuple(dict.fromkeys((*self.best, estimator))))


@dataclass(frozen=True, slots=True)
class Verdict:
    rows: tuple[Row, ...]  # all compared, over all flows, the best first
    flows: int
    equal: tuple[Row, ...]  # the best, and those whose wait does not differ from its by more than chance
    beside: tuple[Beside, ...]  # the best (`lead`) beside Linux's timer and RFC 6298's
    refused: Row | None  # would have waited less, but fired needlessly too often
    allowed: int  # needless timeouts that a timer might have
    alone: tuple[Alone, ...] = ()  # flows that can be judged by themselves
    part: bool = False  # not all of what was given could be read
    requested: tuple[str, ...] = ()  # timers whose miss rate was given

    @property
    def samples(self) -> int:
        return self.rows[0].samples

    @property
    def differing(self) -> list[Alone]:
        """Flows in which the best of all (`lead`) is not among the best; where it fires too often first."""
        name = self.lead.estimator if self.lead else ""
        differing = [a for a in self.alone if name and name not in a.best]
        return sorted(differing, key=lambda a: (not a.refuses(name), -a.samples))

    @property
    def known(self) -> bool:
        """Whether so many samples tell which timer is best."""
        return self.samples >= FEW and self.rows[0].judged

    @property
    def lead(self) -> Row | None:
        """Of the best, the one that figures are given of: Linux's, or what fired least."""
        linux = next((r for r in self.equal if r.estimator == LINUX), None)
        return linux or min(self.equal, key=lambda r: (needless(r), r["mean_rto_ms"]), default=None)


def needless(row: Row) -> int:
    return int(row["spurious_timeouts"] or 0)


def allowed(rows: Sequence[Row]) -> int:
    """As many needless timeouts as Linux's timer had, or one for each thousand samples begun."""
    linux = next((needless(r) for r in rows if r.estimator == LINUX), 0)
    return max(linux, -(-max((r.samples for r in rows), default=0) // SAMPLES_PER_TIMEOUT))


def ranked(rows: Sequence[Row]) -> list[Row]:
    """Those that fired needlessly no more often than allowed by their wait; then the others, by how often."""
    most = allowed(rows)

    def key(row: Row) -> tuple[bool, int, float]:
        fires, wait = needless(row), row["mean_rto_ms"]
        return wait is None or fires > most, fires if fires > most else 0, wait or 0.0

    return sorted(rows, key=key)


def _equal(ratio: float, interval: Interval | None) -> bool:
    return abs(ratio - 1) < SAME or (interval is not None and interval[0] <= 1 <= interval[1])


def of(rows: Sequence[Row], flows: int, waits: Waits) -> Verdict | None:
    """`rows`: one for each estimator, over all flows. None where no timer was measured."""
    order = [row for row in ranked(rows) if row["mean_rto_ms"]]
    if not order:
        return None
    most = allowed(order)

    def ratio(row: Row, base: Row) -> tuple[float, Interval | None]:
        over = (row["mean_rto_ms"] or 0.0) / (base["mean_rto_ms"] or 1.0)
        return over, waits.get(base.estimator, {}).get(row.estimator)

    fit = [row for row in order if needless(row) <= most]
    equal = tuple(row for row in fit if row is fit[0] or _equal(*ratio(row, fit[0])))
    found = Verdict(tuple(order), flows, equal, (), None, most)
    if (lead := found.lead) is None:
        return found
    known = [row for name in (LINUX, STANDARD) for row in order if row.estimator == name and row is not lead]
    beside = tuple(Beside(row, *ratio(lead, row)) for row in known)
    shorter = (r for r in order if needless(r) > most and ratio(r, lead)[0] < 1 - SAME)
    return Verdict(tuple(order), flows, equal, beside, next(shorter, None), most)


def alone(rows: Sequence[Row], flow: str, waits: Callable[[str], Mapping[str, Interval]]) -> Alone | None:
    """`rows`: one for each estimator, of one flow; `waits` are those over a base."""
    order = [row for row in ranked(rows) if row["mean_rto_ms"]]
    if not order or order[0].samples < FEW:
        return None
    first = order[0].estimator
    found = of(order, 1, {first: waits(first)})
    if found is None or not found.equal:
        return None
    best = tuple(row.estimator for row in found.equal)
    return Alone(flow, found.samples, found.allowed, best, {r.estimator: needless(r) for r in order})
