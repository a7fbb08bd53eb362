# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test inputs that once gave a traceback, a wrong round-trip time or many warnings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import wire
from reading import read_all
from wire import SYN, Wire

from tcplearn.traces import TraceError, open_trace


def transfer(rtt_us: int = 10_000, count: int = 50) -> Wire:
    w = Wire()
    t = w.handshake()
    for i in range(count):
        w.send(t + i * 50_000, w.client, 1 + i * 100, 100, ack=1)
        w.send(t + i * 50_000 + rtt_us, w.server, 1, ack=101 + i * 100)
    return w


def test_packets_out_of_order_are_timed_by_their_own_times(read):
    w = transfer(rtt_us=257)
    want = [row["rtt_us"] for row in read(w.pcap()).by_sender("10.0.0.1:")]
    for i in range(3, len(w.frames), 2):  # each ACK is written before its data
        w.frames[i], w.frames[i + 1] = w.frames[i + 1], w.frames[i]
    rows = read(w.pcap())
    assert [row["rtt_us"] for row in rows.by_sender("10.0.0.1:")] == want
    assert rows.warnings == [
        "50 packets out of order by up to 257 us, the first of them packet 5: sorted by their own times"
    ]


def test_thousands_of_packets_within_a_millisecond(read):
    w = transfer()
    start = w.frames[-1][0]
    w.frames += [(start + (-i) % 900, *w.frames[-1][1:]) for i in range(20_000)]
    (warning,) = read(w.pcap()).warnings
    assert "sorted by their own times, but for" in warning


def test_round_trips_below_the_clock(read):
    rows = read(transfer(rtt_us=0).pcap())
    assert [row["rtt_us"] for row in rows.by_sender("10.0.0.1:")][1:] == [1] * 50
    assert rows.warnings == ["50 round trips below the resolution of the capture's clock: taken as 1 us"]


def test_a_second_syn_ack_is_of_the_same_connection(read):
    w = transfer()
    again = Wire(server=wire.Host("10.0.0.2", 80, isn=9_000_000))
    again.send(200_000, again.server, 0, ack=1, flags=SYN)
    w.frames = sorted([*w.frames, *again.frames], key=lambda frame: frame[0])
    rows = read(w.pcap())
    assert len(rows.flows) == 2
    assert len(rows.by_sender("10.0.0.1:")) == 51


def test_filtered_acks_are_reported(read):
    w = transfer()
    for i in range(25):
        w.send(3_000_000 + i * 50_000, w.server, 1 + i * 100, 100, ack=5001)
    pure = 14 + 20 + 20
    w.frames = [f for f in w.frames if f[2] > pure + 4]
    (warning,) = read(w.pcap()).warnings
    assert warning.startswith("there is no ACK without data beside 75 packets with data: a filter")
    other = transfer()
    far = Wire(client=wire.Host("10.0.0.7", 5), server=wire.Host("10.0.0.8", 6))
    for i in range(30):
        far.send(i * 1000, far.client, 1 + i * 100, 100, ack=1)
    other.frames = sorted([*other.frames, *far.frames], key=lambda frame: frame[0])
    (warning,) = read(other.pcap()).warnings
    assert warning.startswith("1 of 2 connections with data show one direction only")


@pytest.mark.parametrize(
    "series",
    [
        '{"Ping (ms) ICMP": [1' + "0" * 399 + ", 5.0]}",
        '{"Ping (ms) \\ud800 ICMP": [5.0, 6.0]}',
        '{"Ping (ms) \\u001b[31m ICMP": [5.0, 6.0]}',
    ],
)
def test_flent_of_any_number_and_name(read, series):
    rows = read(f'{{"results": {series}, "x_values": [0, 1]}}'.encode())
    (flow,) = rows.flows.values()
    assert flow["name"].isprintable() and flow["name"].encode()


def test_names_in_csv_are_printable(read):
    rows = read(b"flow,rtt_ms\na\x1b[31m\x07,5\nb\x02c,6\n")
    assert [flow["name"] for flow in rows.flows.values()] == ["a�[31m�", "b�c"]
    with pytest.raises(TraceError) as error:
        read(b"rtt_ms\n5\n\x1b[2J\n")
    assert str(error.value).isprintable()


def test_underscores_make_no_number(read):
    for data in (b"rtt_ms\n1_0\n", b'"rtt_ms"\n"1_0"\n'):
        with pytest.raises(TraceError, match='rtt_ms: "1_0" is not a number'):
            read(data)


def test_many_unknown_columns_are_counted(read):
    head = b"rtt_ms," + b",".join(b"c%d" % i for i in range(500))
    (_, warning) = read(head + b"\n5" + b",0" * 500 + b"\n").warnings
    assert warning.endswith("c8, c9 and 490 more")


@pytest.mark.parametrize("data", [transfer().pcap(), b"rtt_ms\n" + b"5\n" * 50, b"TLG1", b'{"results": 1}'])
def test_a_name_that_is_not_utf8(tmp_path, data):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.dump"))
    path.write_bytes(data)
    try:
        rows = read_all(path)
        assert all(flow["name"].encode() for flow in rows.flows.values())
    except TraceError as error:
        assert str(error).encode().count(b"\n") == 0


@pytest.mark.parametrize("format", ["json", "csv", "parquet"])
def test_a_name_that_is_not_utf8_in_the_results(tmp_path, format):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.dump"))
    path.write_bytes(transfer().pcap())
    command = [sys.executable, "-m", "tcplearn", "replay", str(path), "--format", format]
    run = subprocess.run(command, capture_output=True)
    assert (run.returncode, run.stderr) == (0, b"")
    if format == "json":
        assert "�.dump" in json.loads(run.stdout)[0]["source"]


def test_nothing_stays_after_sigterm(tmp_path):
    run = subprocess.Popen(
        [sys.executable, "-m", "tcplearn", "replay", "-"],
        stdin=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert run.stdin
    run.stdin.write(transfer().pcap())
    run.stdin.flush()
    time.sleep(1.5)
    run.send_signal(signal.SIGTERM)
    run.wait(10)
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_keeps_its_name(tmp_path, monkeypatch):
    fifo = tmp_path / "from-tcpdump"
    os.mkfifo(fifo)
    with subprocess.Popen(["sh", "-c", f"printf 'rtt_ms\\n5\\n-6\\n' > {fifo}"]):
        trace = open_trace(fifo)
    with pytest.raises(TraceError, match="from-tcpdump: line 3"):
        list(trace.batches())
