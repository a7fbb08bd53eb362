# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Provides a small trace of every kind that tcplearn reads, for tests of behaviour that must not depend on
the kind."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from samples import ROOT, series
from tcplearn.traces import tlog_records

ROWS = 400
CAPTURE = ROOT / "examples" / "captures" / "access-link.pcap.gz"


def _probes(seed: int) -> list[tuple[float, float]]:
    """Return the arrival time in s and the RTT in ms of probes that overlap."""
    rtt = series(seed, ROWS)
    time = np.maximum.accumulate(np.arange(ROWS) * 17_000 + rtt)
    rtt = time - np.arange(ROWS) * 17_000
    return list(zip((time / 1e6).tolist(), (rtt / 1e3).tolist(), strict=True))


def csv() -> bytes:
    lines = [f"{t:.6f},{rtt:.3f},{int(k % 11 == 5)}" for k, (t, rtt) in enumerate(_probes(1))]
    return "\n".join(["t_s,rtt_ms,retransmitted", *lines, ""]).encode()


def flent() -> bytes:
    raw = [{"seq": k, "t": 1e9 + t, "val": rtt} for k, (t, rtt) in enumerate(_probes(2))]
    results = {"Ping (ms) ICMP": [p["val"] for p in raw]}
    return json.dumps({"version": 4, "results": results, "raw_values": {"Ping (ms) ICMP": raw}}).encode()


def kernel_log() -> bytes:
    out = b""
    for k, (t, rtt) in enumerate(_probes(3)):
        record = np.zeros(1, tlog_records.KINDS[tlog_records.ACK])
        record["magic"], record["size"], record["type"] = (
            tlog_records.MAGIC,
            record.itemsize,
            tlog_records.ACK,
        )
        record["connection"], record["record"] = 7, k
        record["time_us"], record["rtt_us"] = round(t * 1e6), -1 if k % 13 == 4 else round(rtt * 1e3)
        record["acked_segments"], record["flight_segments"], record["mss_bytes"] = 2, 1 + k % 9, 1400
        out += record.tobytes()
    return out


def qlog() -> bytes:
    """Return a qlog of a QUIC connection whose peer delays every other ACK by 20 ms and reports this
    delay."""
    rng = np.random.default_rng(4)
    events: list[tuple[float, dict[str, Any]]] = []
    header = {"packet_type": "1RTT"}
    for k in range(ROWS):
        sent_ms, delay_ms = 15.0 * k, 20.0 * int(rng.random() < 0.5)
        data: dict[str, Any] = {"header": {**header, "packet_number": k}, "raw": {"length": 1200}}
        data["frames"] = [{"frame_type": "stream"}]
        events.append((sent_ms, {"name": "transport:packet_sent", "data": data}))
        frame = {"frame_type": "ack", "acked_ranges": [[k, k]], "ack_delay": delay_ms}
        data = {"header": {**header, "packet_number": k}, "frames": [frame]}
        came_ms = sent_ms + 30 + delay_ms + 4 * rng.random()
        events.append((came_ms, {"name": "transport:packet_received", "data": data}))
    events.sort(key=lambda e: e[0])
    trace = {"vantage_point": {"type": "client"}, "common_fields": {"ODCID": "c0ffee"}}
    trace["events"] = [{"time": ms, **event} for ms, event in events]  # type: ignore[assignment]
    return json.dumps({"qlog_version": "0.3", "traces": [trace]}).encode()


def ping() -> bytes:
    lines = [
        f"[{1e9 + t:.6f}] 64 bytes from 10.0.0.1: icmp_seq={k + 1} ttl=57 time={rtt:.2f} ms"
        for k, (t, rtt) in enumerate(_probes(5))
    ]
    return "\n".join(["PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.", *lines, ""]).encode()


def numbers() -> bytes:
    return "".join(f"{rtt:.3f}\n" for _, rtt in _probes(6)).encode()


def socket_statistics() -> bytes:
    """Return the output of repeated `ss -ti`, which has the kernel's smoothed RTT while data is
    acknowledged."""
    blocks = [
        f"{1e9 + t:.3f}\nESTAB 0 0 10.0.0.1:22 10.0.0.2:50000\n"
        f"\t cubic rto:204 rtt:{rtt:.3f}/1.5 mss:1448 cwnd:10 bytes_acked:{(k + 1) * 1000} segs_out:{k + 2}\n"
        for k, (t, rtt) in enumerate(_probes(7))
    ]
    return "".join(blocks).encode()


def ndt7() -> bytes:
    measured = [
        {"TCPInfo": {"ElapsedTime": round(t * 1e6), "RTT": round(rtt * 1e3), "BytesAcked": (k + 1) * 5000}}
        for k, (t, rtt) in enumerate(_probes(8))
    ]
    return json.dumps({"Download": {"UUID": "c0ffee", "ServerMeasurements": measured}}).encode()


KINDS: dict[str, Callable[[], bytes]] = {
    "probes.csv": csv,
    "probes.csv.gz": lambda: gzip.compress(csv()),
    "ping.flent": flent,
    "kernel.log": kernel_log,
    "quic.qlog": qlog,
    "ping.txt": ping,
    "rtts.txt": numbers,
    "ss.txt": socket_statistics,
    "ndt7.json": ndt7,
    CAPTURE.name: CAPTURE.read_bytes,
}


def write(name: str, folder: Path) -> Path:
    """Write the trace `name` of KINDS into the new folder `folder` and return its path."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    path = folder / name
    path.write_bytes(KINDS[name]())
    return path
