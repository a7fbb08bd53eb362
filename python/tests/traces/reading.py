# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads a whole trace and checks the properties that all traces must have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcplearn.traces import COLUMNS, FlowInfo, TraceOptions, open_trace, schema


def check_loss(loss: dict[str, int]) -> None:
    assert loss["sent_us"] <= loss["resent_us"] <= loss["acked_us"]
    assert 0 <= loss["head_sent_us"] <= loss["armed_us"] <= loss["probe_from_us"] <= loss["resent_us"]
    assert (loss["delivered_us"] < 0) == (loss["rack_us"] < 0)
    assert loss["delivered_us"] <= loss["rack_us"]
    assert loss["delivered_us"] < 0 or loss["sent_us"] <= loss["delivered_us"] <= loss["acked_us"]


@dataclass
class Rows:
    """Holds a whole trace in memory."""

    columns: dict[str, Any]
    flows: dict[int, FlowInfo]
    warnings: list[str]
    kind: str
    losses: list[dict[str, int]]

    def lost_by(self, start: str) -> list[dict[str, int]]:
        (flow,) = [f for f in self.flows.values() if f["name"].startswith(start)]
        return [loss for loss in self.losses if loss["flow"] == flow["id"]]

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
    losses: list[dict[str, int]] = []
    withdrawn: set[tuple[int, int]] = set()
    for batch in trace.batches(max_rows):
        assert set(batch) - {"losses", "ack_delay_us"} == {*COLUMNS, "ended"}
        assert ("losses" in batch) == (trace.kind == "capture")
        lost = batch.get("losses", {})
        withdrawn.update(zip(lost.get("withdrawn_flow", ()), lost.get("withdrawn_id", ()), strict=True))
        for values in zip(*(lost.get(name, ()) for name in schema.LOSSES), strict=True):
            loss = dict(zip(schema.LOSSES, map(int, values), strict=True))
            loss["acked_us"] = int(batch["time_us"][loss.pop("row")])
            losses.append(loss)
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
    for loss in losses:
        check_loss(loss)
    losses = [loss for loss in losses if (loss["flow"], loss["id"]) not in withdrawn]
    return Rows(columns, flows, trace.warnings, trace.kind, losses)
