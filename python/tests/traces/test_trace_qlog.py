# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test QUIC logs in qlog, in the forms that implementations write."""

from __future__ import annotations

import gzip
import json

import pytest
from qlog_logs import EXCHANGE, RTTS, acked, contained, lost, sent, sequence

from tcplearn.traces import Reason, TraceError


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


def test_what_is_a_sample(read_qlog):
    """Test which ACKs give a sample (RFC 9002, 5.1): the largest acknowledged packet is new, and a newly
    acknowledged packet elicits ACKs."""
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
    """Test a closed packet number space (RFC 9002, 6.4): the client's second Initial packet is never
    acknowledged, and no timer waits for it."""
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
    """Test a packet that was declared lost too early and is acknowledged later. Its RTT is a sample, because
    no other packet has its number."""
    got = read_qlog(sequence(sent(0, 0), lost(200, 0), sent(201, 1), acked(300, [0, 0]), acked(310, [1, 1])))
    assert got.column("rtt_us") == [300_000, 109_000]
    assert got.column("retransmitted") == [1, 0]


def test_never_acknowledged(read_qlog):
    """Test logs without packet_lost events: a packet before three acknowledged packets and two round trips is
    lost."""
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
    """Test that sent ACKs are forgotten after some time, because ACKs of ACKs are rare."""
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
        (b'{"qlog_version": "0.3", "a":' + b"9" * 5000 + b"}", "not JSON: a number of too many digits"),
        (contained(*EXCHANGE).replace(b"ack_delay", b"\xff", 1), "not JSON: "),
        (b"\x1e\x1e\n", "without a packet_sent event"),
        (sequence() + b"\x1e" + b"x" * (1 << 24) + b"yy", "record 2: it is longer than 16 MB"),
    ],
)
def test_what_is_refused(read_qlog, data, match):
    with pytest.raises(TraceError, match=match) as error:
        read_qlog(data)
    assert "\n" not in str(error.value) and len(str(error.value)) < 500
