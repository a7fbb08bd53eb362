# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads a whole trace and checks what holds for all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcplearn.traces import COLUMNS, FlowInfo, TraceOptions, open_trace


@dataclass
class Rows:
    """A whole trace in memory."""

    columns: dict[str, Any]
    flows: dict[int, FlowInfo]
    warnings: list[str]
    kind: str

    def of(self, flow: int) -> list[dict[str, int]]:
        return [
            {name: int(self.columns[name][i]) for name in COLUMNS}
            for i in np.flatnonzero(self.columns["flow"] == flow)
        ]

    def by_sender(self, start: str) -> list[dict[str, int]]:
        (flow,) = [f for f in self.flows.values() if f["name"].startswith(start)]
        return self.of(flow["id"])


def read_all(path: Path, max_rows: int = 65536, **options: Any) -> Rows:
    trace = open_trace(path, options=TraceOptions(**options))
    batches, flows = [], {}
    for batch in trace.batches(max_rows):
        assert set(batch) == {*COLUMNS, "ended"}
        assert len(batch["time_us"]) <= max_rows
        batches.append(batch)
        for flow in batch["ended"]:
            flows[int(flow)] = trace.flow(int(flow))
            trace.release(int(flow))
    columns = {name: np.concatenate([b[name] for b in batches]) for name in COLUMNS}
    for name, kind in COLUMNS.items():
        assert columns[name].dtype == kind
    assert np.all(columns["armed_us"] <= columns["time_us"])
    assert np.all(columns["head_sent_us"] <= columns["time_us"])
    assert np.all(columns["flight_segments"] >= 1)
    sampled = columns["no_sample"] == 0
    assert np.all(columns["rtt_us"][sampled] >= 0)
    assert np.all(columns["rtt_us"][~sampled] == -1)
    assert np.all(columns["sent_us"][~sampled] == -1)
    assert np.all((columns["time_us"] - columns["sent_us"] == columns["rtt_us"])[sampled])
    assert trace.progress == 1.0 or trace.warnings
    return Rows(columns, flows, trace.warnings, trace.kind)
