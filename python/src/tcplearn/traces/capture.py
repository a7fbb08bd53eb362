# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read packet captures (pcap, pcapng, plain or gzipped) from a file, a pipe or an interface."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from tcplearn._native import CaptureReader

from .base import FlowInfo, TraceOptions
from .schema import Columns


class CaptureTrace:
    """A trace that reads a packet capture."""

    kind = "capture"

    def __init__(self, reader: CaptureReader) -> None:
        self._reader = reader

    @property
    def live(self) -> bool:
        """Return whether packets are read while they arrive (from an interface or a pipe)."""
        return self._reader.live

    @property
    def packets(self) -> int:
        """Return the number of packets that have been read."""
        return self._reader.packets

    def stop(self) -> None:
        """Stop reading. The last batch has the packets read so far."""
        self._reader.stop()

    @property
    def warnings(self) -> list[str]:
        """Return a message for everything that was left out."""
        return list(self._reader.warnings())

    @property
    def progress(self) -> float:
        return float(self._reader.progress())

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield batches of about `max_rows` rows. Some are empty, so that a progress bar can move."""
        while (batch := self._reader.next(max_rows)) is not None:
            yield batch

    def flow(self, flow_id: int) -> FlowInfo:
        return cast("FlowInfo", self._reader.flow(flow_id))

    def release(self, flow_id: int) -> None:
        self._reader.release(flow_id)


def native_options(options: TraceOptions) -> dict[str, Any]:
    """Return the arguments of CaptureReader that `options` determine."""
    return {name: value for name, value in vars(options).items() if name != "unit"}
