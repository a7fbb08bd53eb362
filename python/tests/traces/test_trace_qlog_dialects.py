# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test qlogs in the form of each implementation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from qlog_logs import Event, acked, sent, sequence


def quic_go() -> bytes:
    header = {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": "quic-go qlog",
        "code_version": "(devel)",
        "trace": {
            "vantage_point": {"type": "server"},
            "common_fields": {
                "group_id": "deadbeef",
                "reference_time": {
                    "clock_type": "monotonic",
                    "epoch": "unknown",
                    "wall_clock_time": "2025-10-04T13:54:34.123456+08:00",
                },
            },
        },
        "qlog_format": "JSON-SEQ",
        "qlog_version": "0.3",
    }
    single = acked(71.25, [0, 1])
    single["data"]["frames"][0]["acked_ranges"] = [[1]]  # a range of one
    return sequence(sent(20.5, 0), sent(21.25, 1), acked(70.5, [0], delay=0.5), single, header=header)


def newest() -> bytes:
    """Return a log as in draft-ietf-quic-qlog-quic-events-12: the namespace is quic, and times are
    differences."""
    header = {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "trace": {
            "vantage_point": {"type": "server", "name": "edge"},
            "common_fields": {"time_format": "relative_to_previous_event", "group_id": "deadbeef"},
            "event_schemas": ["urn:ietf:params:qlog:events:quic-12"],
        },
    }
    events = [sent(20.5, 0), {"time": 0.25, "name": "quic:recovery_metrics_updated", "data": {}}]
    events += [sent(0.5, 1), acked(49.25, [0], delay=0.5), acked(0.75, [1])]
    for event in events:
        event["name"] = "quic:" + event["name"].partition(":")[2]
    return sequence(*events, header=header)


def aioquic() -> bytes:
    start = 1_732_170_000_000.0  # the time of day, in ms
    events = [sent(start + ms, n) for n, ms in enumerate((20.5, 21.25))]
    events += [acked(start + 70.5, [0, 0], delay=0.5), acked(start + 71.25, [0, 1], delay=0.0)]
    trace = {
        "common_fields": {"ODCID": "deadbeef"},
        "events": events,
        "vantage_point": {"name": "aioquic", "type": "server"},
    }
    return json.dumps({"qlog_format": "JSON", "qlog_version": "0.3", "traces": [trace]}).encode()


def quic_go_arrays() -> bytes:
    """Return a log as in draft-02-wip: events are arrays, and the packet's type stands beside its header."""
    rows = [
        [20.5, "transport", "packet_sent", _old("1RTT", 0, 1200, "stream")],
        [21.25, "transport", "packet_sent", _old("1RTT", 1, 1200, "stream")],
        [
            70.5,
            "transport",
            "packet_received",
            _old("1RTT", 0, 40, "ack", ack_delay=0.5, acked_ranges=[["0"]]),
        ],
        [71.25, "transport", "packet_received", _old("1RTT", 1, 40, "ack", acked_ranges=[["0", "1"]])],
    ]
    trace = {
        "vantage_point": {"type": "server"},
        "common_fields": {"ODCID": "deadbeef", "group_id": "deadbeef", "reference_time": 1.6e12},
        "event_fields": ["relative_time", "category", "event", "data"],
        "events": rows,
    }
    return json.dumps({"qlog_version": "draft-02-wip", "title": "quic-go qlog", "traces": [trace]}).encode()


def picoquic() -> bytes:
    """Return a log as in draft-00 with times in microseconds, as picoquic's C code prints it."""
    rows = [
        [20500, "transport", "packet_sent", _old("1RTT", 0, 1200, "stream")],
        [21250, "transport", "packet_sent", _old("1RTT", 1, 1200, "stream")],
        [
            70500,
            "transport",
            "packet_received",
            _old("1RTT", 0, 40, "ack", ack_delay=500, acked_ranges=[[0, 0]]),
        ],
        [
            71250,
            "transport",
            "packet_received",
            _old("1RTT", 1, 40, "ack", ack_delay=0, acked_ranges=[[0, 1]]),
        ],
    ]
    text = ",\n".join(json.dumps(row) for row in rows)
    return (
        '{ "qlog_version": "draft-00", "title": "picoquic", "traces": [\n'
        '{ "vantage_point": { "name": "backend-67", "type": "server" },\n'
        '"title": "picoquic", "description": "deadbeef",'
        '"event_fields": ["relative_time", "category", "event", "data"],\n'
        '"configuration": {"time_units": "us"},\n'
        '"common_fields": { "protocol_type": "QUIC_HTTP3", "reference_time": "1573000000000"},\n'
        f'"events": [{text}]}}]}}'
    ).encode()


def mvfst() -> bytes:
    """Return a log like picoquic's, with times as strings."""
    log = json.loads(picoquic())
    (trace,) = log["traces"]
    trace["common_fields"] = {"reference_time": "0", "dcid": "deadbeef", "scid": "", "protocol_type": "QUIC"}
    trace["vantage_point"] = {"type": "server", "name": "server"}
    for row in trace["events"]:
        row[0] = str(row[0])
    return json.dumps(log).encode()


def _old(kind: str, number: int, size: int, frame: str, **more: Any) -> Event:
    header = {"packet_size": size, "packet_number": number}
    return {"packet_type": kind, "header": header, "frames": [{"frame_type": frame, **more}]}


@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        (quic_go, "quic-go qlog server deadbeef"),
        (newest, "edge server deadbeef"),
        (aioquic, "aioquic server deadbeef"),
        (quic_go_arrays, "quic-go qlog server deadbeef"),
        (picoquic, "backend-67 server"),
        (mvfst, "server deadbeef"),
    ],
)
def test_every_dialect(read_qlog, dialect, name):
    got = read_qlog(dialect())
    assert got.column("time_us") == [50_000, 50_750]
    assert got.column("rtt_us") == [50_000, 50_000]
    assert got.column("ack_delay_us") == [500, 0]
    assert got.column("acked_bytes") == [1200, 1200]
    assert [flow["name"] for flow in got.flows] == [name]
