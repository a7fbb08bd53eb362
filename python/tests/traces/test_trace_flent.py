# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test Flent data files in the forms that its versions write."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tcplearn.traces import TraceError

T0 = 1_588_855_601.6


def flent(**parts: Any) -> bytes:
    return json.dumps({"version": 4, "metadata": {"NAME": "rrul"}, **parts}).encode()


def raw() -> dict[str, Any]:
    return {
        "Ping (ms) ICMP": [{"seq": i, "t": T0 + i * 0.2, "val": 20.0 + i} for i in range(5)],
        "Ping (ms) UDP BE1": [{"seq": i, "t": T0 + 0.1 + i * 0.2, "val": 30.5} for i in range(4)],
        "TCP upload::1": [
            {"t": T0 + 1, "dur": 0.2, "val": 7.1},
            {"t": T0 + 2, "tcp_rtt": 91.134, "tcp_rtt_var": 45.5, "tcp_cwnd": 10},
        ],
    }


def results() -> dict[str, Any]:
    return {
        "Ping (ms) ICMP": [20.0, None, 22.0],
        "Ping (ms) UDP BE1": [30.5, 30.5, 30.5],
        "Ping (ms) avg": [25.0, 25.0, 25.0],
        "TCP upload::1": [7.1, None, None],
        "TCP upload::1::tcp_rtt": [None, None, 91.1],
        "TCP upload::1::tcp_rtt_var": [None, None, 45.5],
    }


@pytest.mark.parametrize("packed", [False, True])
def test_raw_values(read, packed):
    data = flent(x_values=[0, 0.2, 0.4], results=results(), raw_values=raw())
    rows = read(gzip.compress(data) if packed else data, max_rows=3)
    assert rows.kind == "flent"
    assert [f["name"] for f in rows.flows.values()] == [
        "Ping (ms) ICMP",
        "Ping (ms) UDP BE1",
        "TCP upload::1::tcp_rtt",
    ]
    assert [(r["time_us"], r["rtt_us"]) for r in rows.of(0)] == [
        (i * 200_000, 20_000 + i * 1000) for i in range(5)
    ]
    assert [r["time_us"] for r in rows.of(1)] == [100_000 + i * 200_000 for i in range(4)]
    assert [(r["time_us"], r["rtt_us"]) for r in rows.of(2)] == [(2_000_000, 91_134)]
    assert rows.warnings == ["TCP RTT series are smoothed RTTs of the kernel, not single samples"]


def test_results_only(read):
    ping = {"Ping (ms) ICMP": [20.0, None, 22.0, float("nan")], "TCP upload": [1.0, 2.0, 3.0, 4.0]}
    rows = read(flent(x_values=[5.0, 5.2, 5.4, 5.6], results=ping, raw_values={}))
    assert rows.columns["time_us"].tolist() == [0, 400_000]
    assert rows.columns["rtt_us"].tolist() == [20_000, 22_000]
    assert rows.warnings == ['series "Ping (ms) ICMP": 2 of 4 values are missing: left out']


def test_version_1_keeps_raw_values_elsewhere(read):
    meta = {
        "NAME": "rrul",
        "SERIES_META": {"Ping (ms) ICMP": {"RAW_VALUES": raw()["Ping (ms) ICMP"], "UNITS": "ms"}},
    }
    rows = read(flent(version=1, metadata=meta, x_values=[0], results={"Ping (ms) ICMP": [1.0]}))
    assert rows.columns["rtt_us"].tolist() == [20_000 + i * 1000 for i in range(5)]


def test_values_out_of_order_are_sorted(read):
    points = raw()["Ping (ms) ICMP"]
    points[1], points[2] = points[2], points[1]
    rows = read(flent(x_values=[], results={"Ping (ms) ICMP": []}, raw_values={"Ping (ms) ICMP": points}))
    assert rows.columns["rtt_us"].tolist() == [20_000 + i * 1000 for i in range(5)]
    assert "sorted" in rows.warnings[0]


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"{", "not JSON as flent writes it"),
        (b"[1, 2]", 'there is no "results" object'),
        (b'{"results": 5}', 'there is no "results" object'),
        (flent(x_values=[0], results={"TCP upload": [1.0]}), "without a ping or TCP RTT series"),
        (flent(x_values=[0], results={"Ping (ms) ICMP": [None]}), "without a ping or TCP RTT series"),
        (
            flent(x_values=[0], results={"Ping (ms) ICMP": [-1.0]}),
            'series "Ping .ms. ICMP", value 1: a round trip',
        ),
        (
            gzip.compress(flent(x_values=[0], results={}), mtime=0)[:40],
            "cannot be read in part, and the gzip data ends",
        ),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_what_is_refused(read, data, match):
    with pytest.raises(TraceError, match=match) as error:
        read(data)
    assert "\n" not in str(error.value)
