# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test small files that decompress to very large ones: memory is bounded, and useless files get one line."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import wire
from wire import FIN, Host, Wire

from samples import PEAK_MB
from tcplearn.traces import open_trace, tlog_records

#: Unpacked; the gzip has a thousandth of it.
SIZE = 200 << 20
#: The program with its libraries takes some 60 MB.
MOST_MB = 400

READ = (
    PEAK_MB
    + """
import sys
from pathlib import Path
from tcplearn.traces import TraceError, open_trace
rows, said = 0, ""
try:
    trace = open_trace(Path(sys.argv[1]))
    for batch in trace.batches():
        rows += len(batch["time_us"])
        for flow in batch["ended"].tolist():
            trace.release(flow)
except TraceError as error:
    said = str(error)
print(rows, peak_mb(), repr(said))
"""
)


def read_apart(path: Path) -> tuple[int, int, str]:
    """Read the trace in a process of its own; return its number of rows, its peak memory in MB, and its
    error."""
    run = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    rows, memory, said = run.stdout.split(maxsplit=2)
    return int(rows), int(memory), said.strip()[1:-1]


def packed(path: Path, parts: Iterable[bytes]) -> Path:
    """Write a gzip of `parts`. A part that is the same object as the one before is compressed only once."""
    pack, check, size = zlib.compressobj(1, wbits=-15), 0, 0
    last, squeezed = b"", b""
    with path.open("wb") as file:
        file.write(b"\x1f\x8b\x08" + bytes(6) + b"\xff")
        for part in parts:
            if part is not last:  # what follows a full flush does not refer to what was before it
                last, squeezed = part, pack.compress(part) + pack.flush(zlib.Z_FULL_FLUSH)
            file.write(squeezed)
            check, size = zlib.crc32(part, check), size + len(part)
        file.write(pack.flush() + struct.pack("<II", check, size & 0xFFFFFFFF))
    return path


def much(head: bytes, piece: bytes) -> Iterable[bytes]:
    yield head
    chunk = piece * ((1 << 20) // len(piece))
    for _ in range(SIZE // len(chunk)):
        yield chunk


@pytest.mark.parametrize(
    ("head", "piece", "said"),
    [
        (b"\n", b"\n", "the file is empty"),
        (b"rtt_ms\n", b"\n", "there are no rows below the header"),
        (b"rtt_ms\n", b"1", "line 2: it is longer than 4 MB"),
        pytest.param(b"t_s,rtt_ms\n0,40\n", b" \r\n", "", marks=pytest.mark.full),
        (b"TLG1", b"\xff", "no whole record of a kernel log in it"),
        (b'\x1e{"qlog_version": "0.3"}\n', b"\n", "without a packet_sent event"),
        pytest.param(
            b'\x1e{"qlog_version": "0.3"}\n', b" ", "without a packet_sent event", marks=pytest.mark.full
        ),
        (b'\x1e{"qlog_version": "0.3"}\n', b"1", "longer than 16 MB"),
        (b'{"qlog_version": "0.3", "traces": [{"events": [', b"[],", "it holds more values than fit"),
        (b'{"results": {"Ping (ms)": [', b"1,", "the file is larger than 64 MB unpacked"),
    ],
)
def test_gzip_of_nothing(tmp_path: Path, head: bytes, piece: bytes, said: str) -> None:
    rows, memory, error = read_apart(packed(tmp_path / "trace.gz", much(head, piece)))
    assert memory < MOST_MB + (300 if b"traces" in head else 0)  # JSON in one piece is held as text
    assert said in error and "\\n" not in error
    assert rows == (0 if error else 1)


def test_a_long_kernel_log_is_streamed(tmp_path: Path) -> None:
    count = 700_000
    acks = np.zeros(count, tlog_records.ACK_RECORD)
    acks["magic"], acks["size"], acks["type"] = (
        tlog_records.MAGIC,
        tlog_records.ACK_RECORD.itemsize,
        tlog_records.ACK,
    )
    acks["record"], acks["time_us"], acks["rtt_us"] = np.arange(count), np.arange(count) * 1000, 10_000
    rows, memory, error = read_apart(packed(tmp_path / "log.gz", [acks.tobytes()]))
    assert (rows, error) == (count, "")
    assert memory < MOST_MB


def test_short_flows_end_with_small_batches(tmp_path: Path) -> None:
    """Test that short flows come in small batches, because a reader keeps the state of a flow until the batch
    that ends it."""
    frames = []
    for i in range(2000):
        w = Wire(client=Host("10.0.0.1", 1000 + i), start_us=1_600_000_000_000_000 + i * 100)
        t = w.handshake(rtt_us=50)
        w.send(t, w.client, 1, 100, ack=1, flags=FIN)
        w.send(t + 50, w.server, 1, ack=102, flags=FIN)
        w.send(t + 60, w.client, 102, ack=2)
        frames += w.frames
    path = tmp_path / "short.pcap"
    path.write_bytes(wire.pcap(sorted(frames, key=lambda frame: frame[0])))
    trace, alive, most = open_trace(path), set(), 0
    for batch in trace.batches():
        alive |= set(batch["flow"].tolist())
        most = max(most, len(alive))
        alive -= set(batch["ended"].tolist())
    assert alive == set() and most < 600
