# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""QUIC logs in qlog, in the shapes that implementations write."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tcplearn.traces import COLUMNS, FlowInfo, Reason, TraceError, TraceOptions, open_trace
from tcplearn.traces.qlog import QlogTrace

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


@pytest.fixture
def read_qlog(tmp_path: Path) -> Callable[..., Read]:
    def read(data: bytes, max_rows: int = 65536, **options: Any) -> Read:
        path = tmp_path / "log.qlog"
        path.write_bytes(data)
        return read_trace(path, max_rows, **options)

    return read


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


@pytest.mark.parametrize("max_rows", [1, 65536])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    "data",
    [
        sequence(*EXCHANGE),
        sequence(*EXCHANGE).replace(b"\x1e", b""),  # NDJSON
        contained(*EXCHANGE),
        json.dumps(json.loads(contained(*EXCHANGE)), indent=2).encode(),
        b"\xef\xbb\xbf" + contained(*EXCHANGE),
    ],
)
def test_every_serialisation(read_qlog, data, pack, max_rows):
    got = read_qlog(pack(data), max_rows)
    assert got.column("rtt_us") == RTTS
    assert got.column("time_us") == [50_500, 52_000]
    assert got.column("sent_us") == [1000, 2000]
    assert got.column("ack_delay_us") == [1250, 0]
    assert got.column("armed_us") == [0, 50_500]
    assert got.column("head_sent_us") == [0, 2000]
    assert got.column("flight_segments") == [3, 1]
    assert got.column("in_flight_bytes") == [3600, 1200]
    assert got.column("acked_bytes") == [2400, 1200]
    assert got.column("retransmitted") == [0, 0]
    (flow,) = got.flows
    assert flow["name"] == "quiche-client c0ffee"
    assert (flow["data_packets"], flow["data_bytes"], flow["samples"], flow["mss_bytes"]) == (
        3,
        3600,
        2,
        1200,
    )
    assert got.warnings == []


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
    """draft-ietf-quic-qlog-quic-events-12: the namespace is quic, times are deltas here."""
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
    """draft-02-wip: events are arrays, the packet's type stands beside its header."""
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
    """draft-00 in microseconds, as its C code prints it."""
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
    """Like picoquic's, times as strings."""
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


def test_what_is_a_sample(read_qlog):
    """RFC 9002, 5.1: the largest acknowledged is new, and something new elicits an ACK."""
    got = read_qlog(
        sequence(
            sent(0, 0),
            sent(1, 1),
            sent(2, 2, frame="ack", size=40),
            sent(3, 3),
            acked(50, [2, 2]),  # only an ACK: no row
            acked(51, [3, 3], [0, 0]),
            acked(52, [0, 3]),  # fills the hole: 3 was timed before
            acked(53, [0, 3]),  # nothing new
            acked(54, [0, 9]),
            sent(60, 10),
            sent(61, 11, frame="ping"),
            acked(99, [10, 40]),  # 40 is not in the log
            acked(100, [0, 1 << 61]),
        )
    )
    assert got.column("time_us") == [51_000, 52_000, 99_000]
    assert got.column("rtt_us") == [48_000, -1, -1]
    assert got.column("no_sample") == [Reason.NONE, Reason.SACKED_EARLIER, Reason.NOT_CAPTURED]
    assert got.flows[0]["samples"] == 1


def test_number_spaces_are_apart(read_qlog):
    got = read_qlog(
        sequence(
            sent(0, 0, "initial", "crypto"),
            acked(30, [0, 0], kind="initial"),
            sent(31, 0, "handshake", "crypto"),
            sent(32, 0, "0RTT"),
            sent(33, 1),
            acked(62, [0, 0], kind="handshake"),
            acked(70, [0, 1]),
        )
    )
    assert got.column("rtt_us") == [30_000, 31_000, 37_000]
    assert got.column("head_sent_us") == [0, 31_000, 32_000]
    # RFC 6298, (5.1) and (5.3)
    assert got.column("armed_us") == [0, 31_000, 62_000]


def test_packets_of_a_closed_space_are_gone(read_qlog):
    """RFC 9002, 6.4: the client's second Initial packet is never acknowledged, and no timer waits for it."""
    start = sent(0, 0, "initial", "crypto"), sent(1, 1, "initial", "crypto")
    rest = acked(30, [0, 0], kind="initial"), sent(31, 0, "handshake", "crypto"), sent(32, 0)
    got = read_qlog(sequence(*start, *rest, acked(70, [0, 0])))
    assert got.column("flight_segments") == [2, 2]
    assert got.column("head_sent_us") == [0, 31_000]
    assert got.column("armed_us") == [0, 31_000]


def test_retry_starts_again(read_qlog):
    retry = {"time": 20, "name": "transport:packet_received", "data": {"header": {"packet_type": "retry"}}}
    first, again = sent(0, 0, "initial", "crypto"), sent(21, 1, "initial", "crypto")
    got = read_qlog(sequence(first, retry, again, acked(50, [1, 1], kind="initial")))
    assert got.column("head_sent_us") == got.column("armed_us") == [21_000]
    assert got.column("rtt_us") == [29_000]


def test_declared_lost(read_qlog):
    got = read_qlog(
        sequence(
            *(sent(n, n) for n in range(6)),
            acked(50, [1, 3]),  # 0 is the oldest out: lost, as is said later
            lost(51, 0),
            sent(52, 6),
            acked(55, [1, 4]),  # 0 was declared lost before
            acked(56, [1, 5]),  # 5 is the oldest
            acked(99, [1, 6]),
            acked(120, [0, 6]),  # it arrived all the same: its number says so
        )
    )
    assert got.column("retransmitted") == [1, 1, 0, 0, 1]
    assert got.column("head_sent_us") == [0, 0, 5000, 52_000, 0]
    assert got.column("flight_segments") == [6, 3, 2, 1, 1]
    assert got.column("no_sample") == [0, 0, 0, 0, Reason.SACKED_EARLIER]
    assert got.flows[0]["retransmitted_packets"] == 1


def test_lost_and_acknowledged_last_is_a_sample(read_qlog):
    """A timer fired too early: the packet that it declared lost is timed, as no other has its number."""
    got = read_qlog(sequence(sent(0, 0), lost(200, 0), sent(201, 1), acked(300, [0, 0]), acked(310, [1, 1])))
    assert got.column("rtt_us") == [300_000, 109_000]
    assert got.column("retransmitted") == [1, 0]


def test_never_acknowledged(read_qlog):
    """Without packet_lost events: what is behind three acknowledged packets and two round trips is lost."""
    events = [sent(0, 0)]
    for n in range(1, 9):
        events += [sent(n * 60, n), acked(n * 60 + 50, [n, n])]
    got = read_qlog(sequence(*events))
    assert got.column("head_sent_us") == [0, 0, 0, 240_000, 300_000, 360_000, 420_000, 480_000]
    assert got.column("retransmitted") == [1, 1, 1, 0, 0, 0, 0, 0]
    tail = read_qlog(sequence(sent(0, 0), sent(1, 1), acked(50, [1, 1])))
    assert tail.column("retransmitted") == [1]


def test_sides_and_connections(read_qlog):
    other = {"vantage_point": {"type": "server"}, "title": "mine\x1b[31m", "events": []}
    for number, ms in enumerate((0, 0.5)):
        for group in ("aa", "bb"):
            other["events"].append(sent(ms, number) | {"group_id": group})
    other["events"] += [acked(10, [0, 1]) | {"group_id": "bb"}, acked(20, [0, 1]) | {"group_id": "aa"}]
    log = json.loads(contained(*EXCHANGE))
    log["traces"] += [{"error_description": "not found"}, other, log["traces"][0]]
    data = json.dumps(log).encode()
    got = read_qlog(data)
    names = ["quiche-client c0ffee", "mine?[31m server aa", "mine?[31m server bb", "quiche-client c0ffee #2"]
    assert [flow["name"] for flow in got.flows] == names
    assert [row["rtt_us"] for row in got.rows if row["flow"] in (1, 2)] == [9500, 19_500]
    assert got.warnings == ["trace 2 has no events: left out"]
    assert [flow["chosen"] for flow in read_qlog(data, sender="server").flows] == [False, True, True, False]


def test_seen_on_the_path(read_qlog):
    got = read_qlog(contained(*EXCHANGE, vantage_point={"type": "network", "flow": "client"}))
    assert got.column("rtt_us") == RTTS
    assert [flow["near_sender"] for flow in got.flows] == [False]
    assert "recorded on the path" in got.warnings[0]


@pytest.mark.parametrize("cut", [1, 20, 60])
@pytest.mark.parametrize("form", [sequence, contained])
def test_cut(read_qlog, form, cut):
    got = read_qlog(form(*EXCHANGE, acked(60, [0, 2]))[:-cut])
    assert got.column("rtt_us") == RTTS
    if form is contained:
        (line,) = got.warnings
        assert line.endswith("bytes are cut or broken, and left out: no JSON from there on")
    elif cut > 1:
        assert got.warnings == ["record 7, the last one, is cut: left out"]


def test_cut_gzip(read_qlog):
    events = [e for n in range(2000) for e in (sent(n * 10, n), acked(n * 10 + 5, [n, n], delay=n / 7))]
    for form in (sequence, contained):
        got = read_qlog(gzip.compress(form(*events))[:-900])
        assert 100 < len(got.rows) < 2000
        assert any("gzip data ends" in line for line in got.warnings)


def test_small_disorder(read_qlog):
    got = read_qlog(sequence(sent(0, 0), sent(5, 1), acked(4.5, [0, 0]), acked(60, [1, 1])))
    assert got.column("rtt_us") == [5000, 55_000]
    assert got.warnings == ["1 events up to 1000 us before the one ahead of them: moved to its time"]


def test_numbers_used_twice(read_qlog):
    got = read_qlog(sequence(*EXCHANGE, sent(60, 1), acked(61, [0, 2])))
    assert got.column("rtt_us") == RTTS
    assert got.warnings == ["1 packets whose number was sent before: left out"]


def test_ranges_that_are_none(read_qlog):
    bad = [acked(40 + n, r) for n, r in enumerate(([-1, -1], [1, 0], [0, 1 << 62], [0, 1, 2], ["x"], []))]
    got = read_qlog(sequence(*EXCHANGE[:3], *bad, *EXCHANGE[3:]))
    assert got.column("rtt_us") == RTTS
    assert got.warnings == ["6 ACK frames whose ranges cannot be read: left out"]


def test_huge_ranges_and_numbers(read_qlog):
    most = (1 << 62) - 1
    got = read_qlog(
        sequence(
            sent(0, most - 5),
            sent(1, most),
            acked(30, *([0, most] for _ in range(1000))),
            acked(31, [0, most]),
        )
    )
    assert got.column("rtt_us") == [29_000]


def test_much_that_is_never_acknowledged(read_qlog, monkeypatch):
    """ACKs of ACKs are rare: what a receiver sends is forgotten."""
    monkeypatch.setattr("tcplearn.traces.quic._MOST_AHEAD", 100)
    events = [sent(n / 10, n, frame="ack", size=40) for n in range(3000)]
    events += [sent(300, 3000), acked(350, [3000, 3000])]
    got = read_qlog(sequence(*events))
    assert got.column("rtt_us") == [50_000]
    assert [w.partition(" ")[2] for w in got.warnings] == [
        "packets forgotten, as too many were never acknowledged"
    ]


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (sequence(), "without a packet_sent event"),
        (contained(), "without a packet_sent event"),
        (sequence(sent(0, 0), sent(1, 1)), "2 packets were sent, but no ACK of them is in the log"),
        (sequence(sent(0, 5), acked(1, [0, 4])), "1 packets were sent, but no ACK in the log is of them"),
        (sequence(sent(0, 0))[:-5] + sequence(*EXCHANGE), "record 2: it is not JSON"),
        (sequence("x", *EXCHANGE), "record 2: it is no event"),
        (sequence([1, "transport", "packet_sent", {}]), 'it is no event: .*"event_fields"'),
        (sequence(sent(float("nan"), 0)), "record 2: time: nan is no time"),
        (contained(sent(1e308, 0)), "trace 1, event 1: time: 1e.308 is too large"),
        (sequence(sent(0, 0) | {"time": 10**400}), "record 2: time: 1000000+ is no time"),
        (sequence({"name": "quic:packet_sent", "data": {}}), "time: None is no time"),
        (sequence(sent(9, 0), sent(5, 1)), "record 3: time goes back by 4000 us"),
        (sequence(sent(0, 1 << 62)), "packet_number: 4611686018427387904 is no packet number"),
        (sequence(sent(0, -1)), "packet_number: -1 is no packet number"),
        (b'{"qlog_version": "0.3", "traces": 5}', 'JSON, but not qlog: there is no "traces" array'),
        (b'{"qlog_version": "0.3",', "not JSON: "),
        (b'{"qlog_version": "0.3", "a":' + b"[" * 100_000, "not JSON: "),
        (contained(*EXCHANGE).replace(b"ack_delay", b"\xff", 1), "not JSON: "),
        (b"\x1e\x1e\n", "without a packet_sent event"),
        (sequence() + b"\x1e" + b"x" * (1 << 24) + b"yy", "record 2: it is longer than 16 MB"),
    ],
)
def test_what_is_refused(read_qlog, data, match):
    with pytest.raises(TraceError, match=match) as error:
        read_qlog(data)
    assert "\n" not in str(error.value) and len(str(error.value)) < 500


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
NUMBERS = st.integers(-1, 12) | st.integers(0, 1 << 63) | LEAVES
VALUES = st.recursive(LEAVES, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(), v, max_size=3))
KINDS = st.sampled_from(["1RTT", "initial", "handshake", "0RTT", "retry"]) | VALUES
FRAMES = st.fixed_dictionaries(
    {"frame_type": st.sampled_from(["ack", "stream", "padding", "handshake_done"]) | VALUES},
    optional={
        "ack_delay": st.floats() | VALUES,
        "acked_ranges": st.lists(st.lists(NUMBERS, max_size=3) | VALUES, max_size=3) | VALUES,
    },
)
PACKETS = st.fixed_dictionaries(
    {"header": st.fixed_dictionaries({"packet_type": KINDS, "packet_number": NUMBERS}) | VALUES},
    optional={"frames": st.lists(FRAMES | VALUES, max_size=3) | VALUES, "raw": VALUES},
)
NAMES = st.sampled_from(["transport:packet_sent", "quic:packet_received", "recovery:packet_lost"]) | VALUES
EVENTS = st.fixed_dictionaries(
    {"time": st.integers(0, 3) | st.floats() | VALUES, "name": NAMES, "data": PACKETS | VALUES},
    optional={"group_id": VALUES, "time_format": st.sampled_from(["delta", "absolute"]) | VALUES},
)
METAS = st.fixed_dictionaries({}, optional={k: VALUES for k in (*TRACE, "event_fields", "configuration")})


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    METAS,
    st.lists(EVENTS | VALUES, max_size=12),
    st.sampled_from([sequence, contained]),
    st.binary(max_size=9),
)
def test_any_json_is_read_or_refused(tmp_path, meta, events, form, end):
    data = form(*events, header={"trace": meta}) if form is sequence else form(*events, **meta)
    for text in (data, data + end, data[: -1 - len(end)], json.dumps(events).encode()):
        path = tmp_path / "any.qlog"
        path.write_bytes(text)
        try:
            rows = sum(len(batch["time_us"]) for batch in QlogTrace(path).batches(5))
        except TraceError as error:
            assert "\n" not in str(error)
        else:
            assert rows


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 20), st.integers(0, 20), st.integers(0, 3000))))
def test_against_plain_bookkeeping(tmp_path, steps):
    """Samples against RFC 9002, 5.1 word by word, over every number."""
    events, now, number = [sent(0, 0)], 0.0, 0
    out, times = {0}, {0: 0.0}
    expected = []
    for what, a, b, gap in steps:
        now += gap / 8
        if what < 3:
            number += 1
            out.add(number)
            times[number] = now
            events.append(sent(now, number))
            continue
        low, high = sorted((max(0, number - a), max(0, number - b)))
        events.append(acked(now, [low, high]))
        new = {n for n in out if low <= n <= high}
        out -= new
        if new:
            expected.append(round(now * 1000) - round(times[high] * 1000) if high in new else -1)
    path = tmp_path / "plain.sqlog"
    path.write_bytes(sequence(*events))
    if not expected:
        with pytest.raises(TraceError):
            read_trace(path)
        return
    assert read_trace(path, 7).column("rtt_us") == expected
