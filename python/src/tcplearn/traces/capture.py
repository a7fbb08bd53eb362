# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read packet captures (pcap, pcapng, plain or gzipped) from a file, a pipe or an interface."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, cast

from tcplearn._native import CaptureReader

from .base import FlowInfo, Interface, TraceFile, TraceOptions
from .schema import Columns


class CaptureTrace:
    """A trace that reads a packet capture."""

    kind = "capture"

    def __init__(self, reader: CaptureReader) -> None:
        self._reader = reader

    @staticmethod
    def of_file(file: TraceFile, options: TraceOptions) -> CaptureTrace:
        """Return the trace of `file`, which is read from its beginning to its end."""
        return CaptureTrace(CaptureReader(os.fsencode(file.path), file.name, **_options(options)))

    @staticmethod
    def of_pipe(descriptor: int, head: bytes, name: str, options: TraceOptions) -> CaptureTrace:
        """Return the trace of a capture in a pipe. The trace will close `descriptor`; `head` has the bytes
        already read from it; `name` stands for the pipe in messages."""
        return CaptureTrace(CaptureReader.of_pipe(descriptor, head, name, **_options(options)))

    @staticmethod
    def of_interface(interface: Interface, options: TraceOptions) -> CaptureTrace:
        """Return the trace of the traffic of `interface` from now on."""
        return CaptureTrace(CaptureReader.of_interface(interface.name, **_options(options)))

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
        """Return the share of the file that has been read, from 0 to 1."""
        return float(self._reader.progress())

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield batches of about `max_rows` rows. Some are empty, so that a progress bar can move."""
        while (batch := self._reader.next(max_rows)) is not None:
            yield batch

    def flow(self, flow_id: int) -> FlowInfo:
        """Return the information on flow number `flow_id`."""
        return cast("FlowInfo", self._reader.flow(flow_id))

    def release(self, flow_id: int) -> None:
        """Free the state of flow number `flow_id`, which has ended."""
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
