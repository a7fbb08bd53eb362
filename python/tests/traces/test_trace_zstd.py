# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test traces compressed with zstd, as M-Lab's archives of tcp-info are (.jsonl.zst)."""

from __future__ import annotations

import json
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from reading import Rows
from test_trace_bounds import MOST_MB, much, read_apart
from test_trace_errors import fails, transfer

from tcplearn.cli import main
from tcplearn.traces import TraceError, open_trace

Read = Callable[..., Rows]
SNAPSHOTS = 10_000


def archive(count: int = SNAPSHOTS) -> bytes:
    """Return an archive as M-Lab's collector writes it: a line of metadata, then a line for each snapshot."""
    uuid = "ndt-7hhhv_1559749627_0000000000062D84"
    records: list[dict[str, Any]] = [
        {"Metadata": {"UUID": uuid, "Sequence": 0, "StartTime": "2019-06-05T15:27:07.0Z"}}
    ]
    for i in range(count):
        rtt_us = 40_000 + zlib.crc32(struct.pack("<I", i)) % 9000
        tcp_info = {"State": 1, "RTO": 240_000, "RTT": rtt_us, "RTTVar": rtt_us // 9, "TotalRetrans": 0}
        stamp = f"2019-06-05T15:{27 + i // 6000:02}:{i // 100 % 60:02}.{i % 100:02}0Z"
        records.append({"Timestamp": stamp, "TCPInfo": tcp_info | {"BytesAcked": i * 1448, "SegsIn": i}})
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def pack(data: bytes, level: int = 3) -> bytes:
    return zstandard.ZstdCompressor(level, write_checksum=True).compress(data)


def test_an_archive(read: Read) -> None:
    plain = archive()
    half = plain.index(b"\n", len(plain) // 2) + 1
    skipped = b"\x50\x2a\x4d\x18" + struct.pack("<I", 4) + b"pzst"
    wanted = read(plain)
    assert wanted.kind == "mlab" and len(wanted.columns["rtt_us"]) > SNAPSHOTS - 10
    for packed in (pack(plain), pack(plain, 19), skipped + pack(plain[:half]) + pack(plain[half:])):
        rows = read(packed, "20190605T152707Z.jsonl.zst")
        assert rows.warnings == wanted.warnings
        assert rows.columns["rtt_us"].tolist() == wanted.columns["rtt_us"].tolist()


def test_what_is_cut_is_used(read: Read) -> None:
    packed = pack(archive())
    for data, said in (
        (packed[:-3], "the zstd data ends before its end mark"),
        (packed[: len(packed) // 2], "the zstd data ends before its end mark"),
        (packed[:-4] + b"oops", "the zstd data is damaged"),
        (packed + b"other", "there are other bytes after the end of the zstd data"),
        (packed[: len(packed) // 2] + b"\xff" * 300_000, "the zstd data is damaged"),
    ):
        rows = read(data)
        assert any(said in line for line in rows.warnings)
        assert len(rows.columns["rtt_us"]) > SNAPSHOTS // 4


def test_what_holds_nothing(read: Read, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = pack(archive(20))
    fails(read, packed[:100], "nothing in it can be read: the zstd data ends before its end mark")
    fails(read, packed[:7] + b"\xff" * 200, "nothing in it can be read: the zstd data is damaged")
    fails(read, pack(b""), "the file is empty")
    fails(read, pack(transfer().pcap()), "a capture packed with zstd; unpack it first")
    path = tmp_path / "bad.jsonl.zst"
    path.write_bytes(packed[:7] + b"\xff" * 200)
    assert main(["replay", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_window_past_the_bound(read: Read) -> None:
    whole = zstandard.ZstdCompressionParameters(window_log=28)
    packer = zstandard.ZstdCompressor(compression_params=whole).compressobj()
    fails(
        read, packer.compress(archive(20)) + packer.flush(), "a window of more than 128 MB; unpack it first"
    )


@pytest.mark.parametrize("window_log", [21, 27])
@pytest.mark.parametrize(
    ("head", "piece", "said"),
    [
        (b"\n", b"\n", "the file is empty"),
        (b"rtt_ms\n", b"1", "line 2: it is longer than 4 MB"),
        (b"\0", b"\0", "not a trace"),
        (b'{"UUID": "a", "TCPInfo": {', b" ", "longer than 64 MB"),
    ],
)
def test_a_small_file_of_much(tmp_path: Path, window_log: int, head: bytes, piece: bytes, said: str) -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=window_log)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path = tmp_path / "trace.zst"
    path.write_bytes(b"".join(map(packer.compress, much(head, piece))) + packer.flush())
    assert path.stat().st_size < 1 << 16
    rows, memory, error = read_apart(path)
    assert memory < MOST_MB + (1 << window_log >> 20) and rows == 0
    assert said in error and "\\n" not in error


def test_any_damage_is_a_line(tmp_path: Path) -> None:
    """Test a small archive in which one byte is changed, one after another: each gives rows or one line of
    error."""
    packed, path = pack(archive(30)), tmp_path / "trace.zst"
    for at in range(0, len(packed), 7):
        path.write_bytes(packed[:at] + bytes([packed[at] ^ 0x55]) + packed[at + 1 :])
        try:
            for _ in open_trace(path).batches():
                pass
        except TraceError as error:
            assert "\n" not in str(error) and len(str(error)) < 400


@pytest.mark.skipif(sys.platform == "win32", reason="pipes")
def test_from_a_pipe(tmp_path: Path) -> None:
    import os
    import threading

    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(pack(archive(200)),))
    writer.start()
    rows = sum(len(batch["rtt_us"]) for batch in open_trace(fifo).batches())
    writer.join()
    assert rows > 190
