# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define data classes for recurring fades (times in which a path loses everything), for forecasts of response
times, and for the advice on a timer's setting that is drawn from the forecasts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tcplearn.explain.candidates import STOCK, Candidate


@dataclass(frozen=True, slots=True)
class Fade:
    """A recurring fade on the path from the end `by` (client or server): everything is lost for `lasts_s`,
    once every `every_s`. In the searched time, from `from_s` to `to_s` after the first packet of capture
    number `source`, fades begin at `begins_s` plus multiples of `every_s`. It was found from `losses`
    losses."""

    source: int
    client: str  # address
    host: str  # address of the server
    by: str
    from_s: float
    to_s: float
    every_s: float
    begins_s: float
    lasts_s: float
    losses: int

    def left_ms(self, at_s: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return how much of this fade is left at each of the times `at_s`, in ms: 0 outside of a fade."""
        since_s = (at_s - self.begins_s) % self.every_s
        inside = (at_s >= self.from_s) & (at_s < self.to_s) & (since_s < self.lasts_s)
        return np.where(inside, (self.lasts_s - since_s) * 1e3, 0.0)


@dataclass(frozen=True, slots=True)
class Figure:
    """A forecast value, such as a percentile of response times, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Outlook:
    """The forecast for one candidate, a setting of the retransmission timer."""

    candidate: Candidate
    figures: dict[str, Figure]  # percentiles, and the mean of the slowest 2 %, by metric name
    spurious_permille: float  # spurious retransmissions in 1,000 segments, or SYNs in 1,000 handshakes
    # (share of requests that take longer than t, t in ms, its interval)
    curve: list[tuple[float, float, float, float]]
    what: str = "response"  # what the times are of: "response" or "handshake"

    def figure(self, name: str) -> Figure:
        """Return the figure called `name`, such as "p99", of the response or handshake times."""
        return self.figures[f"{name}_{self.what}_ms"]

    @property
    def slowest_ms(self) -> float:
        """Return the mean of the slowest 2 % of the times, in ms."""
        return self.figure("slowest").value


#: The ends of a connection; a setting can be made at either.
SIDES = ("client", "server")


@dataclass(slots=True)
class Forecast:
    """Forecasts of response times, or of the durations of handshakes, for each candidate setting."""

    # addresses of the hosts at each end of connections with a stall that a timer ended; for handshakes, all
    hosts: dict[str, list[str]]
    by: Sequence[str]  # the ends that have the setting, of SIDES
    stalls: int  # stalls (waits in which no data moved) that a timer ended, with a forecast
    untold: int  # such stalls without a forecast
    segments: int  # segments that these ends sent, or handshakes
    seen: Outlook  # the measured times
    outlooks: list[Outlook] = field(default_factory=list)  # one for each candidate, stock Linux first
    in_force: str = STOCK  # the candidate whose waits match the sender's
    fit: float = math.nan  # median over stalls of in_force's first wait divided by the sender's
    fit_error: float = math.nan  # median distance of these ratios from 1
    stock_fit: float = math.nan  # the median ratio for stock Linux
    fitted: int = 0  # the number of these ratios

    def of(self, name: str) -> Outlook:
        """Return the forecast for the candidate called `name`."""
        return next(one for one in self.outlooks if one.candidate.name == name)


@dataclass(frozen=True, slots=True)
class Advice:
    """The advice to make the setting `chosen`. If it is None, no setting helps, for the reason `why`."""

    chosen: Outlook | None
    line: str = ""  # commands to type; one line for each end if they differ
    undo: str = ""  # commands that undo the setting, likewise
    needs: str = ""  # what the setting needs beyond a stock kernel
    where: str = ""  # the hosts on which the commands are typed
    why: str = ""  # the reason, as lines of text
    handshakes: bool = False  # True: the first RTO of handshakes, not the RTO of data

    @property
    def sentences(self) -> list[str]:
        """Return the advice as the lines of text that users see."""
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
        return [*out, *self.why.split("\n"), f"To undo: {first}", *(f"  {line}" for line in more)]
