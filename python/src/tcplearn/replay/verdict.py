# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The verdict: which timer would have served the traffic best. Its rule: `docs/metrics.md`, "Which timer"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tcplearn.replay.row import Row

#: The timer that most hosts run, and the standard's.
LINUX, STANDARD = "linux", "jacobson/rfc6298"
#: The key of a mean RTO over that of Linux's timer; the keys of its interval begin with it.
LINUX_RATIO = f"mean_rto_{LINUX}_ratio"
#: A sender has tail loss probes and RACK (RFC 8985): timeouts and probes that are sent with nothing lost.
SPURIOUS, PROBES = "spurious_timeouts_tlp", "spurious_probes"
#: One spurious timeout for each thousand samples begun is allowed, and one probe for each hundred beyond
#: Linux's.
SAMPLES_PER_TIMEOUT, SAMPLES_PER_PROBE = 1000, 100
#: Fewer samples do not show a rate of spurious timeouts: none in 300 still allows one in 100, at 95 %.
FEW = 300
#: Waits with a smaller relative difference are called equal.
SAME = 0.05

#: The 95 % interval of the ratio of two mean RTOs.
Interval = tuple[float, float]
#: Intervals by base and estimator: of the estimator's mean RTO over the base's.
Waits = Mapping[str, Mapping[str, Interval]]


@dataclass(frozen=True, slots=True)
class Beside:
    """A well-known timer, and the ratio of the best timer's mean RTO to its."""

    row: Row
    ratio: float
    interval: Interval | None  # None if it is not known

    @property
    def chance(self) -> bool:
        """Whether the difference may be chance."""
        return self.interval is None or self.interval[0] <= 1 <= self.interval[1]


@dataclass(frozen=True, slots=True)
class Alone:
    """The verdict of one flow by itself, if the flow has enough samples."""

    flow: str
    samples: int
    allowed: int  # spurious timeouts that a timer may have
    best: tuple[str, ...]  # as `Verdict.equal`, by name
    spurious: Mapping[str, int]  # timeouts, by estimator

    def refuses(self, estimator: str) -> bool:
        """Return whether the timer `estimator` has too many spurious timeouts in this flow."""
        return self.spurious[estimator] > self.allowed

    def agreeing(self, estimator: str) -> Alone:
        """Return a copy with the timer `estimator` among the best."""
        return replace(self, best=tuple(dict.fromkeys((*self.best, estimator))))


@dataclass(frozen=True, slots=True)
class Verdict:
    rows: tuple[Row, ...]  # all compared, over all flows, the best first
    flows: int
    equal: tuple[Row, ...]  # the best timer, and timers whose wait differs from its by no more than chance
    beside: tuple[Beside, ...]  # Linux's timer and RFC 6298's, compared with the best (`lead`)
    refused: Row | None  # a timer that waits less, but has too many spurious timeouts or probes
    allowed: int  # spurious timeouts that a timer may have
    allowed_probes: int
    alone: tuple[Alone, ...] = ()  # flows that can be judged by themselves
    part: bool = False  # some of the input could not be read
    requested: tuple[str, ...] = ()  # timers whose miss rate was given

    @property
    def samples(self) -> int:
        return self.rows[0].samples

    @property
    def differing(self) -> list[Alone]:
        """Flows in which `lead` is not among the best; first those with too many of its spurious timeouts."""
        name = self.lead.estimator if self.lead else ""
        differing = [a for a in self.alone if name and name not in a.best]
        return sorted(differing, key=lambda a: (not a.refuses(name), -a.samples))

    @property
    def known(self) -> bool:
        """Whether there are enough samples to tell which timer is best."""
        return self.samples >= FEW and self.rows[0].judged

    @property
    def lead(self) -> Row | None:
        """The best timer whose figures are given: Linux's, or the one with the fewest spurious timeouts."""
        linux = next((r for r in self.equal if r.estimator == LINUX), None)
        return linux or min(self.equal, key=lambda r: (spurious(r), r["mean_rto_ms"]), default=None)


def spurious(row: Row) -> int:
    """Return the row's number of spurious timeouts."""
    return int(row[SPURIOUS] or 0)


def probes(row: Row) -> int:
    """Return the row's number of spurious tail loss probes."""
    return int(row[PROBES] or 0)


def allowed(rows: Sequence[Row]) -> int:
    """Return the allowed spurious timeouts: those of Linux's timer, or one for each thousand samples
    begun."""
    return max(_of_linux(rows, spurious), _one_in(SAMPLES_PER_TIMEOUT, rows))


def allowed_probes(rows: Sequence[Row]) -> int:
    """Return the allowed spurious probes: those of Linux's timer, and one for each hundred samples begun."""
    return _of_linux(rows, probes) + _one_in(SAMPLES_PER_PROBE, rows)


def _of_linux(rows: Sequence[Row], count: Callable[[Row], int]) -> int:
    return next((count(r) for r in rows if r.estimator == LINUX), 0)


def _one_in(samples: int, rows: Sequence[Row]) -> int:
    return -(-max((r.samples for r in rows), default=0) // samples)


def _fitting(rows: Sequence[Row]) -> Callable[[Row], bool]:
    timeouts, most = allowed(rows), allowed_probes(rows)
    return lambda row: spurious(row) <= timeouts and probes(row) <= most


def ranked(rows: Sequence[Row]) -> list[Row]:
    """Return `rows` in the verdict's order: timers that fit by wait, then the others by spurious timeouts."""
    fits = _fitting(rows)

    def key(row: Row) -> tuple[bool, int, float]:
        fit, wait = fits(row), row["mean_rto_ms"]
        return wait is None or not fit, 0 if fit else spurious(row), wait or 0.0

    return sorted(rows, key=key)


def _equal(ratio: float, interval: Interval | None) -> bool:
    return abs(ratio - 1) < SAME or (interval is not None and interval[0] <= 1 <= interval[1])


def of(rows: Sequence[Row], flows: int, waits: Waits) -> Verdict | None:
    """Return the verdict on `rows`, one for each estimator over all `flows`; None if no timer was measured.
    `waits` has the intervals of the ratios of mean RTOs."""
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
    """Return the verdict of one flow from `rows`, one for each estimator; None if it has too few samples.
    `waits` returns the intervals of the ratios to a base."""
    order = [row for row in ranked(rows) if row["mean_rto_ms"]]
    if not order or order[0].samples < FEW:
        return None
    first = order[0].estimator
    found = of(order, 1, {first: waits(first)})
    if found is None or not found.equal:
        return None
    best = tuple(row.estimator for row in found.equal)
    return Alone(flow, found.samples, found.allowed, best, {r.estimator: spurious(r) for r in order})
