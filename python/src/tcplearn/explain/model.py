# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define data classes for the results of explaining captures, from which tables, rows and the report are
made."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from tcplearn.explain.answers import Advice, Fade, Forecast
from tcplearn.explain.causes import CAUSES, HANDSHAKE

#: The columns that identify a connection in each table.
KEY = ("source", "connection")
#: In the column `options` of connections: the packets have timestamps; the first SYN was captured; the order
#: of the ports is all that shows which end is the client.
STAMPED, SYN_SEEN, ENDS_GUESSED = 2, 4, 8
#: The slowest requests are this share of all requests, and at least one request.
SLOWEST = 0.01
#: If at least this share of the captured starts of connections is in several captures, these are captures of
#: the same traffic.
_LEAST_SHARED = 0.1
#: The percentiles of response times that are reported, by metric.
PERCENTILES = {
    "median_response_ms": 50.0,
    "p90_response_ms": 90.0,
    "p99_response_ms": 99.0,
    "p999_response_ms": 99.9,
}


@dataclass(frozen=True, slots=True)
class Part:
    """The share of one cause of delay in the response times of a Summary's requests."""

    cause: str
    stalls: int
    stalled_ms: float  # in stalls (waits in which no data moved) of this cause
    longest_ms: float
    share: float  # share of the time of all requests
    slow_share: float  # share of the time of the slowest requests


@dataclass(frozen=True, slots=True)
class Summary:
    """How long requests took, and why: those to one destination, those of one capture, or those of all
    captures."""

    destination: str  # or the capture's name; "" for all requests
    requests: int
    connections: int
    response_ms: dict[str, float]  # percentiles and maximum, by metric
    slowest: int  # the number of slowest requests
    parts: list[Part]  # causes that took time, by their share in the slowest requests

    def slow_share(self, cause: str) -> float:
        """Return the share of the slowest requests' time that went to `cause`."""
        return next((part.slow_share for part in self.parts if part.cause == cause), 0.0)


@dataclass
class Explained:
    """The requests, stalls and connections of captures, as Polars tables with the columns of docs/explain.md;
    and the forecasts and the advice."""

    requests: pl.DataFrame
    stalls: pl.DataFrame
    connections: pl.DataFrame
    sources: list[str]
    # paths of the sources; None if a source cannot be read again
    paths: list[Path | None] = field(default_factory=list)
    packets: int = 0
    named: str = ""  # what the user named on the command line
    warnings: list[str] = field(default_factory=list)
    fades: list[Fade] = field(default_factory=list)
    made_by: dict[str, str] = field(default_factory=dict)
    anonymized: bool = False  # addresses and file names have been replaced
    forecast: Forecast | None = None  # None if no timer held a request up
    advice: Advice | None = None  # None until it has been made
    # servers for which alone a setting is advised, if none is advised for all requests together
    advised_alone: list[str] = field(default_factory=list)
    handshakes: Forecast | None = None  # None if no handshake was held up
    handshake_advice: Advice | None = None

    @cached_property
    def total(self) -> Summary:
        """Return the summary of the requests of all captures."""
        return summary("", self.requests, self.stalls)

    @cached_property
    def destinations(self) -> list[Summary]:
        """Return a summary for each server, in the order of `most_waiting_first`."""
        stalls = self.stalls.partition_by("server", as_dict=True)
        servers = self.requests["server"].unique()
        # a single server, as in a capture taken at the server, needs no copy of the table
        alone = [((server,), self.requests) for server in servers] if len(servers) == 1 else None
        groups = alone or self.requests.group_by(["server"], maintain_order=True)
        out = [summary(str(key[0]), of, stalls.get(key, self.stalls.clear())) for key, of in groups]
        return most_waiting_first(out)

    @cached_property
    def unanswered(self) -> pl.DataFrame:
        """Return the connections whose SYN was retransmitted and never answered."""
        alone = pl.col("handshake_ms", "to_server_ms").is_null(), pl.col("client_segments") == 0
        again = self.stalls.filter(pl.col("cause").cast(pl.String) == "handshake_lost")
        return self.connections.filter(*alone).join(again, on=KEY, how="semi")

    @cached_property
    def in_several(self) -> int:
        """Return the number of connections whose start is in more than one capture."""
        if len(self.sources) < 2:
            return 0
        ends = self._begun.group_by("client", "server").agg(pl.col("source").n_unique())
        return ends.filter(pl.col("source") > 1).height

    @property
    def repeats_traffic(self) -> bool:
        """Return whether several captures are of the same traffic. Captures of different days may have the
        ports of a few connections in common by chance."""
        return self.in_several > 0 and self.in_several >= _LEAST_SHARED * self._begun.height

    @property
    def _begun(self) -> pl.DataFrame:
        return self.connections.filter(pl.col("options") & SYN_SEEN > 0)

    @cached_property
    def captures(self) -> list[Summary]:
        """Return the summary of each capture, in the order of `sources`, or [] if there is only one."""
        if len(self.sources) < 2:
            return []
        requests, stalls = (of.partition_by("source", as_dict=True) for of in (self.requests, self.stalls))
        return [
            summary(name, requests.get((k,), self.requests.clear()), stalls.get((k,), self.stalls.clear()))
            for k, name in enumerate(self.sources)
        ]


def most_waiting_first(summaries: Sequence[Summary]) -> list[Summary]:
    """Return `summaries`, each of at least one request, in descending order of the 99th percentile of
    response times multiplied by the number of requests."""
    return sorted(summaries, key=lambda one: -one.response_ms["p99_response_ms"] * one.requests)


def slowest_first(times_ms: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the indices of all `times_ms`, the slowest first."""
    return np.argsort(-times_ms, kind="stable")


def of_slowest(times_ms: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the indices of the slowest 1 % of `times_ms`, at least one, the slowest first."""
    count = max(1, math.ceil(len(times_ms) * SLOWEST)) if len(times_ms) else 0
    return slowest_first(times_ms)[:count]


def slowest_requests(requests: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the slowest 1 % of `requests`, at least one, the slowest first."""
    return requests[of_slowest(requests["response_ms"].to_numpy())]


def summary(destination: str, requests: pl.DataFrame, stalls: pl.DataFrame) -> Summary:
    """Return the summary of the `requests` and `stalls` of a destination or capture, or of all captures
    ("")."""
    times_ms = requests["response_ms"].to_numpy()
    slow = of_slowest(times_ms)
    response: dict[str, float] = {}
    if len(times_ms):
        found = np.percentile(times_ms, list(PERCENTILES.values()))
        response = dict(zip(PERCENTILES, found.tolist(), strict=True))
        response["longest_response_ms"] = float(times_ms.max())
    # this function may be called for 100,000 servers
    groups = stalls.group_by(["cause"]) if stalls.height else ()
    connections = requests["source"].to_numpy().astype(np.uint64) << np.uint64(32)
    connections |= requests["connection"].to_numpy()
    durations = {str(cause): of["duration_ms"].to_numpy() for (cause,), of in groups}
    parts = []
    all_ms, slow_ms = float(times_ms.sum()), float(times_ms[slow].sum())
    for cause in CAUSES:
        spent_ms = requests[f"{cause}_ms"].to_numpy()
        mine = durations.get(cause, np.empty(0))
        if not len(mine) and not spent_ms.any():
            continue
        parts.append(
            Part(
                cause,
                len(mine),
                float(mine.sum()),
                float(mine.max(initial=0.0)),
                float(spent_ms.sum()) / all_ms if all_ms else 0.0,
                float(spent_ms[slow].sum()) / slow_ms if slow_ms else 0.0,
            )
        )
    parts.sort(key=lambda part: (part.cause in HANDSHAKE, -part.slow_share, -part.share))
    return Summary(
        destination,
        len(times_ms),
        len(np.unique(connections)),
        response,
        len(slow),
        parts,
    )


def address(name: str) -> pl.Expr:
    """Return the text of the column `name` without port and without the brackets of an IPv6 address."""
    return pl.col(name).cast(pl.String).str.replace(r":\d+$", "").str.strip_chars("[]")


def held_up(requests: pl.DataFrame, stalls: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each pair of a stall and a request that are on the same connection and overlap in
    time: the stall's columns, the indices `stall` and `request`, and `overlap_ms`."""
    keys = stalls.select(KEY).unique().with_row_index("group")
    times = requests.select(*KEY, "start_s", "response_ms").with_row_index("request")
    times = times.join(keys, on=KEY)  # few connections have stalls
    numbers, of_request = times["request"].to_numpy(), times["group"].to_numpy().astype(np.int64)
    of_stall = stalls.join(keys, on=KEY, maintain_order="left")["group"].to_numpy().astype(np.int64)
    from_us, to_us = _interval_us(times["start_s"], times["response_ms"])
    begins_us, ends_us = _interval_us(stalls["start_s"], stalls["duration_ms"])
    # shift the times of each connection behind those of the connection before, so that one search finds the
    # overlaps of all connections
    apart_us = 1 + max((int(us.max(initial=0)) for us in (to_us, ends_us)), default=0)
    order = np.argsort(of_request * apart_us + from_us, kind="stable")
    sent_us = (of_request * apart_us + from_us)[order]
    answered_us = np.maximum.accumulate((of_request * apart_us + to_us)[order])
    first = np.searchsorted(answered_us, of_stall * apart_us + begins_us, side="right")
    last = np.searchsorted(sent_us, of_stall * apart_us + ends_us, side="left")
    counts = np.maximum(last - first, 0)
    stall = np.repeat(np.arange(stalls.height), counts)
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(first, counts)
    request = order[place]
    overlap_us = np.minimum(ends_us[stall], to_us[request]) - np.maximum(begins_us[stall], from_us[request])
    meets = (overlap_us > 0) & (of_stall[stall] == of_request[request])
    held: pl.DataFrame = stalls[stall[meets]]
    return held.with_columns(
        pl.Series("stall", stall[meets], pl.UInt32),
        pl.Series("request", numbers[request[meets]], pl.UInt32),
        pl.Series("overlap_ms", overlap_us[meets] / 1e3),
    )


def _interval_us(start_s: pl.Series, lasts_ms: pl.Series) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the starts and the ends, in us, of intervals."""
    start_us = np.rint(start_s.to_numpy() * 1e6).astype(np.int64)
    return start_us, start_us + np.rint(lasts_ms.to_numpy() * 1e3).astype(np.int64)
