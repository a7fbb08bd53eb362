# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Computes p99, p99.9 and the mean of the slowest 2 % of response times over one path under each timer,
with bootstrap samples. The timers are `stock` (Linux's own), fixed values of rto_min, and the learned
resend policies `priced` and `priced/spaced`."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from experiments.lib.runs import Floats, Run
from experiments.lib.statistics import Drawn, geometric_drawn
from tcplearn.lab.requests import SLOWEST

STOCK, OURS = "stock", ("priced", "priced/spaced")
#: The resend policies that also ran with bulk transfers, over paths with fades, at overloaded queues, and
#: beside a transfer under Linux's own timer.
LOADED = (*OURS, "priced/backoff-1.5")
#: Timers with a fixed rto_min (Linux's own timer, `stock`, has 200 ms).
STATIC = (*(f"rto_min {ms} ms" for ms in (1, 5, 20, 50, 100)), STOCK)
#: The bootstrap draws blocks of `BLOCK` successive requests, because one outage can delay several of them.
BLOCK, DRAWS, SEED = 25, 400, 17
P99, P999, SLOW = FIGURES = ("p99", "p99.9", "slowest 2 %")
#: Only this share of the response times, the slowest ones, is kept; all figures can be computed from it.
KEPT = 0.15

DSACK, PROBES, TIMEOUTS = "nstat.TcpExtTCPDSACKRecv", "nstat.TcpExtTCPLossProbes", "nstat.TcpExtTCPTimeouts"


class Sample:
    """Response times in groups (blocks of requests, or runs); the bootstrap draws whole groups."""

    def __init__(self, times_ms: Sequence[Floats], sizes: Sequence[float]) -> None:
        """Takes for each group its response times in ms, of which the slowest are enough, and the number of
        all its response times (`sizes`)."""
        every = np.concatenate(times_ms)
        slowest = np.argsort(-every, kind="stable")[: int(np.ceil(sum(sizes) * KEPT)) + 1]
        self._values = every[slowest]
        self._groups = np.repeat(np.arange(len(times_ms)), [len(of) for of in times_ms])[slowest]
        self.sizes = np.asarray(sizes, float)

    @classmethod
    def of_blocks(cls, times_ms: Floats) -> Sample:
        blocks = np.array_split(times_ms, max(len(times_ms) // BLOCK, 1))
        return cls(blocks, [len(block) for block in blocks])

    def drawn(self) -> npt.NDArray[np.int64]:
        """Returns how often each bootstrap sample (row) contains each group of response times (column)."""
        n = len(self.sizes)
        chosen = np.random.default_rng(SEED).integers(0, n, (DRAWS, n))
        return np.array([np.bincount(row, minlength=n) for row in chosen])

    def figures(self, weights: npt.NDArray[np.int64] | None = None) -> Floats:
        """Returns p99, p99.9 and the mean of the slowest 2 % of the response times, in ms: a row for each row
        of `weights`, which says how often each group counts, or a single row in which each counts once."""
        if weights is None:
            weights = np.ones((1, len(self.sizes)), np.int64)
        counts = weights @ self.sizes
        reached = np.cumsum(weights[:, self._groups], axis=1)  # response times at least as slow as each value
        out = np.empty((len(weights), len(FIGURES)))
        for k, share in enumerate((0.99, 0.999)):
            rank = (1 - share) * (counts - 1)
            low = np.floor(rank)
            slower, faster = (self._at(reached, of) for of in (low, np.ceil(rank)))
            out[:, k] = slower + (rank - low) * (faster - slower)
        most = np.maximum(counts // SLOWEST, 1)[:, None]
        taken = np.diff(np.minimum(reached, most), axis=1, prepend=0)
        out[:, 2] = taken @ self._values / most[:, 0]
        return out

    def _at(self, reached: npt.NDArray[np.int64], rank: Floats) -> Floats:
        at = (reached <= rank[:, None]).sum(axis=1)
        return np.asarray(self._values[np.minimum(at, len(self._values) - 1)])


def metric(runs: Sequence[Run], name: str) -> Floats:
    return np.array([run.metrics[name] for run in runs])


@dataclass(frozen=True)
class Timer:
    """The measurements of one timer over one path: response times, and each run's numbers of requests,
    segments and retransmissions."""

    samples: Mapping[int | None, Sample]  # of all runs (None) and of each half of them (0, 1)
    requests: Floats  # the number of requests in each run; the fields below also have a value for each run
    spurious: Floats  # spurious retransmissions
    segments: Floats
    resends: Floats  # tail loss probes and timeouts
    overruns_ms: Floats  # the sum of the times from an outage's end to the next retransmission (ns-3)
    overruns: Floats  # the number of these times

    @classmethod
    def of_lab(cls, runs: Sequence[Run]) -> Timer:
        times = [run.series["response_us"] / 1000 for run in runs]
        halves = [np.concatenate(times[k::2]) for k in (0, 1)] if times[1:] else np.array_split(times[0], 2)
        parts = {None: np.concatenate(times), 0: halves[0], 1: halves[1]}
        samples = {half: Sample.of_blocks(of) for half, of in parts.items()}
        sizes = np.array([len(of) for of in times], float)
        resends = metric(runs, PROBES) + metric(runs, TIMEOUTS)
        none = np.zeros(len(runs))
        return cls(samples, sizes, metric(runs, DSACK), metric(runs, "data_segments"), resends, none, none)

    @classmethod
    def of_ns3(cls, runs: Sequence[Run], late: str = "") -> Timer:
        """Returns the measurements of runs in ns-3. If `late` is "_late", the response times are only those
        of the later requests of each connection, when its timer has learned enough to be steady."""
        slow = [run.series[f"slow{late}_us"] / 1000 for run in runs]
        m = {name: metric(runs, name) for name in runs[0].metrics}
        sizes = m[f"requests{late}"]
        halves = {None: slice(None), 0: slice(0, None, 2), 1: slice(1, None, 2)}
        samples = {half: Sample(slow[of], sizes[of].tolist()) for half, of in halves.items()}
        spurious = m["needless_resends_permille"] * m["sent_packets"] / 1000
        overruns = m.get("overruns", np.zeros(len(runs)))
        overruns_ms = overruns * m.get("mean_overrun_ms", 0.0)
        resends = m["probes"] + m["timeouts"]
        return cls(samples, sizes, spurious, m["sent_packets"], resends, overruns_ms, overruns)

    def of(self, figure: str) -> float:
        return float(self.samples[None].figures()[0, FIGURES.index(figure)])

    @property
    def spurious_permille(self) -> float:
        return float(1000 * self.spurious.sum() / max(self.segments.sum(), 1))


class Cell:
    """A path under one workload, measured with each timer. The bootstrap draws blocks of requests."""

    #: Whether the best fixed rto_min is chosen again in each bootstrap sample.
    chooses_again = False

    def __init__(self, path: str, timers: Mapping[str, Timer]) -> None:
        self.path, self.timers = path, timers

    def requests_of(self, timer: str) -> int:
        return int(self.timers[timer].requests.sum())

    @property
    def reaches_the_tail(self) -> bool:
        """Returns whether Linux's own timer (`stock`) retransmits for at least one request in a hundred."""
        return bool(self.timers[STOCK].resends.sum() >= 0.01 * self.requests_of(STOCK))

    def weights(self, timer: str, half: int | None) -> npt.NDArray[np.int64]:
        """Returns how often bootstrap samples contain each group of response times under `timer`: from all
        runs if `half` is None, or from one half of them (0 or 1)."""
        return self.timers[timer].samples[half].drawn()

    @functools.cache  # noqa: B019 (cells live as long as the process)
    def figures(self, timer: str, half: int | None, drawn: bool) -> Floats:
        return self.timers[timer].samples[half].figures(self.weights(timer, half) if drawn else None)

    def _column(self, timer: str, figure: str, half: int | None, drawn: bool) -> Floats:
        return np.asarray(self.figures(timer, half, drawn)[:, FIGURES.index(figure)])

    def ratio(self, timer: str, figure: str) -> Drawn:
        """Returns `figure` (p99, p99.9 or the mean of the slowest 2 %) under `timer`, divided by that under
        Linux's own timer, with bootstrap samples."""
        value, sampled = (
            self._column(timer, figure, None, drawn) / self._column(STOCK, figure, None, drawn)
            for drawn in (False, True)
        )
        return float(value[0]), sampled

    def over_floor(self, timer: str, figure: str) -> Drawn:
        """Returns `figure` under `timer` divided by that under the best fixed rto_min, with bootstrap
        samples. The best rto_min has the smallest `figure` among those with no more spurious retransmissions
        than `timer`; if there is none, it is 200 ms. It is chosen on one half of the runs and compared on the
        other, for either half; the result is the geometric mean of both ratios."""
        value, sampled = (
            np.exp(np.mean([self._over_floor(timer, figure, half, drawn) for half in (0, 1)], axis=0))
            for drawn in (False, True)
        )
        return float(value[0]), sampled

    def _over_floor(self, timer: str, figure: str, chosen: int, drawn: bool) -> Floats:
        floors = [name for name in STATIC if name in self.timers]
        again = drawn and self.chooses_again
        most = self._spurious(timer, chosen, again)
        speed = np.array([self._column(name, figure, chosen, again) for name in floors])
        allowed = np.array([self._spurious(name, chosen, again) <= most for name in floors])
        allowed[floors.index(STOCK)] |= ~allowed.any(axis=0)
        best = np.argmin(np.where(allowed, speed, np.inf), axis=0)
        judged = np.array([self._column(name, figure, 1 - chosen, drawn) for name in floors])
        base = np.take_along_axis(judged, best[None, :], axis=0)[0] if again else judged[best[0]]
        return np.asarray(np.log(self._column(timer, figure, 1 - chosen, drawn) / base))

    def _spurious(self, timer: str, half: int, drawn: bool) -> Floats:
        """Returns the spurious retransmissions per 1,000 segments under `timer` in one `half` (0 or 1) of the
        runs: one number or, if `drawn` is true, one for each bootstrap sample."""
        of = self.timers[timer]
        k = slice(half, None, 2) if len(of.segments) > 1 else slice(None)
        weights = self.weights(timer, half) if drawn else np.ones((1, len(of.segments[k])))
        return np.asarray(1000 * (weights @ of.spurious[k]) / np.maximum(weights @ of.segments[k], 1))


class SeedsCell(Cell):
    """A path in ns-3, where all timers run with the same seeds. The bootstrap draws seeds, the same for
    all timers, and separately in the two halves of the runs."""

    chooses_again = True

    @functools.cached_property
    def _drawn(self) -> npt.NDArray[np.int64]:
        rng = np.random.default_rng(SEED)
        seeds = np.arange(len(self.timers[STOCK].requests))
        out = np.zeros((DRAWS, len(seeds)), np.int64)
        for row in out:
            for k in (0, 1):  # a half consists of every second seed
                half = seeds[k::2]
                row += np.bincount(half[rng.integers(0, len(half), len(half))], minlength=len(seeds))
        return out

    def weights(self, timer: str, half: int | None) -> npt.NDArray[np.int64]:
        return self._drawn if half is None else self._drawn[:, half::2]

    def over_stock(self, timer: str, above: str, below: str) -> tuple[Drawn, Drawn]:
        """Returns the sum over the runs of the field `above` of `Timer`, divided by that of its field
        `below`, with bootstrap samples: first for `timer`, then for Linux's own timer."""

        def summed(of: Timer) -> Drawn:
            top, bottom = getattr(of, above), getattr(of, below)
            ratios = self._drawn @ top / np.maximum(self._drawn @ bottom, 1)
            return float(top.sum() / max(bottom.sum(), 1)), ratios

        return summed(self.timers[timer]), summed(self.timers[STOCK])


def overall(cells: Sequence[Cell], timer: str, figure: str, *, floor: bool = False) -> Drawn:
    """Returns the geometric mean over the paths of `figure` under `timer` divided by that under Linux's
    own timer (`stock`) or, with `floor`, by that under the path's best fixed rto_min."""
    return geometric_drawn([(c.over_floor if floor else c.ratio)(timer, figure) for c in cells])
