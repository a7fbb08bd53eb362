# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Turn repeated readings of a connection's state in the kernel (smoothed RTT and counters) into samples."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from .base import TraceFile
from .samples import SampleFlow, SampleTrace, count_warnings, slices
from .schema import Columns, empty_batch, joined

_MOST_RTT_US = 1 << 40


@dataclass(frozen=True)
class Reading:
    """The state of a connection at one time."""

    srtt_us: int
    state: tuple[float, ...]  # values that change when data is acknowledged
    retransmits: int = 0  # segments retransmitted since the connection began


@dataclass
class _Connection:
    flow: SampleFlow
    last: Reading | None = None
    rows: list[tuple[int, int, bool]] = field(default_factory=list)  # time in us, RTT in us, retransmitted


class ReadingsTrace(SampleTrace):
    """The base class of traces of repeated readings of a connection's state. A connection is a flow, and a
    reading that differs from the previous one is a sample."""

    def __init__(self, file: TraceFile) -> None:
        super().__init__(file)
        self._connections: dict[Hashable, _Connection] = {}
        self._closing: list[_Connection] = []
        self._repeated = self._unmeasured = self._moved = 0
        self._pending = 0  # an upper bound of the number of rows since the last batch
        self._first_us: int | None = None
        self._last_us = 0

    @property
    def warnings(self) -> list[str]:
        lines = [
            "round trips are smoothed RTTs of the kernel (SRTT), read at intervals, not single samples: "
            "spikes are missing, so spurious timeouts are undercounted",
            *self._warnings,
        ]
        left_out = count_warnings(
            (self._repeated, "readings with nothing acknowledged since the last: left out"),
            (self._unmeasured, "readings before the first round trip: left out"),
            (self._moved, "readings whose time goes back: they take the time before them"),
        )
        return [*lines, *left_out, *self._cut_short()]

    def _read(self, key: Hashable, name: str, time_us: int, reading: Reading) -> None:
        """Add a reading of the connection `key`. Times may have any origin, but should not decrease."""
        if not 0 < reading.srtt_us < _MOST_RTT_US:
            self._unmeasured += 1
            return
        if self._first_us is None:
            self._first_us = time_us
        time_us -= self._first_us
        self._moved += time_us < self._last_us
        time_us = self._last_us = max(time_us, self._last_us)
        c = self._connections.get(key)
        if c is None or (c.last and c.last.retransmits > reading.retransmits):  # the counters have restarted
            self._end([key])
            c = self._connections[key] = _Connection(self._new_flow(name))
        if c.last is not None and reading.retransmits > c.last.retransmits:
            c.rows.append((time_us, 0, True))
        if c.last is not None and reading.state == c.last.state and reading.srtt_us == c.last.srtt_us:
            self._repeated += 1
        else:
            c.rows.append((time_us, reading.srtt_us, False))
        c.last = reading
        self._pending += 2

    def _end(self, keys: Iterable[Hashable]) -> None:
        for key in keys:
            if c := self._connections.pop(key, None):
                self._closing.append(c)

    def _rows(self, max_rows: int) -> Iterator[Columns]:
        """Yield the rows since the last call. The last batch lists the connections that have ended."""
        parts = []
        for c in [*self._closing, *self._connections.values()]:
            if c.rows:
                time_us, rtt_us, resent = np.array(c.rows, np.int64).T
                parts.append(c.flow.columns(time_us, rtt_us, resent != 0))
                c.rows.clear()
        batch = joined(parts) if parts else empty_batch()
        batch["ended"] = np.array([c.flow.id for c in self._closing], np.uint32)
        self._closing.clear()
        self._pending = 0
        yield from slices(batch, max_rows)
