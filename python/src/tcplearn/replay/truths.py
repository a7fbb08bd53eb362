# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read the true causes of a capture's losses from a table, and compare loss classifiers' decisions with
them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tcplearn import losses, tabular
from tcplearn.errors import UserError, printable

NEAR_US = 5000  # a fast retransmit belongs to the nearest row of the table, at most this far away


@dataclass(frozen=True, slots=True)
class Truths:
    """The times and true causes of losses, by flow ("" if the table names none) and in order of time."""

    times_us: dict[str, list[int]]
    causes: dict[str, list[str]]

    def of(self, flow: str, time_us: int) -> str | None:
        for name in (flow, ""):
            times = self.times_us.get(name)
            if not times:
                continue
            k = int(np.searchsorted(times, time_us))
            best = min((i for i in (k - 1, k) if 0 <= i < len(times)), key=lambda i: abs(times[i] - time_us))
            if abs(times[best] - time_us) <= NEAR_US:
                return self.causes[name][best]
        return None


def read(path: Path) -> Truths:
    """Return the true causes of losses in the CSV or Parquet file `path`, with the columns time_us, truth
    (congestion or random) and, for several flows, flow. Raise UserError."""
    import polars as pl

    where = printable(path)
    frame = tabular.read(path, "causes")
    for column in ("time_us", "truth"):
        if column not in frame.columns:
            raise UserError(f"{where}: no column {column}; a row has time_us and truth of a fast retransmit")
    if not frame["time_us"].dtype.is_integer() or frame["time_us"].null_count():
        raise UserError(f"{where}: time_us is not whole microseconds in every row")
    other = [v for v in frame["truth"].cast(pl.String).unique() if v not in losses.CAUSES]
    if other:
        raise UserError(f"{where}: truth is {printable(other[0])}; it has to be congestion or random")
    flows = frame["flow"].cast(pl.String).fill_null("") if "flow" in frame.columns else pl.Series([""])
    frame = frame.select("time_us", "truth").with_columns(flow=flows if len(flows) > 1 else pl.lit(flows[0]))
    out = Truths({}, {})
    for (flow,), rows in frame.sort("time_us").group_by("flow", maintain_order=True):
        out.times_us[str(flow)] = rows["time_us"].to_list()
        out.causes[str(flow)] = rows["truth"].to_list()
    return out


def recalls(pairs: Sequence[tuple[str, str]]) -> tuple[float | None, float | None]:
    """Return the recalls of congestion and of random losses (None without such losses), from `pairs` of (true
    cause, decision)."""
    found = []
    for cause in (losses.CONGESTION, losses.RANDOM):
        of_cause = [called == truth for truth, called in pairs if truth == cause]
        found.append(sum(of_cause) / len(of_cause) if of_cause else None)
    return found[0], found[1]
