# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Decide which timer would have served the traffic best, by the rule in `docs/metrics.md` ("Which RTO")."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tcplearn.replay.row import Row

LINUX, STANDARD = "linux", "jacobson/rfc6298"
LINUX_RATIO = f"mean_rto_{LINUX}_ratio"  # its interval's keys begin with it
SPURIOUS, PROBES = "spurious_timeouts_tlp", "spurious_probes"  # of a sender with RACK (RFC 8985)
#: A timer may have as many spurious timeouts as Linux's, or one for each 1,000 samples if that is more,
#: and as many spurious probes as Linux's plus one for each 100 samples. Quotients are rounded up.
SAMPLES_PER_TIMEOUT, SAMPLES_PER_PROBE = 1000, 100
FEW = 300  # fewer samples decide nothing: 300 without an event allow a rate of 1 % (95 % bound)
SAME = 0.05  # mean RTOs with a smaller relative difference count as equal

Interval = tuple[float, float]  # the 95 % interval of the ratio of two timers' mean RTOs
Waits = Mapping[str, Mapping[str, Interval]]  # of a timer's mean RTO / a base timer's, by base and by timer


@dataclass(frozen=True, slots=True)
class Beside:
    """Linux's or RFC 6298's timer, with which the best timer is compared. `ratio` is the best timer's mean
    RTO divided by this timer's."""

    row: Row
    ratio: float
    interval: Interval | None  # None if it is unknown

    @property
    def chance(self) -> bool:
        """Return whether the difference between the mean RTOs of the best timer and of this timer (Linux's
        or RFC 6298's) may be chance."""
        return self.interval is None or self.interval[0] <= 1 <= self.interval[1]


@dataclass(frozen=True, slots=True)
class Alone:
    """The verdict on which timer suits a single flow best. Flows with fewer than `FEW` samples have none."""

    flow: str
    samples: int
    allowed: int  # spurious timeouts that a timer may have
    best: tuple[str, ...]  # names of the best timers
    spurious: Mapping[str, int]  # number of spurious timeouts by estimator

    def refuses(self, estimator: str) -> bool:
        """Return whether the timer `estimator` has too many spurious timeouts in this flow."""
        return self.spurious[estimator] > self.allowed

    def agreeing(self, estimator: str) -> Alone:
        """Return a copy of this flow's verdict in which the timer `estimator` is among the best."""
        return replace(self, best=tuple(dict.fromkeys((*self.best, estimator))))


@dataclass(frozen=True, slots=True)
class Verdict:
    rows: tuple[Row, ...]  # all timers compared, over all flows, the best first
    flows: int
    equal: tuple[Row, ...]  # the best timer, and those whose mean RTO differs by less than 5 % or by chance
    beside: tuple[Beside, ...]  # the timers of Linux and RFC 6298, compared with `lead`
    refused: Row | None  # a timer with a shorter RTO but too many spurious timeouts or probes
    allowed: int  # spurious timeouts that a timer may have
    allowed_probes: int
    alone: tuple[Alone, ...] = ()  # flows with enough samples to be judged alone
    part: bool = False  # some of the input could not be read
    requested: tuple[str, ...] = ()  # timers whose miss rate the user requested

    @property
    def samples(self) -> int:
        return self.rows[0].samples

    @property
    def differing(self) -> list[Alone]:
        """Return the flows in which `lead`, the best timer overall, is not among the best; the flows in which
        it has too many spurious timeouts come first."""
        name = self.lead.estimator if self.lead else ""
        differing = [a for a in self.alone if name and name not in a.best]
        return sorted(differing, key=lambda a: (not a.refuses(name), -a.samples))

    @property
    def known(self) -> bool:
        """Return whether there are enough samples to decide which timer is best."""
        return self.samples >= FEW and self.rows[0].judged

    @property
    def lead(self) -> Row | None:
        """Return the timer to be named as the best: Linux's timer if it is among the best ones, otherwise the
        one of them with the fewest spurious timeouts. Return None if all have too many of these or of
        spurious probes."""
        linux = next((r for r in self.equal if r.estimator == LINUX), None)
        return linux or min(self.equal, key=lambda r: (spurious(r), r["mean_rto_ms"]), default=None)


def spurious(row: Row) -> int:
    """Return the number of spurious timeouts in `row`."""
    return int(row[SPURIOUS] or 0)


def probes(row: Row) -> int:
    """Return the number of spurious tail loss probes in `row`."""
    return int(row[PROBES] or 0)


def allowed(rows: Sequence[Row]) -> int:
    """Return the largest number of spurious timeouts with which one of the timers in `rows` can be the best:
    that of Linux's timer, or 1 per 1,000 samples if that is more."""
    return max(_of_linux(rows, spurious), _one_in(SAMPLES_PER_TIMEOUT, rows))


def allowed_probes(rows: Sequence[Row]) -> int:
    """Return how many spurious probes the best timer may have: as many as Linux's timer, plus 1 per 100
    samples (rounded up)."""
    return _of_linux(rows, probes) + _one_in(SAMPLES_PER_PROBE, rows)


def _of_linux(rows: Sequence[Row], count: Callable[[Row], int]) -> int:
    return next((count(r) for r in rows if r.estimator == LINUX), 0)


def _one_in(samples: int, rows: Sequence[Row]) -> int:
    return -(-max((r.samples for r in rows), default=0) // samples)


def _fitting(rows: Sequence[Row]) -> Callable[[Row], bool]:
    timeouts, most = allowed(rows), allowed_probes(rows)
    return lambda row: spurious(row) <= timeouts and probes(row) <= most


def ranked(rows: Sequence[Row]) -> list[Row]:
    """Return `rows`, the best timer first. Timers with an allowed number of spurious timeouts and probes
    are ordered by mean RTO; the others follow, ordered by number of spurious timeouts."""
    fits = _fitting(rows)

    def key(row: Row) -> tuple[bool, int, float]:
        fit, wait = fits(row), row["mean_rto_ms"]
        return wait is None or not fit, 0 if fit else spurious(row), wait or 0.0

    return sorted(rows, key=key)


def _equal(ratio: float, interval: Interval | None) -> bool:
    return abs(ratio - 1) < SAME or (interval is not None and interval[0] <= 1 <= interval[1])


def of(rows: Sequence[Row], flows: int, waits: Waits) -> Verdict | None:
    """Return the verdict on which timer suits the traffic best, or None if no timer was measured. `rows` has
    each timer's metrics over all `flows` flows. `waits[a][b]` is the interval of the mean RTO of timer `b`
    divided by that of timer `a`."""
    order = [row for row in ranked(rows) if row["mean_rto_ms"]]
    if not order:
        return None
    most, most_probes, fits = allowed(order), allowed_probes(order), _fitting(order)

    def ratio(row: Row, base: Row) -> tuple[float, Interval | None]:
        over = (row["mean_rto_ms"] or 0.0) / (base["mean_rto_ms"] or 1.0)
        return over, waits.get(base.estimator, {}).get(row.estimator)

    fit = [row for row in order if fits(row)]
    equal = tuple(row for row in fit if row is fit[0] or _equal(*ratio(row, fit[0])))
    found = Verdict(tuple(order), flows, equal, (), None, most, most_probes)
    if (lead := found.lead) is None:
        return found
    known = [row for name in (LINUX, STANDARD) for row in order if row.estimator == name and row is not lead]
    beside = tuple(Beside(row, *ratio(lead, row)) for row in known)
    shorter = (r for r in order if not fits(r) and ratio(r, lead)[0] < 1 - SAME)
    return replace(found, beside=beside, refused=next(shorter, None))


def alone(rows: Sequence[Row], flow: str, waits: Callable[[str], Mapping[str, Interval]]) -> Alone | None:
    """Return the verdict on which timer suits one flow best; None with too few samples, or if every timer has
    too many spurious timeouts or probes. `waits(a)` returns, by timer, the interval of its mean RTO divided
    by that of timer `a`."""
    order = [row for row in ranked(rows) if row["mean_rto_ms"]]
    if not order or order[0].samples < FEW:
        return None
    first = order[0].estimator
    found = of(order, 1, {first: waits(first)})
    if found is None or not found.equal:
        return None
    best = tuple(row.estimator for row in found.equal)
    return Alone(flow, found.samples, found.allowed, best, {r.estimator: spurious(r) for r in order})
