# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test every RTT against tshark's tcp.analysis.ack_rtt, with a reason for every difference."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import wire
from reading import read_all
from wire import Wire

NAMES = {1: "retransmitted", 2: "inside a segment", 3: "sacked earlier", 4: "not captured"}

Rtts = dict[tuple[str, int], int]


@pytest.fixture(scope="module")
def tshark() -> str:
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed")
    return program


def tshark_rtts(program: str, path: Path) -> Rtts:
    """Return RTTs in us by flow and relative ACK number, which counts the bytes acknowledged so far."""
    fields = ["ip.src", "tcp.srcport", "ip.dst", "tcp.dstport", "tcp.ack", "tcp.analysis.ack_rtt"]
    command = [program, "-r", str(path), "-Y", "tcp.analysis.ack_rtt", "-T", "fields"]
    for name in fields:
        command += ["-e", name]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rtts: Rtts = {}
    for line in out.splitlines():
        acker, acker_port, sender, sender_port, ack, rtt = line.split("\t")
        rtts.setdefault((f"{sender}:{sender_port} > {acker}:{acker_port}", int(ack)), round(float(rtt) * 1e6))
    return rtts


def compare(program: str, path: Path) -> tuple[Counter[str], dict[str, Counter[str]]]:
    theirs = tshark_rtts(program, path)
    rows = read_all(path)
    kinds: Counter[str] = Counter()
    flows: dict[str, Counter[str]] = {}
    for flow in rows.flows.values():
        seen = np.flatnonzero(rows.columns["flow"] == flow["id"])
        acks = np.cumsum(rows.columns["acked_bytes"][seen].astype(np.int64))
        count = flows.setdefault(flow["name"], Counter())
        for i, ack in zip(seen, acks, strict=True):
            other = theirs.pop((flow["name"], int(ack)), None)
            ours = int(rows.columns["rtt_us"][i])
            why = NAMES.get(int(rows.columns["no_sample"][i]), "")
            if ours >= 0 and other is not None:
                kind = "equal" if abs(ours - other) <= 1 else "timestamp names the copy"
                if kind != "equal":  # tshark times the first copy
                    assert rows.columns["head_sent_us"][i] == rows.columns["time_us"][i] - other
            elif ours >= 0:
                kind = "only ours"
            else:
                kind = f"tshark only: {why}" if other is not None else f"neither: {why}"
            kinds[kind] += 1
            count[kind] += 1
    kinds["tshark only: no row"] = len(theirs)
    print(path.name, dict(kinds))
    return +kinds, flows


def test_bulk_download(tshark: str, shared: Path) -> None:
    kinds, flows = compare(tshark, shared / "pcap" / "ndt-wan-43ms.pcap.gz")
    bulk = flows["128.177.163.75:37775 > 198.16.2.132:14017"]
    print("bulk flow", dict(bulk))
    # tshark 4.0 gives 7,067. It times the first copy of three segments whose timestamps name the second, and
    # nine ACKs that came late for segments SACKed before; 4.4 also all ACKs that end inside a segment.
    (inside,) = {"neither: inside a segment", "tshark only: inside a segment"} & set(bulk)
    assert bulk == {
        "equal": 7055,
        "timestamp names the copy": 3,
        "tshark only: sacked earlier": 9,
        inside: 1610,
    }
    assert kinds == {**bulk, "equal": 7058}


def test_web_with_retransmissions(tshark: str, shared: Path) -> None:
    kinds, _ = compare(tshark, shared / "pcap" / "web-360ms-retransmits.pcap")
    assert kinds["equal"] > 160
    named = {"equal", "tshark only: sacked earlier", "tshark only: retransmitted"}
    assert set(kinds) <= named


def test_synthetic_bulk(tshark: str, tmp_path: Path) -> None:
    script = Path(__file__).parents[3] / "bench" / "make_capture.py"
    spec = importlib.util.spec_from_file_location("make_capture", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_capture"] = module
    spec.loader.exec_module(module)
    path = tmp_path / "synthetic.pcap"
    with path.open("wb") as out:
        module.simulate(module.Writer(out), 50_000, 8, 1)
    kinds, _ = compare(tshark, path)
    assert kinds["equal"] > 20_000
    named = {"equal", "tshark only: sacked earlier", "tshark only: retransmitted", "neither: sacked earlier"}
    assert set(kinds) <= named


@pytest.mark.parametrize("kind", [wire.EN10MB, wire.SLL, wire.SLL2, wire.RAW, wire.NULL, wire.LOOP])
def test_link_types(tshark: str, tmp_path: Path, kind: int) -> None:
    w = Wire(kind=kind)
    t = w.handshake(options=wire.timestamps(1, 0))
    w.send(t, w.client, 1, 100, ack=1, options=wire.timestamps(10, 1))
    w.send(t + 40_000, w.server, 1, ack=101, options=wire.timestamps(5, 10))
    w.send(t + 50_000, w.client, 101, 100, ack=1, options=wire.timestamps(60, 5))
    w.send(t + 350_000, w.client, 101, 100, ack=1, options=wire.timestamps(360, 5))
    w.send(t + 390_000, w.server, 1, ack=201, options=wire.timestamps(50, 360))
    path = tmp_path / "trace"
    path.write_bytes(w.pcap())
    kinds, _ = compare(tshark, path)
    assert kinds == {"equal": 3, "timestamp names the copy": 1}


def plain_timer(program: str, path: Path, sender: str) -> list[tuple[int, int, int, int, int]]:
    """Return rows of time, armed, head sent, in flight and head resent, from a simple implementation of
    flow.cpp for one direction."""
    names = ["frame.time_relative", "ip.src", "tcp.seq", "tcp.nxtseq", "tcp.len", "tcp.ack", "tcp.flags"]
    command = [program, "-r", str(path), "-T", "fields"]
    for name in names:
        command += ["-e", name]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    segments: list[list[int]] = []  # start, end, first sent, times sent
    una = nxt = armed = 0
    rows = []
    for line in out.splitlines():
        at, source, seq, following, length, ack, flags = line.split("\t")
        now, start, end = round(float(at) * 1e6), int(seq), int(following or seq)
        if source != sender:
            acked = int(ack)
            if int(flags, 16) & 0x10 and acked > una:
                head = segments[0]
                rows.append((now, armed, head[2], nxt - una, int(head[3] > 1)))
                una, armed = acked, now
                segments = [s for s in segments if s[1] > una]
        elif int(length) > 0 or int(flags, 16) & 3:
            if nxt == una:
                armed = now
            for old in [s for s in segments if s[0] < end and start < s[1]]:
                cuts = sorted({old[0], old[1], *(c for c in (start, end) if old[0] < c < old[1])})
                at_index = segments.index(old)
                segments[at_index : at_index + 1] = [
                    [a, b, old[2], old[3] + (start <= a and b <= end)] for a, b in pairwise(cuts) if b > una
                ]
            if end > nxt:
                segments.append([max(start, nxt), end, now, 1])
                nxt = end
    return rows


def test_timer_columns_against_a_plain_twin(tshark: str, shared: Path) -> None:
    path = shared / "pcap" / "ndt-wan-43ms.pcap.gz"
    want = plain_timer(tshark, path, "128.177.163.75")
    got = read_all(path).by_sender("128.177.163.75:")
    names = ("time_us", "armed_us", "head_sent_us", "in_flight_bytes", "retransmitted")
    assert len(want) == len(got) == 8677
    assert [tuple(row[name] for name in names) for row in got] == want
