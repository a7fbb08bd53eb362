# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Kept lab runs of thin-*.toml as cells, a path under one workload, and what each timer makes of a cell."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import latency_archive
import numpy as np
import numpy.typing as npt

from tcplearn.lab import guest, requests, results, scenario
from tcplearn.output.numbers import ratio
from tcplearn.papers import lab_runs

ROOT = Path(__file__).resolve().parents[1]
SCENARIOS = ROOT / "linux" / "lab" / "scenarios"
STOCK, OURS = "stock", ("priced", "priced/spaced")
FLOORS_MS = (1, 5, 20, 50, 100)
#: Of the static floors, stock's 200 ms among them, the best is the one in hindsight.
STATIC = (*(f"rto_min {ms} ms" for ms in FLOORS_MS), STOCK)
PEERS = (*STATIC, "thin linear", "RACK and probes off")
#: Requests that are drawn together: a fade is longer than a request.
BLOCK, DRAWS, SEED = 25, 400, 17

#: Requests for a p99.9.
LEAST_P999 = 12_000

#: Paths of the other ways to send, and of a transfer beside stock's.
WAYS = ("thin-wired", "thin-no-timestamps", "thin-delayed-acks", "thin-slots")
BESIDE = ("thin-wired", "thin-bloat", "thin-cellular")
WITHOUT_BULK = "thin-delayed-acks-200"

Floats = npt.NDArray[np.float64]
#: Of runs, by timer.
Folders = dict[str, list[Path]]


def p99(times_ms: Floats) -> float:
    return float(np.percentile(times_ms, 99))


def p999(times_ms: Floats) -> float:
    return float(np.percentile(times_ms, 99.9))


def slowest(times_ms: Floats) -> float:
    """Mean of the slowest 2 %."""
    return float(np.sort(times_ms)[-max(len(times_ms) // requests.SLOWEST, 1) :].mean())


Figure = Callable[[Floats], float]
FIGURES: dict[str, Figure] = {"p99": p99, "p99.9": p999, "slowest 2 %": slowest}


@dataclass(frozen=True)
class Timer:
    """What one timer left in a cell: response times and counts of each run."""

    times_ms: list[Floats]
    needless: list[float]
    segments: list[float]
    resends: list[float]  # by the timer: probes and timeouts

    @functools.cached_property
    def halves(self) -> tuple[Timer, Timer]:
        return self._half(0), self._half(1)

    def _half(self, which: int) -> Timer:
        """Of the runs; of the one run's requests, with the counts of all."""
        if len(self.times_ms) > 1:
            parts = (self.times_ms, self.needless, self.segments, self.resends)
            return Timer(*(part[which::2] for part in parts))
        half = np.array_split(self.times_ms[0], 2)[which]
        return Timer([half], self.needless, self.segments, self.resends)

    def of(self, figure: Figure) -> float:
        return figure(np.concatenate(self.times_ms))

    @property
    def needless_permille(self) -> float:
        return 1000 * sum(self.needless) / max(sum(self.segments), 1)

    def needless_of(self, runs: npt.NDArray[np.int64]) -> Floats:
        """In 1,000 segments, of these runs; a row of numbers each."""
        needless, segments = (np.asarray(of)[runs].sum(axis=1) for of in (self.needless, self.segments))
        return np.asarray(1000 * needless / np.maximum(segments, 1))

    def drawn_of(self, figure: Figure) -> Floats:
        return self._drawn[figure.__name__]

    @functools.cached_property
    def _drawn(self) -> dict[str, Floats]:
        """Figures of response times, blocks of them drawn again."""
        rng = np.random.default_rng(SEED)
        every = np.concatenate(self.times_ms)
        blocks = np.array_split(every, max(len(every) // BLOCK, 1))
        out = {f.__name__: np.empty(DRAWS) for f in FIGURES.values()}
        for k in range(DRAWS):
            again = np.concatenate([blocks[i] for i in rng.integers(0, len(blocks), len(blocks))])
            for f in FIGURES.values():
                out[f.__name__][k] = f(again)
        return out


@dataclass(frozen=True)
class Cell:
    path: str
    timers: dict[str, Timer]

    @property
    def requests(self) -> int:
        return self.requests_of(STOCK)

    def requests_of(self, timer: str) -> int:
        return sum(map(len, self.timers[timer].times_ms))

    @property
    def reaches_the_tail(self) -> bool:
        """Stock's timer sends again for one request in a hundred, or more."""
        return sum(self.timers[STOCK].resends) >= 0.01 * self.requests

    def ratio(self, timer: str, figure: Figure) -> float:
        return self.timers[timer].of(figure) / self.timers[STOCK].of(figure)

    def ratios_drawn(self, timer: str, figure: Figure) -> Floats:
        return self.timers[timer].drawn_of(figure) / self.timers[STOCK].drawn_of(figure)

    def over_floor(self, timer: str, figure: Figure) -> float:
        """Over the best static floor with no more needless resends, chosen on one half and judged on the
        other: the geometric mean of both ways."""
        pairs = self._judged(timer, figure)
        return geometric([ours.of(figure) / floor.of(figure) for ours, floor in pairs])

    def over_floor_drawn(self, timer: str, figure: Figure) -> Floats:
        """The same choices, judged on requests drawn again."""
        pairs = self._judged(timer, figure)
        logs = [np.log(ours.drawn_of(figure) / floor.drawn_of(figure)) for ours, floor in pairs]
        return np.asarray(np.exp(np.mean(logs, axis=0)))

    def _judged(self, timer: str, figure: Figure) -> Iterator[tuple[Timer, Timer]]:
        """Halves to judge on: of the timer, and of the floor that is best on the other half."""
        ours = self.timers[timer].halves
        for chosen, judged in ((0, 1), (1, 0)):
            of = {name: self.timers[name].halves for name in STATIC if name in self.timers}
            most = ours[chosen].needless_permille
            allowed = [name for name in of if of[name][chosen].needless_permille <= most] or [STOCK]
            best = min(allowed, key=lambda name: of[name][chosen].of(figure))
            yield ours[judged], of[best][judged]


def too_few(c: Cell, figure: str) -> bool:
    """Requests of one of its timers, for a p99.9."""
    return figure == "p99.9" and min(map(c.requests_of, c.timers)) < LEAST_P999


def geometric(values: Sequence[float] | Floats) -> float:
    return float(np.exp(np.mean(np.log(np.asarray(values, float)))))


def interval(drawn: Floats) -> tuple[float, float]:
    low, high = np.percentile(drawn, (2.5, 97.5)).tolist()
    return low, high


def spread(value: float, drawn: Floats) -> str:
    low, high = interval(drawn)
    return f"{ratio(value)} ({ratio(low)}-{ratio(high)})"


def verdict(value: float, limit: float, drawn: Floats, *, least: bool = False) -> str:
    """`least`: the limit is one from below. Undecided: the interval has values of both sides of it."""
    return f"{spread(value, drawn)}: {how(-limit, -drawn) if least else how(limit, drawn)}"


def how(limit: float, drawn: Floats) -> str:
    low, high = interval(drawn)
    return "met" if high <= limit else "missed" if low > limit else "undecided"


def paths(profile: str = "full") -> list[Path]:
    """Of the page under a profile; those that were kept for the final figures last."""
    found = (path for path in SCENARIOS.glob("thin-*.toml") if _is_on_page(path.stem, profile))
    return sorted(found, key=lambda path: ("kept" in path.stem, path.stem != "thin-wired", path.stem))


def _is_on_page(stem: str, profile: str) -> bool:
    if profile == "bulk":
        return stem != WITHOUT_BULK
    return profile == "full" or stem in (BESIDE if profile == "beside" else WAYS)


def _name(arm: guest.Arm) -> str:
    if arm.resend:
        return arm.resend
    if arm.setting:
        return {"linear": PEERS[-2], "no-rack": PEERS[-1]}[arm.setting]
    return f"rto_min {arm.rto_min_ms} ms" if arm.rto_min_ms else STOCK


def earlier() -> tuple[str, ...]:
    """Fingerprints of earlier modules, the latest first."""
    return lab_runs.earlier()[::-1]


def folders_of(file: Path, profile: str = "full") -> Folders:
    """Of each timer, of the page's module where there is a run, else of an earlier one. Empty: none."""
    chosen = scenario.load(file, profile)
    found = latency_archive.runs(chosen) or latency_archive.runs(chosen, earlier())
    if not found:
        print(f"{file.stem}, {profile}: no run is kept", file=sys.stderr)
    return _by_timer(chosen, found)


def _by_timer(chosen: scenario.Scenario, runs: Sequence[Path]) -> Folders:
    return {_name(arm): [r / arm.folder for r in runs] for arm in guest.arms(chosen, 0)} if runs else {}


def is_earlier(file: Path, profile: str) -> bool:
    """All that is kept is of an earlier module."""
    chosen = scenario.load(file, profile)
    return not latency_archive.runs(chosen) and bool(latency_archive.runs(chosen, earlier()))


def path_cell(file: Path) -> Cell | None:
    """Peers of every kept run of `full`, whichever module it had, which leaves their timers alone. Ours of
    the page's module: of the same run, or of that of profile `ours` with its number."""
    full, alone = (scenario.load(file, profile) for profile in ("full", "ours"))
    peers = _by_timer(full, latency_archive.runs(full, earlier()))
    ours: Folders = {timer: [] for timer in OURS}
    for number in range(full.runs.count):
        for chosen in (full, alone):
            if found := latency_archive.find(chosen, number):
                of = _by_timer(chosen, [found])
                ours = {timer: [*ours[timer], *of[timer]] for timer in OURS}
                break
        else:
            break
    found_both = STOCK in peers and ours[OURS[0]]
    return _cell_of(file, {timer: peers[timer] for timer in PEERS} | ours) if found_both else None


def cell(file: Path, profile: str = "full") -> Cell | None:
    """None where no run is kept."""
    found = folders_of(file, profile)
    return _cell_of(file, found) if found else None


def _cell_of(file: Path, found: Mapping[str, Sequence[Path]]) -> Cell:
    timers = {timer: _timer(folders) for timer, folders in found.items()}
    return Cell(file.stem.removeprefix("thin-"), timers)


def _timer(folders: Sequence[Path]) -> Timer:
    moved = [results.kernel_counts(folder) for folder in folders]
    return Timer(
        [requests.responses_ms(folder) for folder in folders],
        [counts.get("TcpExtTCPDSACKRecv", 0.0) for counts in moved],
        [results.data_segments(folder) for folder in folders],
        [counts.get("TcpExtTCPLossProbes", 0.0) + counts.get("TcpExtTCPTimeouts", 0.0) for counts in moved],
    )
