# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define base classes for traces of samples (time of arrival and RTT) without packets."""

from collections.abc import Iterator

import numpy as np

from .base import ByteStream, FlowInfo, TraceFile
from .many_flows import Bools, Int64s, ManyFlows
from .schema import Columns

_LEAST_US, _MOST_US = 50, 60_000_000  # bounds of a network's median round trip
_LOOKED_AT = 10_000  # first samples whose median is checked
_LARGER = {"ms": "s", "s": "s"}
_SMALLER = {"ns": "ns", "us": "ns", "ms": "us", "s": "ms"}


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


def count_warnings(*counts: tuple[int, str]) -> list[str]:
    """Return a warning for each of the `counts`, pairs of a number and what was counted, that is not 0."""
    return [f"{count} {what}" for count, what in counts if count]


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


class Plausible:
    """Checks whether the first RTT samples of a trace have a plausible size in the unit given or assumed."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._parts: list[Int64s] = []
        self._count = 0

    def add(self, rtt_us: Int64s) -> None:
        if self._count < _LOOKED_AT:
            part = rtt_us[: _LOOKED_AT - self._count].copy()
            self._parts.append(part)
            self._count += len(part)

    def warnings(self) -> list[str]:
        """Return a line if the median round trip is implausible."""
        if not self._count:
            return []
        median_us = float(np.median(np.concatenate(self._parts)))
        if _LEAST_US <= median_us <= _MOST_US:
            return []
        long = median_us > _MOST_US
        if not long and self._unit in ("us", "ns"):
            return []  # such short round trips occur within a rack
        unit = (_SMALLER if long else _LARGER)[self._unit]
        value = f"{median_us / 1e6:g} s" if long else f"{median_us:g} us"
        advice = f"are these {unit}? give --unit {unit}" if unit != self._unit else "is the unit right?"
        return [f"half of the round trips are {'above' if long else 'below'} {value}: {advice}"]
