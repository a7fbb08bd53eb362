# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the kernel module's log, which is recognised by its content. Damaged parts are skipped and
reported."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from samples import ROOT
from tcplearn.traces import TraceError, open_trace, tlog, tlog_records


def record(kind: int, serial: int, **values: object) -> bytes:
    dtype = tlog_records.KINDS[kind]
    r = np.zeros(1, dtype)
    r["magic"], r["size"], r["type"] = tlog_records.MAGIC, dtype.itemsize, kind
    r["connection"], r["record"] = 7, serial
    for name, value in values.items():
        r[name] = value
    return r.tobytes()


def a_log(acks: int = 20) -> list[bytes]:
    parts = [
        record(tlog_records.OPEN, 0, estimator=b"experts", family=2, source_port=1, destination_port=5001)
    ]
    for k in range(acks):
        rtt = -1 if k == 5 else 10_000 + k
        values = {"time_us": 10**6 + k * 1000, "rtt_us": rtt, "acked_segments": 2, "flight_segments": 9}
        parts.append(record(tlog_records.ACK, k + 1, mss_bytes=1400, **values))
    return [*parts, record(tlog_records.CLOSE, acks + 1, retransmitted=3)]


def test_a_log_is_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "log0"
    path.write_bytes(b"".join(a_log()))
    trace = open_trace(path)
    (batch,) = trace.batches()
    assert trace.kind == "kernel log" and trace.warnings == []
    assert batch["rtt_us"].tolist()[:6] == [10_000, 10_001, 10_002, 10_003, 10_004, -1]
    assert batch["no_sample"].tolist()[5] == 1 and batch["flight_segments"].tolist() == [9] * 20
    assert trace.flow(0)["name"] == "0.0.0.0:1 > 0.0.0.0:5001 (experts)"


def test_a_startup_record_is_no_gap(tmp_path: Path) -> None:
    parts = a_log(3)
    startup = record(tlog_records.STARTUP, 1, policy=b"tsl/3-16", iw=3, ssthresh=16, loss=2, retransmitted=2)
    later = [record(tlog_records.ACK, k + 2, time_us=10**6 + k, rtt_us=9, acked_segments=1) for k in range(3)]
    log = tlog.parse(b"".join([parts[0], startup, *later]))
    c = log.connections[7]
    assert not log.warnings and c.lost == 0 and len(c.acks) == 3
    assert (c.startup["policy"], c.startup["iw"], c.startup["ssthresh"]) == (b"tsl/3-16", 3, 16)
    path = tmp_path / "log0"
    path.write_bytes(b"".join([parts[0], startup, *later]))
    trace = open_trace(path)
    assert len(list(trace.batches())) == 1 and trace.warnings == []


def test_lost_records_and_damage_are_reported() -> None:
    parts = a_log()
    log = tlog.parse(parts[0] + b"junk" + b"".join(parts[3:]))
    assert "4 bytes that are no record were left out" in log.warnings
    assert log.connections[7].lost == 2
    log = tlog.parse(b"".join(parts)[:-10])
    assert log.connections[7].close is None and log.warnings


def test_open_records_before_netns_and_after_are_read() -> None:
    parts = a_log()
    old = bytearray(parts[0][:128])
    old[4:6] = len(old).to_bytes(2, "little")
    for first, netns in (
        (bytes(old), 0),
        (record(tlog_records.OPEN, 0, estimator=b"experts", netns=4026531840), 4026531840),
    ):
        log = tlog.parse(first + b"".join(parts[1:]))
        opened = log.connections[7].open
        assert log.warnings == [] and log.connections[7].estimator == "experts"
        assert opened["netns"] == netns and opened["reserved"] == 0
        assert tlog.parse(b"".join(parts[1:]) + first).connections[7].open == opened
    mixed = tlog.parse(parts[0].replace(b"\7", b"\5", 1) + bytes(old) + b"".join(parts[1:]))
    assert [c.estimator for c in mixed.connections.values()] == ["experts", "experts"]


def test_nothing_of_a_log_is_an_error() -> None:
    with pytest.raises(TraceError, match="no whole record"):
        tlog.parse(b"TLG1 and no more")


def test_the_reader_has_the_writers_fields() -> None:
    """Test that the reader has the names and sizes of the fields in log_format.h, in order."""
    text = (ROOT / "linux" / "module" / "log_format.h").read_text()
    sizes = {"__u8": 1, "__u16": 2, "__u32": 4, "__s32": 4, "__u64": 8, "__s64": 8, "char": 1}
    for kind, dtype in (
        ("open", tlog_records.OPEN_RECORD),
        ("ack", tlog_records.ACK_RECORD),
        ("close", tlog_records.CLOSE_RECORD),
    ):
        body = re.search(rf"struct tl_log_{kind} {{(.*?)}};", text, re.S)
        assert body
        fields = []
        for of, names in re.findall(r"^\t(\w+) ([^;]+);", body[1], re.M):
            for name in re.findall(r"\w+(?:\[\d+\])?", names):
                if of in sizes:
                    word, _, count = name.partition("[")
                    fields.append((word, sizes[of] * int(count.rstrip("]") or 1)))
        mine = [(n, dtype.fields[n][0].itemsize) for n in dtype.names if n not in dict(_header())]
        assert fields == mine


def _header() -> list[tuple[str, str]]:
    return [(name, "") for name, _ in tlog_records.HEADER]
