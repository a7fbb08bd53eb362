# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Forecasts of candidates and the advice drawn from them, as data; forecast.py and advice.py make them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from tcplearn.explain.candidates import STOCK, Candidate


@dataclass(frozen=True, slots=True)
class Figure:
    """A forecast with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Outlook:
    """A candidate's forecast."""

    candidate: Candidate
    figures: dict[str, Figure]  # percentiles of response times, and the mean of the slowest, by their metrics
    spurious_permille: float  # resends for nothing in 1,000 segments of the sides it is for, or handshakes
    curve: list[tuple[float, float, float, float]]  # share of requests that are slower, than ms, its interval
    what: str = "response"  # or "handshake": what takes these times

    def figure(self, name: str) -> Figure:
        """A percentile or mean of these times, as "p99"."""
        return self.figures[f"{name}_{self.what}_ms"]

    @property
    def slowest_ms(self) -> float:
        """The mean of the slowest 2 %."""
        return self.figure("slowest").value


#: Where a setting can be made.
SIDES = ("client", "server")


@dataclass(slots=True)
class Forecast:
    """Of the data that the sides `by` send, or of handshakes."""

    hosts: dict[str, list[str]]  # addresses of each side
    by: Sequence[str]  # of SIDES
    stalls: int  # that a timer ended, with a forecast
    untold: int  # and without one
    segments: int  # of these sides, or handshakes
    seen: Outlook  # as it was
    outlooks: list[Outlook] = field(default_factory=list)  # stock first
    in_force: str = STOCK  # the candidate that waits as the sender did
    fit: float = math.nan  # its first wait over the sender's own: the middle of the stalls
    fit_error: float = math.nan  # middle distance of that from 1
    stock_fit: float = math.nan  # stock's first wait over the sender's own

    def of(self, name: str) -> Outlook:
        """That of a candidate."""
        return next(one for one in self.outlooks if one.candidate.name == name)


@dataclass(frozen=True, slots=True)
class Advice:
    """`chosen` None: nothing to gain by a setting, for the reason in `why`."""

    chosen: Outlook | None
    line: str = ""  # what to type; one for each side, where they differ
    undo: str = ""
    needs: str = ""
    where: str = ""  # on which host
    why: str = ""
    handshakes: bool = False  # not of the timer of data

    @property
    def sentences(self) -> list[str]:
        """As they are shown."""
        if self.chosen is None:
            what = "Nothing is advised for handshakes"
            if not self.handshakes:
                what = "No setting of TCP's timers is advised"
            return [f"{what}: {self.why}."]
        begin = "For handshakes, set" if self.handshakes else "Set"
        out = [
            f"{begin} on {self.where}:",
            *(f"  {line}" for line in self.line.split("\n")),
            *([f"  needs {self.needs}"] if self.needs else []),
        ]
        first, *more = self.undo.split("\n")
        return [*out, self.why, f"To undo: {first}", *(f"  {line}" for line in more)]
