# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define base classes for traces of samples (time of arrival and RTT) without packets."""

from collections.abc import Iterator

import numpy as np

from .base import ByteStream, FlowInfo, TraceFile
from .many_flows import Bools, Int64s, ManyFlows
from .schema import Columns


class SampleFlow:
    """A flow of RTT samples. `last_us` is the time of its last row, or None before the first row."""

    def __init__(self, number: int, name: str) -> None:
        self.id, self.name = number, name
        self.samples = 0
        self.last_us: int | None = None
        self._flows = ManyFlows(1)
        self._flows.numbered([""])

    def info(self) -> FlowInfo:
        """Return the information on the flow as a capture gives it. `id` and `peer` are both its number."""
        info = self._flows.info(0, self.name)
        info["id"] = info["peer"] = self.id
        return info

    def columns(self, time_us: Int64s, rtt_us: Int64s, resent: Bools) -> Columns:
        """Return the columns of a batch of RTT samples in order of arrival. A `resent` row
        (retransmission) has no sample: its `rtt_us` is ignored."""
        out = self._flows.columns(np.zeros(len(time_us), np.int64), time_us, rtt_us, resent)
        out["flow"] += np.uint32(self.id)
        self.samples += int(np.count_nonzero(~resent))
        self.last_us = int(time_us[-1])
        return out


def slices(batch: Columns, max_rows: int) -> Iterator[Columns]:
    """Yield `batch` in parts of at most `max_rows` rows. The last part lists the ended flows."""
    count = len(batch["time_us"])
    ended = batch.pop("ended")
    for start in range(0, max(count, 1), max_rows):
        last = start + max_rows >= count
        part = {key: column[start : start + max_rows] for key, column in batch.items()}
        part["ended"] = ended if last else ended[:0]
        yield part


class SampleTrace:
    """The base class of traces of samples. It holds the file, its warnings and its flows."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._stream = ByteStream(file)
        self._warnings: list[str] = []
        self._by_id: dict[int, SampleFlow] = {}
        self._made = 0  # number of flows

    def _new_flow(self, name: str) -> SampleFlow:
        flow = self._by_id[self._made] = SampleFlow(self._made, name)
        self._made += 1
        return flow

    @property
    def warnings(self) -> list[str]:
        """Return warnings about left-out or assumed data. The list is complete after the last batch."""
        return list(self._warnings)

    def _cut_short(self) -> list[str]:
        return [f"read as far as it goes: {self._stream.damage}"] if self._stream.damage else []

    @property
    def progress(self) -> float:
        """Return the share of the file that has been read, from 0 to 1."""
        return self._stream.progress

    def flow(self, flow_id: int) -> FlowInfo:
        """Return the information on flow number `flow_id`."""
        return self._by_id[flow_id].info()

    def release(self, flow_id: int) -> None:
        """Free the state of flow number `flow_id`, which has ended."""
        self._by_id.pop(flow_id, None)
