# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read the files of `tcplearn collect`: a table for the RTT regression, and handshakes in order of time."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tcplearn import documents
from tcplearn.errors import UserError, printable
from tcplearn.learn.dataset import Floats, Ints

REQUIRED = ("address", "hops", "ttl", "rtt_min_us", "rtt_avg_us", "rtt_max_us")
RTT_MAX_US = 3_600_000_000  # an hour; RTTs are above 0
_MOST = {"hops": 255, "ttl": 255, **dict.fromkeys(("rtt_min_us", "rtt_avg_us", "rtt_max_us"), RTT_MAX_US)}
PREFIX_BITS = {4: 24, 6: 48}  # by IP version; addresses with the same prefix usually share a route
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Table:
    """Columns with a value for each measurement of a host that answered; `hops` and `ttl` may be UNKNOWN."""

    destinations: tuple[str, ...]
    destination: Ints
    hops: Ints
    ttl: Ints
    min_us: Floats
    avg_us: Floats
    max_us: Floats
    read: int  # number of rows in the files

    def __len__(self) -> int:
        return len(self.destination)

    def rows(self, chosen: Any) -> Table:
        fields = ("destination", "hops", "ttl", "min_us", "avg_us", "max_us")
        return replace(self, **{name: getattr(self, name)[chosen] for name in fields})


@dataclass(frozen=True, slots=True)
class Handshakes:
    """Columns with a value for each handshake, in order of time. Destinations and prefixes are numbers."""

    time_us: Ints
    destination: Ints
    prefix: Ints
    hops: Ints
    ttl: Ints
    rtt_us: Floats

    def __len__(self) -> int:
        return len(self.rtt_us)


def read(paths: Sequence[Path]) -> tuple[Table, Handshakes]:
    """Return the measurements in the files `paths` as a table and as handshakes. Raise UserError if they are
    invalid."""
    frame = pl.concat([_frame(path) for path in paths])
    kept = frame.filter(pl.col("rtt_avg_us").is_not_null())
    where = " ".join(printable(path) for path in paths)
    destinations = tuple(kept["address"].unique(maintain_order=True))
    if len(destinations) < 4:
        raise UserError(
            f"{where}: {len(destinations)} destinations with an RTT; some are held out, so give 4 or more"
        )
    number = {address: k for k, address in enumerate(destinations)}

    def ints(name: str) -> Ints:
        return kept[name].fill_null(UNKNOWN).to_numpy().astype(np.int64)

    table = Table(
        destinations=destinations,
        destination=np.array([number[a] for a in kept["address"]], np.int64),
        hops=ints("hops"),
        ttl=ints("ttl"),
        min_us=kept["rtt_min_us"].to_numpy().astype(np.float64),
        avg_us=kept["rtt_avg_us"].to_numpy().astype(np.float64),
        max_us=kept["rtt_max_us"].to_numpy().astype(np.float64),
        read=len(frame),
    )
    return table, _handshakes(table, kept)


def _handshakes(table: Table, kept: pl.DataFrame) -> Handshakes:
    """Return a handshake for each single RTT of the measurements in `kept`. A measurement without single RTTs
    gives one handshake with its mean RTT."""
    prefixes: dict[str, int] = {}
    of = [prefixes.setdefault(_prefix(address), len(prefixes)) for address in table.destinations]
    rows: list[tuple[int, int, int]] = []  # time, visit, RTT
    for visit, (rtts_us, mean_us, started_us, ended_us) in enumerate(
        zip(kept["rtts_us"], table.avg_us, kept["started_us"], kept["ended_us"], strict=True)
    ):
        values = [int(value) for value in rtts_us.split()] or [round(mean_us)]
        times = np.linspace(started_us, max(started_us, ended_us), len(values)).astype(np.int64)
        rows += [(int(time_us), visit, value) for time_us, value in zip(times, values, strict=True)]
    rows.sort(key=lambda row: row[:2])
    columns = np.array(rows, np.int64).T
    destination = table.destination[columns[1]]
    return Handshakes(
        time_us=columns[0],
        destination=destination,
        prefix=np.array(of, np.int64)[destination],
        hops=table.hops[columns[1]],
        ttl=table.ttl[columns[1]],
        rtt_us=columns[2].astype(np.float64),
    )


def _prefix(address: str) -> str:
    try:
        bits = PREFIX_BITS[ipaddress.ip_address(address).version]
        return str(ipaddress.ip_network(f"{address}/{bits}", strict=False))
    except ValueError:
        return address


def _frame(path: Path) -> pl.DataFrame:
    where = printable(path)
    frame = documents.table(path, "hosts", REQUIRED, "; `tcplearn collect` writes such files")
    for name, most in _MOST.items():
        _check(frame, name, most, where)
    _check_order(frame, where)
    _check_samples(frame, where)
    optional = {
        "rtts_us": pl.lit(""),
        "started_us": pl.int_range(pl.len()) * 1_000_000,
        "ended_us": pl.lit(0),
    }
    return frame.select(
        pl.col("address").cast(pl.String),
        *(pl.col(name).cast(pl.Float64) for name in _MOST),
        *(
            (pl.col(name).fill_null(0 if name != "rtts_us" else "") if name in frame.columns else value)
            .cast(pl.String if name == "rtts_us" else pl.Int64)
            .alias(name)
            for name, value in optional.items()
        ),
    )


def _check(frame: pl.DataFrame, name: str, most: int, where: str) -> None:
    """Raise UserError if the column `name` has a value that is neither missing nor a number up to `most`."""
    if frame[name].null_count() == len(frame):  # an empty column may have any type
        return
    if not frame[name].dtype.is_numeric():
        raise UserError(f"{where}: {name} is no number")
    values = frame[name].cast(pl.Float64)
    least = 0 if name in ("hops", "ttl") else 1
    bad = (~(values.is_finite() & values.is_between(least, most))).fill_null(False).arg_true()
    if len(bad):
        raise UserError(
            f"{where}: row {bad[0] + 1}: {name} is {printable(frame[name][bad[0]])}; it has to be {least} to "
            f"{most}"
        )


def _check_order(frame: pl.DataFrame, where: str) -> None:
    least, mean, most = (frame[name].cast(pl.Float64) for name in ("rtt_min_us", "rtt_avg_us", "rtt_max_us"))
    bad = (~((least <= mean) & (mean <= most)).fill_null(True)).arg_true()
    if len(bad):
        raise UserError(
            f"{where}: row {bad[0] + 1}: rtt_min_us, rtt_avg_us and rtt_max_us are not in this order"
        )
    bad = (mean.is_not_null() & (least.is_null() | most.is_null())).arg_true()
    if len(bad):
        raise UserError(f"{where}: row {bad[0] + 1}: an rtt_avg_us without rtt_min_us and rtt_max_us")


def _check_samples(frame: pl.DataFrame, where: str) -> None:
    for name in ("started_us", "ended_us"):
        if name not in frame.columns or frame[name].null_count() == len(frame):
            continue
        if not frame[name].dtype.is_integer():
            raise UserError(f"{where}: {name} is no integer")
    if "rtts_us" not in frame.columns:
        return
    for row, text in enumerate(frame["rtts_us"].cast(pl.String).fill_null(""), 1):
        for word in text.split():
            if not (word.isascii() and word.isdecimal() and 0 < int(word[:20]) <= RTT_MAX_US):
                raise UserError(
                    f"{where}: row {row}: rtts_us has {printable(word)[:20]}, no RTT in microseconds"
                )
