# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that errors of a capture are reported in one line each, and that its usable part is used."""

from __future__ import annotations

import gzip
import shlex
import struct
from pathlib import Path

import pytest
import wire
from wire import Wire

from tcplearn._native import CaptureReader
from tcplearn.traces import TraceError, open_trace


def transfer() -> Wire:
    w = Wire()
    t = w.handshake()
    for i in range(200):
        w.send(t + i * 50_000, w.client, 1 + i * 100, 100, ack=1)
        w.send(t + i * 50_000 + 40_000, w.server, 1, ack=101 + i * 100)
    return w


def one_line(error: pytest.ExceptionInfo[TraceError]) -> None:
    assert "\n" not in str(error.value)
    assert isinstance(error.value, ValueError)


def fails(read, data: bytes, match: str, **options) -> None:
    with pytest.raises(TraceError, match=match) as error:
        read(data, **options)
    one_line(error)


def udp() -> bytes:
    data = wire.link(wire.EN10MB, wire.ipv4("10.0.0.1", "10.0.0.2", b"\0" * 20, protocol=17))
    return wire.pcap([(1_600_000_000_000_000, data, len(data))])


def test_nothing_usable(read, tmp_path):
    fails(read, b"", "the file is empty")
    fails(read, gzip.compress(b""), "the file is empty")
    fails(read, gzip.compress(transfer().pcap())[:20], "nothing in it can be read: the gzip data ends")
    fails(read, b"\0\1\2\3" * 20, "not a trace")
    fails(read, wire.pcap([]), "there are no packets in it")
    fails(read, wire.pcap([])[:10], "the capture ends before its first packet")
    fails(read, transfer().pcap()[:50], "nothing in it can be read: the file ends inside a packet")
    fails(read, wire.pcap([], wire.IEEE802_15_4), "link type IEEE802_15_4 is not supported")
    fails(read, udp(), "there is no TCP in its 1 packet$")
    with pytest.raises(TraceError, match="cannot be opened: No such file"):
        open_trace(tmp_path / "missing")
    with pytest.raises(TraceError, match="is a directory"):
        open_trace(tmp_path)
    (tmp_path / "text").write_bytes(b"hello, world\n")
    with pytest.raises(TraceError, match="not a capture: it is neither pcap nor pcapng"):
        CaptureReader(str(tmp_path / "text"))


def test_one_direction(read):
    w = transfer()
    w.frames = [frame for frame in w.frames if frame[1][26:30] == b"\x0a\0\0\1"]
    fails(read, w.pcap(), "only one direction of every TCP connection")
    w = Wire()
    w.send(0, w.client, 5, ack=1)
    w.send(10, w.server, 1, ack=5)
    fails(read, w.pcap(), "no ACK in it acknowledges data that is in it too")


def test_a_second_or_more_in_the_field_of_the_fraction(read):
    data = bytearray(transfer().pcap())
    seconds, fraction = struct.unpack_from("<II", data, 24)
    struct.pack_into("<II", data, 24, seconds - 2, fraction + 2_000_000)
    assert read(bytes(data)).of(0) == read(transfer().pcap()).of(0)


def test_short_snap_length(read):
    w = transfer()
    w.frames = [(time, data[:40], size) for time, data, size in w.frames]
    fails(read, w.pcap(), "the snap length cut every TCP header away")
    w.frames = [(time, data, len(data)) for time, data, _ in w.frames]  # short, but not cut: no TCP
    fails(read, w.pcap(), "there is no TCP in its 403 packets")


def test_time_goes_back(read):
    w = transfer()
    w.frames[10] = (w.frames[9][0] - 1001, *w.frames[10][1:])
    fails(read, w.pcap(), "packet 11: time goes back by 1001 us; .*: reordercap .*/trace sorted.pcap")


def test_a_command_with_a_name_of_several_words(tmp_path: Path) -> None:
    w = transfer()
    w.frames[10] = (w.frames[9][0] - 1001, *w.frames[10][1:])
    path = tmp_path / "Bob's capture"
    path.write_bytes(w.pcap())
    with pytest.raises(TraceError) as error:
        list(open_trace(path).batches())
    _, command = str(error.value).split("sort the capture first: ")
    assert shlex.split(command) == ["reordercap", str(path), "sorted.pcap"]


@pytest.mark.parametrize(
    ("kind", "snap", "remedy"),
    [(wire.EN10MB, 96, "editcap -F pcap .*trace converted.pcap"), (113, 262144, "capture again on one")],
)
def test_interfaces_that_differ(read, kind: int, snap: int, remedy: str) -> None:
    """Test pcapng files with a second interface of another link type or snapshot length, which libpcap does
    not read."""
    data = transfer().pcapng()
    second = struct.pack("<IIHHII", 1, 20, kind, 0, snap, 20)
    head = 28 + 20  # the section's header and the first interface
    fails(read, data[:head] + second + data[head:], f"of the first interface; .*{remedy}")


def test_time_goes_back_where_there_is_no_tcp(read):
    """Test that a capture without TCP is reported as such, and not for the order of its packets."""
    w = transfer()
    w.frames = [(time, data[:23] + b"\x11" + data[24:], size) for time, data, size in w.frames]
    w.frames[10] = (w.frames[9][0] - 2_000_000, *w.frames[10][1:])
    fails(read, w.pcap(), f"there is no TCP in its {len(w.frames)} packets")


def test_truncated_files_are_used(read):
    w = transfer()
    for data in (w.pcap()[:-5], w.pcap()[: -(60 + 100 + 8)], w.pcapng()[:-9]):
        rows = read(data)
        assert len(rows.by_sender("10.0.0.1:")) >= 199
        (warning,) = rows.warnings
        assert warning.startswith("read up to packet 40")
        assert "ends inside a packet" in warning


def test_truncated_gzip_is_used(read):
    plain = transfer().pcap()
    whole = gzip.compress(plain, 1)
    rows = read(whole[: len(whole) // 2])
    assert 10 < len(rows.by_sender("10.0.0.1:")) < 201
    assert "the gzip data ends before its end mark" in rows.warnings[0]
    rows = read(whole[:-8])  # the checksum is missing
    assert len(rows.by_sender("10.0.0.1:")) == 201
    assert "read up to packet 403 only: the gzip data ends" in rows.warnings[0]
    rows = read(whole[:-8] + b"\1\2\3\4" + whole[-4:])
    assert len(rows.by_sender("10.0.0.1:")) == 201
    assert "the gzip data is damaged (incorrect data check)" in rows.warnings[0]
    rows = read(whole + b"garbage")
    assert len(rows.by_sender("10.0.0.1:")) == 201
    assert "other bytes after the end of the gzip data" in rows.warnings[0]
    assert read(whole + b"\0" * 1000).warnings == []


def test_a_damaged_record_ends_the_reading(read):
    w = transfer()
    data = bytearray(w.pcap())
    record = 24 + sum(16 + len(frame[1]) for frame in w.frames[:100])
    struct.pack_into("<I", data, record + 8, 0x7FFFFFFF)  # an impossible length
    rows = read(bytes(data))
    (warning,) = rows.warnings
    assert warning.startswith("read up to packet 100 only: ")


def test_lengths_that_contradict(read):
    w = transfer()
    w.send(60_000_000, w.client, 20_001, 100, ack=1, ip_length=30)
    rows = read(w.pcap())
    assert rows.warnings == ["1 packet with contradictory lengths left out"]


def test_unknown_flow(tmp_path):
    path = tmp_path / "trace"
    path.write_bytes(transfer().pcap())
    trace = open_trace(path)
    with pytest.raises(KeyError):
        trace.flow(7)
    for _ in trace.batches():
        pass
    assert trace.flow(0)["acks"] == 201
    trace.release(0)
    with pytest.raises(KeyError):
        trace.flow(0)


def test_a_tab_in_a_header_is_not_in_the_message(tmp_path: Path) -> None:
    """Test that an error message has no unprintable character, although the CSV reader names the delimiter, a
    tab."""
    (tmp_path / "rtts.csv").write_bytes(b"t;t" + b"\t" * 24 + b'"0;t"5;=0\n')
    with pytest.raises(TraceError) as refused:
        list(open_trace(tmp_path / "rtts.csv").batches())
    assert str(refused.value).isprintable()
