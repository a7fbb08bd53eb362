# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Packet captures (pcap and pcapng, plain or gzipped), read by native code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import cast

from tcplearn._native import CaptureReader

from .base import FlowInfo, TraceFile, TraceOptions
from .schema import Columns


class CaptureTrace:
    """A trace over a packet capture."""

    kind = "capture"

    def __init__(self, file: TraceFile, options: TraceOptions) -> None:
        self._reader = CaptureReader(
            os.fsencode(file.path),
            file.name,
            sender=options.sender,
            every_ack=options.every_ack,
            idle_s=options.idle_s,
            events=options.events,
        )

    @property
    def warnings(self) -> list[str]:
        """One line for each thing left out."""
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
        """Return what is known of a flow."""
        return cast("FlowInfo", self._reader.flow(flow_id))

    def release(self, flow_id: int) -> None:
        """Forget an ended flow."""
        self._reader.release(flow_id)
