# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test plain pcap files, which are read directly from memory, against libpcap, which reads them
compressed."""

import gzip
import random
import struct
from pathlib import Path

import numpy as np
import pytest
import wire
from reading import Rows, read_all
from wire import EN10MB, Host, Wire

from samples import ROOT
from tcplearn.traces import TraceError

HEADER = struct.calcsize("<IIII")


def both(folder: Path, data: bytes) -> list[Rows | str]:
    """Return the rows of the capture `data`, or the reason for refusing it, read as a plain and as a
    compressed file."""
    out: list[Rows | str] = []
    for name, content in (("a.pcap", data), ("b.pcap", gzip.compress(data, 1))):
        (folder / name).write_bytes(content)
        try:
            out.append(read_all(folder / name))
        except TraceError as error:
            out.append(str(error).replace(str(folder / name), "FILE"))
    return out


def check_same(folder: Path, data: bytes) -> None:
    plain, packed = both(folder, data)
    if isinstance(plain, str) or isinstance(packed, str):
        assert plain == packed
        return
    assert plain.flows == packed.flows and plain.losses == packed.losses
    assert plain.warnings == packed.warnings
    for name, column in plain.columns.items():
        assert np.array_equal(column, packed.columns[name]), name


def transfer() -> Wire:
    w = Wire(client=Host("10.0.0.1", 1000))
    t = w.handshake(rtt_us=20_000)
    for i in range(300):
        w.send(t + i * 1000, w.client, 1 + i * 100, 100, ack=1)
        w.send(t + i * 1000 + 700 + i % 7, w.server, 1, ack=101 + i * 100)
    return w


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanoseconds", [False, True])
def test_each_kind_of_file(tmp_path: Path, order: str, nanoseconds: bool) -> None:
    check_same(tmp_path, transfer().pcap(order=order, nanoseconds=nanoseconds))


def test_a_capture_that_no_buffer_holds_whole(tmp_path: Path) -> None:
    data = gzip.decompress((ROOT / "examples/captures/access-link.pcap.gz").read_bytes())
    assert len(data) > 3 << 18
    check_same(tmp_path, data)


def test_nanoseconds_are_rounded_alike(tmp_path: Path) -> None:
    frames = transfer().frames
    data = bytearray(wire.pcap(frames, EN10MB, nanoseconds=True))
    chance, at = random.Random(1), 24
    for _, frame, _ in frames:
        second, fraction = struct.unpack_from("<II", data, at)
        struct.pack_into("<II", data, at, second, min(fraction + chance.randrange(1000), 999_999_999))
        at += HEADER + len(frame)
    check_same(tmp_path, bytes(data))


@pytest.mark.parametrize("cut", [1, 15, 16, 17, 40])
def test_a_file_that_ends_inside_a_packet(tmp_path: Path, cut: int) -> None:
    check_same(tmp_path, transfer().pcap()[:-cut])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (0, 0x80000000),
        (0, 0xFFFFFFFF),
        (1, 1_000_000),
        (1, 0xFFFFFFFF),
        (2, 262_145),
        (2, 0xFFFFFFFF),
        (3, 0),
    ],
)
def test_a_damaged_header_of_a_packet(tmp_path: Path, field: int, value: int) -> None:
    w = transfer()
    at = 24 + sum(HEADER + len(frame) for _, frame, _ in w.frames[:100])
    data = bytearray(w.pcap())
    struct.pack_into("<I", data, at + 4 * field, value)
    check_same(tmp_path, bytes(data))


def test_packets_beyond_the_snap_length_of_the_file(tmp_path: Path) -> None:
    data = bytearray(transfer().pcap())
    struct.pack_into("<I", data, 16, 60)
    check_same(tmp_path, bytes(data))
