# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Hold flows in memory as columns, for studies that run many parameter sets over the same samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tcplearn import _native
from tcplearn.replay import copies
from tcplearn.traces import Columns, TraceOptions, open_trace, schema

BATCH_ROWS = 65_536

Records = npt.NDArray[np.void]  # rows with all their columns


@dataclass(frozen=True, slots=True)
class Flow:
    """A complete flow, with its rows in order of arrival."""

    name: str
    rows: Columns
    samples: int
    copies_key: str  # the result of `copies.key_of`, equal for copies in other files


class Reader:
    """Yields a trace's flows (directions of connections) from the chosen sender, each when it is complete."""

    def __init__(self, path: Path, options: TraceOptions, flow: str = "", name: str = "") -> None:
        """Open the trace at `path`, called `name` in messages (default: its path). Yield only flows whose
        names contain the text `flow`. Raise TraceError."""
        self._trace = open_trace(path, options=options, name=name)
        self._title = (name or str(path)).rpartition("/")[2]
        self._flow = flow  # only flows whose names contain this text

    @property
    def warnings(self) -> list[str]:
        """Return the trace's warnings. The list is complete after the last flow."""
        return list(self._trace.warnings)

    @property
    def progress(self) -> float:
        return self._trace.progress

    def __iter__(self) -> Iterator[Flow]:
        parts: dict[int, list[Records]] = {}
        for batch in self._trace.batches(BATCH_ROWS):
            for flow, records in _by_flow(batch):
                parts.setdefault(flow, []).append(records)
            for flow in batch["ended"].tolist():
                pieces = parts.pop(flow, [])
                info = self._trace.flow(flow)
                self._trace.release(flow)
                if not pieces or not info["chosen"] or self._flow not in info["name"]:
                    continue
                joined = np.concatenate(pieces)
                rows = {name: np.ascontiguousarray(joined[name]) for name in joined.dtype.names or ()}
                samples = int((rows["rtt_us"] >= 0).sum())
                if samples:
                    digest = _native.samples_digest(rows["time_us"], rows["rtt_us"])
                    key = copies.key_of(digest, samples, info["name"], self._title, info["first_us"])
                    yield Flow(info["name"], rows, samples, key)


def _by_flow(batch: Columns) -> Iterator[tuple[int, Records]]:
    """Yield the number and the rows of each flow, in one structured array, which takes little memory."""
    flow = batch["flow"]
    if not len(flow):
        return
    order = np.argsort(flow, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(flow[order]) != 0])
    names = [name for name in batch if name in schema.COLUMNS or name in schema.OPTIONAL]
    records = np.empty(len(flow), [(name, batch[name].dtype) for name in names])
    for name in names:
        records[name] = batch[name]
    for rows in np.split(order, starts[1:]):
        yield int(flow[rows[0]]), records[rows]


def samples_only(rows: Columns) -> Columns:
    return schema.taken(rows, np.flatnonzero(rows["rtt_us"] >= 0))


def windows(samples: int, length: int, most: int) -> range:
    """Return the starts of at most `most` windows of `length` samples, spread evenly; they may overlap."""
    room = samples - length + 1
    return range(0, room, -(-room // most)) if room > 0 else range(0)


def windowed(rows: Columns, starts: Sequence[int], length: int) -> Columns:
    """Return the windows of `length` rows that begin at the indices `starts`, as flows numbered 0, 1, ..."""
    at = np.asarray(starts)[:, None] + np.arange(length)
    flow = np.repeat(np.arange(len(starts), dtype=np.uint32), length)
    return schema.taken(rows, at.ravel()) | {"flow": flow}


def middle_of(rows: Columns) -> int:
    """Return the index of the row of the flow `rows` at which the second half of its scored samples (all but
    the first) begins."""
    scored = np.flatnonzero(rows["rtt_us"] >= 0)[1:]
    return int(scored[len(scored) // 2]) if len(scored) else len(rows["rtt_us"])
