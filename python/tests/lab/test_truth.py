# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test which hop is found to have dropped which packet, with captures generated here."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tcplearn.errors import FailedError
from tcplearn.lab import truth
from tcplearn.lab.guest import PLACES

PORT, CLOCKS_US = 40001, 1_000_000


def packet(at_us: int, sequence: int, identification: int) -> bytes:
    """Return a capture's record of a data segment, with headers only."""
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 1500, identification, 0, 64, 6, 0, b"\n\0\0\1", b"\n\0\0\2")
    tcp = struct.pack(">HHIIBBHHH", PORT, 5001, sequence, 0, 0x80, 0x10, 0, 0, 0)
    data = b"\0" * 12 + b"\x08\0" + ip + tcp + b"\0" * 12
    return struct.pack("<IIII", at_us // 10**6, at_us % 10**6, len(data), 1514) + data


def capture(*packets: bytes) -> bytes:
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 66, 1) + b"".join(packets)


def write(folder: Path, *places: bytes) -> None:
    (folder / "pcap").mkdir()
    for place, data in zip(PLACES, places, strict=True):
        (folder / "pcap" / f"link-{place}.pcap").write_bytes(data)
    (folder / "clocks").write_text(f"{CLOCKS_US}\n")


def test_each_sending_is_followed_through_the_hop(tmp_path: Path) -> None:
    sent = ((10, 100, 1), (20, 200, 2), (30, 300, 3), (90, 200, 4), (95, 300, 5), (99, 400, 6))
    first = [packet(CLOCKS_US + t, s, i) for t, s, i in sent]
    arrived = capture(first[0], first[3], first[4])
    write(tmp_path, capture(*first), capture(first[0], *first[2:]), arrived + b"cut")
    truth.reduce(tmp_path, ["link"])
    assert truth.drops(tmp_path) == [
        truth.Drop(PORT, 200, 20, 90, truth.QUEUE),
        truth.Drop(PORT, 300, 30, 95, truth.CHANNEL),
    ]  # 400 arrived after the last capture's end
    assert not (tmp_path / "pcap").exists()


def test_what_was_sent_after_the_first_captures_end_is_nobodys_drop(tmp_path: Path) -> None:
    first, late = packet(CLOCKS_US + 10, 100, 1), packet(CLOCKS_US + 90, 900, 2)
    write(tmp_path, capture(first), capture(first, late), capture(first))
    truth.reduce(tmp_path, ["link"])
    assert truth.drops(tmp_path) == []


def test_nothing_sent_is_nothing_dropped(tmp_path: Path) -> None:
    write(tmp_path, capture(), capture(), capture())
    truth.reduce(tmp_path, ["link"])
    assert truth.drops(tmp_path) == []


def test_what_is_no_capture_is_named(tmp_path: Path) -> None:
    write(tmp_path, capture(), b"", capture())
    with pytest.raises(FailedError, match=r"link-after-queue\.pcap: not a capture"):
        truth.reduce(tmp_path, ["link"])
