# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes QUIC logs by hand, and reads them with a check of the properties that all logs must have."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcplearn.traces import COLUMNS, FlowInfo, Reason, TraceOptions, open_trace

Event = dict[str, Any]


@dataclass
class Read:
    rows: list[dict[str, int]]
    flows: list[FlowInfo]
    warnings: list[str]

    def column(self, name: str) -> list[int]:
        return [row[name] for row in self.rows]


def read_trace(path: Path, max_rows: int = 65536, **options: Any) -> Read:
    trace = open_trace(path, options=TraceOptions(**options))
    assert trace.kind == "qlog"
    rows: list[dict[str, int]] = []
    flows = []
    for batch in trace.batches(max_rows):
        assert set(batch) == {*COLUMNS, "ack_delay_us", "ended"}
        assert batch["ack_delay_us"].dtype == np.int64
        assert all(batch[name].dtype == kind for name, kind in COLUMNS.items())
        assert len(batch["time_us"]) <= max_rows
        ended = batch.pop("ended").tolist()
        values = zip(*(column.tolist() for column in batch.values()), strict=True)
        rows += [dict(zip(batch, row, strict=True)) for row in values]
        for flow in ended:
            flows.append(trace.flow(flow))
            trace.release(flow)
    for row in rows:
        assert row["armed_us"] <= row["time_us"] and row["head_sent_us"] <= row["time_us"]
        assert row["flight_segments"] >= 1 and row["ack_delay_us"] >= 0
        if row["no_sample"] == Reason.NONE:
            assert row["rtt_us"] == row["time_us"] - row["sent_us"] >= 0
        else:
            assert row["rtt_us"] == row["sent_us"] == -1
    assert trace.progress == 1.0 or trace.warnings
    return Read(rows, flows, trace.warnings)


# Events as most write them: draft-02 and later.
def sent(ms: float, number: int, kind: str = "1RTT", frame: str = "stream", size: int = 1200) -> Event:
    header = {"packet_type": kind, "packet_number": number}
    data = {"header": header, "raw": {"length": size}, "frames": [{"frame_type": frame}]}
    return {"time": ms, "name": "transport:packet_sent", "data": data}


def acked(ms: float, *ranges: list[int], delay: float | None = None, kind: str = "1RTT") -> Event:
    frame: Event = {"frame_type": "ack", "acked_ranges": list(ranges)}
    if delay is not None:
        frame["ack_delay"] = delay
    data = {"header": {"packet_type": kind, "packet_number": 7}, "frames": [frame]}
    return {"time": ms, "name": "transport:packet_received", "data": data}


def lost(ms: float, number: int) -> Event:
    data = {"header": {"packet_type": "1RTT", "packet_number": number}, "trigger": "time_threshold"}
    return {"time": ms, "name": "recovery:packet_lost", "data": data}


TRACE: Event = {
    "vantage_point": {"name": "quiche-client", "type": "client"},
    "common_fields": {"ODCID": "c0ffee", "time_format": "relative"},
}
HEADER: Event = {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "title": "t", "trace": TRACE}


def sequence(*events: Any, header: Event = HEADER) -> bytes:
    return b"".join(b"\x1e" + json.dumps(e).encode() + b"\n" for e in (header, *events))


def contained(*events: Any, **trace: Any) -> bytes:
    log = {"qlog_version": "0.3", "qlog_format": "JSON", "traces": [{**TRACE, "events": [*events], **trace}]}
    return json.dumps(log).encode()


EXCHANGE = (sent(0, 0), sent(1, 1), sent(2, 2), acked(50.5, [0, 1], delay=1.25), acked(52, [0, 2]))
RTTS = [49_500, 50_000]
