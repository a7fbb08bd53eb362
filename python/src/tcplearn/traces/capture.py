# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Packet captures (pcap and pcapng, plain or gzipped), finished or in progress, read by native code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, cast

from tcplearn._native import CaptureReader

from .base import FlowInfo, Interface, TraceFile, TraceOptions
from .schema import Columns


class CaptureTrace:
    """A trace over a packet capture."""

    kind = "capture"

    def __init__(self, reader: CaptureReader) -> None:
        self._reader = reader

    @staticmethod
    def of_file(file: TraceFile, options: TraceOptions) -> CaptureTrace:
        """Return the trace of `file`, read from its beginning to its end."""
        return CaptureTrace(CaptureReader(os.fsencode(file.path), file.name, **_options(options)))

    @staticmethod
    def of_pipe(descriptor: int, head: bytes, name: str, options: TraceOptions) -> CaptureTrace:
        """Return the trace of a pipe, read as it is written. The trace owns `descriptor`; `head` was read
        already."""
        return CaptureTrace(CaptureReader.of_pipe(descriptor, head, name, **_options(options)))

    @staticmethod
    def of_interface(interface: Interface, options: TraceOptions) -> CaptureTrace:
        """Return the trace of an interface's traffic from now on."""
        return CaptureTrace(CaptureReader.of_interface(interface.name, **_options(options)))

    @property
    def live(self) -> bool:
        """Whether batches come several times a second, and `stop` ends them."""
        return self._reader.live

    @property
    def packets(self) -> int:
        """The number of packets read."""
        return self._reader.packets

    def stop(self) -> None:
        """Stop reading: the batches end with the packets read so far."""
        self._reader.stop()

    @property
    def warnings(self) -> list[str]:
        """A line for each omission."""
        return list(self._reader.warnings())

    @property
    def progress(self) -> float:
        """The share of the file that was read, 0 to 1."""
        return float(self._reader.progress())

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield batches; some are empty, so that a progress bar can move over packets without rows."""
        while (batch := self._reader.next(max_rows)) is not None:
            yield batch

    def flow(self, flow_id: int) -> FlowInfo:
        """Return the information on a flow."""
        return cast("FlowInfo", self._reader.flow(flow_id))

    def release(self, flow_id: int) -> None:
        """Free the state of a flow that has ended."""
        self._reader.release(flow_id)


def _options(options: TraceOptions) -> dict[str, Any]:
    return {
        "sender": options.sender,
        "every_ack": options.every_ack,
        "idle_s": options.idle_s,
        "events": options.events,
        "explain": None if options.explain is None else list(options.explain),
        "windows": list(options.windows),
    }
