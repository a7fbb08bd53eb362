# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Find silent paths: several connections of two hosts stall at once, while nothing arrives from the other
host."""

import numpy as np
import numpy.typing as npt
import polars as pl

from tcplearn.explain.causes import CAUSES, PATH_SILENT, RESENT
from tcplearn.explain.model import Explained, held_up


def name_silence(found: Explained) -> None:
    """Set the cause of stalls to `path_silent` if several connections of the same two hosts stalled at the
    same time and received nothing."""
    stalls = found.stalls.with_row_index("row").with_columns(
        (pl.col("start_s") + pl.col("duration_ms") / 1e3).alias("end_s")
    )
    silent = stalls.filter(pl.col("silent") & pl.col("cause").cast(pl.String).is_in(RESENT))
    if silent.height < 2:
        return
    rows = _overlapping(silent)
    if not rows:
        return
    kind = pl.Enum(CAUSES)
    named = pl.col("row").is_in(rows)
    moved = stalls.filter(named)
    cause = pl.when(named).then(pl.lit(PATH_SILENT, kind)).otherwise(pl.col("cause"))
    found.stalls = stalls.with_columns(cause.alias("cause")).drop("row", "end_s")
    found.requests = _moved(found.requests, moved)


def _overlapping(silent: pl.DataFrame) -> list[int]:
    """Return the row numbers of the stalls in `silent` that overlap with one of another connection of the
    same hosts."""
    rows: list[int] = []
    for _, group in silent.sort("start_s").group_by(["source", "client", "server"], maintain_order=True):
        names = ("start_s", "end_s", "connection", "row")
        start_s, end_s, connection, row = (group[name].to_numpy() for name in names)
        rows += row[_meets(start_s, end_s, connection)].tolist()
    return sorted(rows)


def _meets(
    start_s: npt.NDArray[np.float64], end_s: npt.NDArray[np.float64], connection: npt.NDArray[np.uint32]
) -> npt.NDArray[np.bool_]:
    """Return whether each stall, in order of `start_s`, overlaps with another connection's stall."""
    count = len(start_s)
    # stalls that begin later: the next stall of another connection is the first to begin
    changes = np.flatnonzero(np.diff(connection)) + 1
    next_ = np.append(changes, count)[np.searchsorted(changes, np.arange(count), side="right")]
    out: npt.NDArray[np.bool_] = np.append(start_s, np.inf)[next_] < end_s
    # stalls that began earlier: for two connections, keep the latest end of any stall so far
    latest, other, whose = -np.inf, -np.inf, -1
    for k, (start, end, number) in enumerate(
        zip(start_s.tolist(), end_s.tolist(), connection.tolist(), strict=True)
    ):
        out[k] |= start < (other if number == whose else latest)
        if number == whose:
            latest = max(latest, end)
        elif end > latest:
            latest, other, whose = end, latest, number
        else:
            other = max(other, end)
    return out


def _moved(requests: pl.DataFrame, moved: pl.DataFrame) -> pl.DataFrame:
    """Return `requests` with the time of the stalls `moved` taken from their earlier causes and added to the
    cause `path_silent`."""
    spent = held_up(requests, moved)
    columns = {name: requests[name].to_numpy().copy() for name in requests.columns if name.endswith("_ms")}
    for row, cause, ms in spent.select("request", pl.col("cause").cast(pl.String), "overlap_ms").iter_rows():
        taken = min(ms, columns[f"{cause}_ms"][row])
        columns[f"{cause}_ms"][row] -= taken
        columns[f"{PATH_SILENT}_ms"][row] += taken
    return requests.with_columns(pl.Series(name, values) for name, values in columns.items())
