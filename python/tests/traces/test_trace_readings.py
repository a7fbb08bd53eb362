# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test readings of the kernel's smoothed RTT: repeated output of ss, and M-Lab's archives."""

from __future__ import annotations

import base64
import gzip
import json
import struct
from typing import Any

import pytest
import zstandard

from tcplearn.traces import TraceError

SMOOTHED = "round trips are smoothed RTTs of the kernel (SRTT), read at intervals"


def info(rtt: str, acked: int, age: int = 0, retrans: str = "") -> str:
    return (
        f"cubic wscale:7,7 rto:204 rtt:{rtt} ato:40 mss:1448 pmtu:1500 cwnd:10 bytes_acked:{acked} "
        f"segs_out:5 send 75.9Mbps lastsnd:{age} lastrcv:{age} lastack:{age} pacing_rate 91.0Mbps {retrans}"
        "rcv_rtt:3.5 rcv_space:29200 minrtt:1.1"
    )


HEAD = "State Recv-Q Send-Q Local Address:Port  Peer Address:PortProcess  \n"
A = 'ESTAB      0      0      10.255.0.95:58014              10.255.0.98:80     users:(("x",pid=7,fd=4))'
B = "ESTAB      0      12     [2001:db8::1]:22               [2001:db8::2]:50000"
GONE = "TIME-WAIT  0      0      127.0.0.1:18500                127.0.0.1:40754    timer:(timewait,34sec,0)"


def listing(*pairs: tuple[str, str], head: str = HEAD, joint: str = "\n\t ") -> str:
    return head + "".join(f"{socket}{joint}{rest}\n" for socket, rest in pairs) + f"{GONE}\n"


def test_listings_without_times(read):
    text = (
        listing((A, info("10.5/2", 100)), (B, info("20/1", 5, 1000)))
        + listing((A, info("11/2", 200)), (B, info("20/1", 5, 1250)))
        + listing((A, info("11/2", 300, retrans="retrans:0/3 ")), (B, info("21.5/1", 6)))
        + listing((A, info("9/2", 400, 70, retrans="retrans:0/3 ")))
    )
    rows = read(text.encode())
    assert rows.kind == "ss"
    names = [flow["name"] for flow in rows.flows.values()]
    assert sorted(names) == ["10.255.0.95:58014 > 10.255.0.98:80", "[2001:db8::1]:22 > [2001:db8::2]:50000"]
    first = rows.by_sender("10.255")
    # an age that grew by 250 ms says how far apart listings are; what says nothing is as far as before
    assert [(r["time_us"], r["rtt_us"]) for r in first] == [
        (0, 10_500),
        (250_000, 11_000),
        (500_000, -1),
        (500_000, 11_000),
        (570_000, 9_000),
    ]
    assert [r["retransmitted"] for r in first] == [0, 0, 1, 0, 0]
    assert [r["rtt_us"] for r in rows.by_sender("[2001")] == [20_000, 21_500]
    assert rows.warnings[0].startswith(SMOOTHED)
    assert "the ages in them" in rows.warnings[1]
    assert rows.warnings[2] == "1 readings with nothing acknowledged since the last: left out"


@pytest.mark.parametrize(
    ("stamps", "step_us"),
    [
        (("1700000000.25", "1700000000.75"), 500_000),
        (("1700000000250000000", "1700000000750000000"), 500_000),
        (("Sat Nov 21 22:48:25 UTC 2026", "Sat Nov 21 22:48:26 UTC 2026"), 1_000_000),
        (("2024-01-01T12:00:00,25+00:00", "2024-01-01T12:00:00,75+00:00"), 500_000),
    ],
)
@pytest.mark.parametrize("form", ["-ti", "-tiOH", "prefix", "established"])
def test_times_and_forms(read, stamps, step_us, form):
    text = ""
    for stamp, rtt in zip(stamps, ("10/1", "12/1"), strict=True):
        if form == "-ti":
            text += stamp + "\n" + listing((A, info(rtt, 100)))
        elif form == "-tiOH":
            text += stamp + "\n" + listing((A, info(rtt, 100)), head="", joint=" ")
        elif form == "established":
            text += stamp + "\n" + listing((A.removeprefix("ESTAB"), info(rtt, 100)), head="")
        else:
            text += f"{stamp} {A} {info(rtt, 100)}\n"
    rows = read(text.encode())
    assert [(r["time_us"], r["rtt_us"]) for r in rows.by_sender("10.255")] == [(0, 10_000), (step_us, 12_000)]
    assert len(rows.warnings) == 1


def test_ss_without_info(read):
    with pytest.raises(TraceError, match="ss without a round trip"):
        read((HEAD + A + "\n").encode())
    assert "ss was taken once" in read(listing((A, info("10/1", 1))).encode()).warnings[1]


def snapshot(ms: int, rtt: int, retrans: int = 0) -> dict[str, Any]:
    return {
        "Timestamp": f"2019-06-05T15:27:07.{ms:03}Z",
        "TCPInfo": {
            "State": 1,
            "RTT": rtt,
            "RTTVar": 500,
            "MinRTT": 900,
            "BytesAcked": ms,
            "TotalRetrans": retrans,
        },
    }


ENDS = "192.0.2.1:443 > 198.51.100.7:50000"
SERIES = [(0, 0), (100, 10_000), (110, 12_000), (130, 11_000)]
UUID = "ndt-7hhhv_1559749627_0000000000062D84"


def log() -> list[dict[str, Any]]:
    return [snapshot(ms, rtt, retrans=int(ms >= 130)) for ms, rtt in SERIES]


def raw(ms: int, rtt: int) -> dict[str, Any]:
    idm = struct.pack("<BBBB", 2, 1, 0, 0) + struct.pack(">HH", 443, 50_000)
    idm += bytes((192, 0, 2, 1)).ljust(16, b"\0") + bytes((198, 51, 100, 7)).ljust(16, b"\0") + bytes(32)
    tcp_info = bytearray(192)
    struct.pack_into("<II", tcp_info, 68, rtt, 500)
    struct.pack_into("<q", tcp_info, 120, ms)
    struct.pack_into("<I", tcp_info, 100, int(ms >= 130))
    attributes = [None, None, base64.b64encode(tcp_info).decode()]
    stamp = f"2019-06-05T15:27:07.{ms:03}Z"
    return {"Timestamp": stamp, "RawIDM": base64.b64encode(idm).decode(), "Attributes": attributes}


def ndt7() -> dict[str, Any]:
    return {
        "GitShortCommit": "abc",
        "ServerIP": "192.0.2.1",
        "ServerPort": 443,
        "ClientIP": "198.51.100.7",
        "ClientPort": 50_000,
        "Download": {
            "UUID": UUID,
            "ServerMeasurements": [
                {"TCPInfo": snapshot(ms, rtt, int(ms >= 130))["TCPInfo"] | {"ElapsedTime": ms * 1000}}
                for ms, rtt in SERIES
            ],
        },
    }


def lines(*records: object) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (lines({"Metadata": {"UUID": UUID}, "Snapshots": log()}), UUID),
        (json.dumps({"Metadata": {"UUID": UUID}, "Snapshots": log()}, indent=2).encode(), UUID),
        (lines({"Metadata": {"UUID": UUID}, "Timestamp": "0001-01-01T00:00:00Z"}, *log()), UUID),
        (
            lines({"Metadata": {"UUID": UUID}}, *(raw(*at) for at in SERIES)),
            "192.0.2.1:443 > 198.51.100.7:50000",
        ),
        (lines(ndt7()), f"{ENDS} download"),
        (json.dumps(ndt7(), indent=1).encode(), f"{ENDS} download"),
        (lines({"date": "2024-01-01", "raw": ndt7()}), f"{ENDS} download"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_mlab(read, data, name, pack):
    rows = read(pack(data), max_rows=3)
    assert rows.kind == "mlab"
    ((flow_id, flow),) = rows.flows.items()
    assert flow["name"] == name
    assert [(r["time_us"], r["rtt_us"], r["retransmitted"]) for r in rows.of(flow_id)] == [
        (0, 10_000, 0),
        (10_000, 12_000, 0),
        (30_000, -1, 1),
        (30_000, 11_000, 0),
    ]
    assert rows.warnings[0].startswith(SMOOTHED)
    assert rows.warnings[1:] == ["1 readings before the first round trip: left out"]


def test_tests_follow_one_another(read):
    rows = read(lines(ndt7(), ndt7()))
    assert [flow["samples"] for flow in rows.flows.values()] == [3, 3]
    assert rows.columns["time_us"].tolist() == sorted(rows.columns["time_us"].tolist())


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (lines({"Snapshots": []}), "without a TCPInfo that holds an RTT"),
        (lines({"Snapshots": 5, "TCPInfo": []}), "without a TCPInfo that holds an RTT"),
        (lines(*log()) + b"{]\n" + lines(*log()), "record 5: it is not JSON"),
        (lines(*log()) + b"5\n", "record 5: it is no object"),
        (b'{"TCPInfo": {', "record 1: it is not JSON"),
    ],
)
def test_what_is_refused(read, data, match):
    with pytest.raises(TraceError, match=match) as error:
        read(data)
    assert "\n" not in str(error.value)


def test_a_cut_record_is_left_out(read):
    rows = read(lines(*log()) + b'{"Timestamp": "2019')
    assert "record 5, the last one, is cut: left out" in rows.warnings
