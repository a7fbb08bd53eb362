# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test CSV traces: their units, the derived columns, and the input that is refused."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import numpy as np
import pytest
from reading import read_all

from tcplearn.traces import Reason, TraceError


def text(*lines: str) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


def fails(read, data: bytes, match: str) -> None:
    with pytest.raises(TraceError, match=match) as error:
        read(data)
    assert "\n" not in str(error.value)


def test_what_is_derived(read):
    rows = read(text("t_s,rtt_ms", "10,40", "10.01,40", "10.03,15", "10.2,100"))
    c = rows.columns
    assert c["time_us"].tolist() == [0, 10_000, 30_000, 200_000]  # relative to the first row
    assert c["rtt_us"].tolist() == [40_000, 40_000, 15_000, 100_000]
    assert c["sent_us"].tolist() == [-40_000, -30_000, 15_000, 100_000]
    assert c["armed_us"].tolist() == [-40_000, 0, 15_000, 100_000]
    assert c["head_sent_us"].tolist() == [-40_000, -30_000, 15_000, 100_000]
    assert c["flight_segments"].tolist() == [1, 2, 1, 1]
    assert rows.kind == "csv"
    assert rows.warnings == []
    (flow,) = rows.flows.values()
    assert (flow["name"], flow["acks"], flow["samples"], flow["chosen"]) == ("trace", 4, 4, True)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("title", ["t", "time", "timestamp"])
def test_units(read, title, unit):
    scale = {"s": 1e-6, "ms": 1e-3, "us": 1, "ns": 1000}[unit]
    rows = read(
        text(f"{title}_{unit},rtt_{unit}", f"0,{5000 * scale!r}", f"{20_000 * scale!r},{7000 * scale!r}")
    )
    assert rows.columns["time_us"].tolist() == [0, 20_000]
    assert rows.columns["rtt_us"].tolist() == [5000, 7000]


def test_karn(read):
    rows = read(text("t_s,rtt_ms,is_rtx", "0,40,0", "0.1,400,1", "0.2,40,0"))
    c = rows.columns
    assert c["rtt_us"].tolist() == [40_000, -1, 40_000]
    assert c["sent_us"].tolist() == [-40_000, -1, 160_000]
    assert c["no_sample"].tolist() == [Reason.NONE, Reason.RETRANSMITTED, Reason.NONE]
    assert c["retransmitted"].tolist() == [0, 1, 0]
    assert rows.flows[0]["samples"] == 2


def test_sending_times(read):
    # The second sample overtakes the first; rows come in order of arrival.
    for head, third in (("sent_ms,rtt_ms", "30,10"), ("sent_ms,rtt_ms,ttl", "30,10,64")):
        extra = ",64" if "ttl" in head else ""
        rows = read(text(head, "0,40" + extra, "10,10" + extra, third))
        assert rows.columns["time_us"].tolist() == [20_000, 40_000, 40_000]
        assert rows.columns["sent_us"].tolist() == [10_000, 0, 30_000]
    rows = read(text("t_ms,sent_ms", "40,0", "55,10"))
    assert rows.columns["rtt_us"].tolist() == [40_000, 45_000]


def test_flows_and_other_columns(read):
    data = text(
        "flow,t_s,rtt_ms,ttl,in_flight,flight_segments,acked_bytes,colour",
        "a,0,10,64,3000,3,1000,red",
        "b,5,20,50,100,1,100,red",
        "a,1,10,64,0,0,7,red",
        "b,5,20,300,1,1,1,red",
    )
    rows = read(data, max_rows=2)
    assert rows.columns["flow"].tolist() == [0, 1, 0, 1]
    assert [f["name"] for f in rows.flows.values()] == ["a", "b"]
    assert rows.columns["ttl"].tolist() == [64, 50, 64, 255]
    assert rows.columns["in_flight_bytes"].tolist() == [3000, 100, 0, 1]
    assert rows.columns["flight_segments"].tolist() == [3, 1, 1, 1]
    assert rows.columns["acked_bytes"].tolist() == [1000, 100, 7, 1]
    assert rows.warnings == ["columns not used: colour"]
    fails(
        read,
        text("flow,t_s,rtt_ms", "a,2,1", "b,1,1", "a,1,1"),
        "line 4: time goes back by 1000000 us in flow a",
    )


def test_no_times(read):
    rows = read(text("rtt_ms", "10", "20", "5"))
    assert rows.columns["time_us"].tolist() == [0, 20_000, 25_000]
    assert "made from the sum of the round trips" in rows.warnings[0]


def test_ways_of_writing(read):
    want = read(text("t_s,rtt_ms", "0,40", "1,50")).columns
    for data in (
        b"\xef\xbb\xbft_s,rtt_ms\r\n0,40\r\n1,50\r\n",
        b"t_s,rtt_ms\n0,40\n\n1,50",
        b"T_S ; RTT_MS\n0 ; 40\n1;50\n",
        b"t_s\trtt_ms\n0\t40\n1\t50\n",
        b'"t_s","rtt_ms"\n"0","40"\n1,50\n',
        gzip.compress(b"t_s,rtt_ms\n0,40\n1,50\n"),
    ):
        got = read(data).columns
        assert all(np.array_equal(got[name], want[name]) for name in want)


@pytest.mark.parametrize(
    ("lines", "match"),
    [
        (("0,40", "1,50"), "line 1: there is no header; .* t_s,rtt_ms"),
        (("t_s,rtt",), 'line 1: column "rtt" has no known unit; allowed are rtt_s, rtt_ms, rtt_us or rtt_ns'),
        (("t_s,rtt_min",), 'column "rtt_min" has no known unit; allowed are rtt_s'),
        (("time,rtt_ms", "0,1"), 'column "time" has no known unit; allowed are t_s'),
        (("t_s,colour", "0,1"), "no column holds the round-trip time"),
        (("t_s,rtt_ms,rtt_us", "0,1,1"), "columns rtt_ms and rtt_us say the same"),
        (("t_s,rtt_ms",), "there are no rows below the header"),
        (("t_s,rtt_ms", "0,40", "1,nan"), "line 3: rtt_ms: nan is no value"),
        (("t_s,rtt_ms", "0,40", "inf,5"), "line 3: t_s: inf is no value"),
        (("t_s,rtt_ms", "0,40", "1,0"), "line 3: rtt_ms: a round trip must be above zero"),
        (("t_s,rtt_ms", "0,-3"), "line 2: rtt_ms: a round trip must be above zero"),
        (("t_s,rtt_ms", "0,40", "1,"), "line 3: rtt_ms: it is empty"),
        (("t_s,rtt_ms", "0,40", "", "1,fast"), 'line 4: rtt_ms: "fast" is not a number'),
        (("t_s,rtt_ms", "0,40", "1,5,6"), "line 3: it has 3 fields, the header 2"),
        (("t_s,rtt_ms", "0,40", "7"), "line 3: it has 1 fields, the header 2"),
        (("t_s,rtt_ms", "1,40", "0.5,5"), "line 3: time goes back by 500000 us"),
        (("t_s,rtt_ms", "1e300,40"), "line 2: t_s: 1e.300 is too large"),
        (("t_ms,sent_ms", "5,5"), "the time less the sending time: a round trip must be above zero"),
    ],
)
def test_what_is_refused(read, lines, match):
    fails(read, text(*lines), match)


def test_bytes_that_are_no_text(read):
    fails(read, b"t_s,rtt_ms\n0,40\n1,\xff\xfe\n", "line 3: it is not UTF-8 text")


def test_cut_files(read):
    rows = read(b"t_s,rtt_ms\n0,40\n1,50\n2")
    assert len(rows.columns["rtt_us"]) == 2
    assert rows.warnings == ["line 4 is cut: left out"]
    whole = gzip.compress(text("t_s,rtt_ms", *(f"{i},{40 + i % 7}" for i in range(20_000))))
    for data in (whole[: len(whole) // 2], whole[:-8] + b"\1\2\3\4" + whole[-4:], whole + b"tail"):
        rows = read(data)
        assert 1000 < len(rows.columns["rtt_us"]) <= 20_000
        assert "only: the" in rows.warnings[0]
        assert "gzip data" in rows.warnings[0]
        assert rows.columns["rtt_us"].tolist() == [
            (40 + i % 7) * 1000 for i in range(len(rows.columns["rtt_us"]))
        ]
    fails(read, whole[:12], "nothing in it can be read: the gzip data ends")


def test_chunks_make_no_difference(read, monkeypatch):
    generator = np.random.default_rng(1)
    times = np.cumsum(generator.integers(0, 3000, 5000))
    rtts = generator.integers(1, 90_000, 5000)
    flows = generator.integers(0, 3, 5000)
    for head in ("flow,t_us,rtt_us", "flow,sent_us,rtt_us"):
        data = text(head, *(f"f{f},{t},{r}" for f, t, r in zip(flows, times, rtts, strict=True)))
        want = read(data)
        monkeypatch.setattr("tcplearn.traces.csv._CHUNK_BYTES", 1000)
        monkeypatch.setattr("tcplearn.traces.base.ByteStream.CHUNK_BYTES", 300)
        got = read(data, max_rows=7)
        monkeypatch.undo()
        for flow in range(3):
            assert want.of(flow) == got.of(flow)
            # A plain twin of the derived columns.
            seen = want.of(flow)
            arrived = np.array([row["time_us"] for row in seen])
            sent = np.array([row["sent_us"] for row in seen])
            for i, row in enumerate(seen):
                assert row["armed_us"] == max(seen[i - 1]["time_us"] if i else row["sent_us"], row["sent_us"])
                assert row["head_sent_us"] == sent[: i + 1].max()
                out = np.count_nonzero(row["sent_us"] < arrived[: i + 1])
                assert row["flight_segments"] == max(1, out)


def test_a_million_rows(tmp_path: Path):
    path = tmp_path / "long.csv"
    within = [f".{i:03}000,{40 + i % 7}.25,0\n" for i in range(1000)]  # a second
    path.write_text("t_s,rtt_ms,is_rtx\n" + "".join(f"{s}" + f"{s}".join(within) for s in range(1000)))
    begin = time.monotonic()
    rows = read_all(path)
    print(f"{time.monotonic() - begin:.2f} s")
    assert len(rows.columns["rtt_us"]) == 1_000_000
    assert time.monotonic() - begin < 30


def test_real_files(shared: Path):
    files = sorted((shared / "rtt").glob("*.csv"))
    assert files
    for path in files:
        lines = path.read_text().splitlines()[1:]
        rows = read_all(path)
        assert rows.columns["rtt_us"].tolist() == [round(float(line.split(",")[1]) * 1000) for line in lines]
