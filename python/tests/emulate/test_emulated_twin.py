# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the native path against its second implementation on random paths and packets, and test how packet
headers are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from directions import MS, PLAIN, S, crossed
from emulated_twin import play, quantile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tcplearn._native import handshake_of

SHARES = st.sampled_from([0.0, 0.01, 0.2, 0.7, 1.0])
TIMES = st.integers(0, 30 * MS)


def dated(draw: Any) -> dict[str, Any]:
    every_ns = draw(st.none() | st.integers(2 * MS, 200 * MS))
    at_ns = draw(st.integers(0, every_ns or 200 * MS))
    return {"at_ns": at_ns, "lasts_ns": draw(st.none() | st.integers(1, 60 * MS)), "every_ns": every_ns}


@st.composite
def directions(draw: Any) -> dict[str, Any]:
    kind = draw(st.sampled_from(["free", "rate", "trace"]))
    in_time = draw(st.booleans())
    leaves = [draw(st.floats(1e5, 5e7)) if in_time else draw(SHARES) for _ in range(2)]
    bursts = {
        "in_time": in_time, "leave_good": leaves[0], "leave_bad": leaves[1], "loss_in_good": draw(SHARES),
        "loss_in_bad": draw(SHARES),
    }  # fmt: skip
    trace = sorted(draw(st.lists(st.integers(0, 40), min_size=1, max_size=12)))
    trace[-1] = max(trace[-1], 1)
    changes = [
        dated(draw) | draw(st.dictionaries(st.sampled_from(["delay_ns", "jitter_ns"]), TIMES, max_size=2))
        | ({"rate_mbps": draw(st.sampled_from([0.5, 3.0]))} if kind == "rate" else {})
        | ({"loss": draw(SHARES)} if draw(st.booleans()) else {})
        for _ in range(draw(st.integers(0, 2)))
    ]  # fmt: skip
    slot_ns = sorted(draw(st.tuples(st.integers(MS, 20 * MS), st.integers(MS, 20 * MS))))
    policed = draw(st.booleans())
    return PLAIN | {
        "rate_mbps": draw(st.sampled_from([0.3, 2.0, 25.0])) if kind == "rate" else None,
        "opportunities_ns": [ms * MS for ms in trace] if kind == "trace" else None,
        "limit_packets": draw(st.integers(1, 12)),
        "limit_bytes": draw(st.none() | st.integers(1500, 9000)),
        "policer_mbps": draw(st.sampled_from([0.2, 3.0])) if policed else None,
        "policer_bytes": draw(st.integers(1500, 9000)) if policed else None,
        "delay_ns": draw(TIMES),
        "jitter_ns": draw(TIMES),
        "tail_ns": draw(st.sampled_from([0, 2 * MS])),
        "distribution": draw(st.sampled_from(["uniform", "uniform-above", "pareto"])),
        "correlation": draw(st.sampled_from([0.0, 0.3])),
        "jitter_reorders": draw(st.booleans()),
        "reorder": draw(SHARES),
        "reorder_ns": draw(TIMES),
        "loss": draw(SHARES),
        "bursts": draw(st.none() | st.just(bursts)),
        "slot_ns": draw(st.none() | st.just(tuple(slot_ns))),
        "changes": sorted(changes, key=lambda change: change["at_ns"]),
        "fades": [dated(draw) for _ in range(draw(st.integers(0, 2)))],
    }


@st.composite
def paths(draw: Any) -> list[dict[str, Any]]:
    drawn = {
        "lasts_ns": (1.0 * MS, 30.0 * MS), "apart_ns": 50.0 * MS, "exponential": draw(st.booleans()),
        "forward": draw(st.booleans()), "reverse": draw(st.booleans()),
    }  # fmt: skip
    hops = [
        {"forward": draw(directions()), "reverse": draw(directions())} for _ in range(draw(st.integers(1, 3)))
    ]
    if draw(st.booleans()):
        hops[0]["drawn_fades"] = drawn
    return hops


PACKETS = st.lists(st.tuples(st.integers(0, 8 * MS), st.integers(20, 1500)), min_size=1, max_size=120)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(paths(), PACKETS, st.integers(0, 2**64 - 1), st.booleans())
def test_the_native_path_does_what_its_twin_does(
    hops: list[dict[str, Any]], gaps: list[tuple[int, int]], seed: int, forward: bool
) -> None:
    at_ns = np.cumsum([gap for gap, _ in gaps])
    sizes = [size for _, size in gaps]
    due, cause = crossed(hops, at_ns, sizes, seed, forward)
    expected = play(hops, seed, list(zip(at_ns.tolist(), sizes, strict=True)), forward)
    assert cause.tolist() == [cause for _, cause in expected]
    assert due.tolist() == [at for at, _ in expected]


def test_normal_jitter_is_the_normal_distribution() -> None:
    """Test that normal jitter has a normal distribution, although the native code interpolates between the
    rows of a table."""
    at_ns = np.arange(20_000, dtype=np.int64) * S
    hop = {"forward": PLAIN | {"delay_ns": 100 * MS, "jitter_ns": 10 * MS}, "reverse": PLAIN}
    due, _ = crossed([hop], at_ns, seed=3)
    expected = play([hop], 3, [(int(at), 1500) for at in at_ns], True)
    assert np.abs(due - [at for at, _ in expected]).max() <= 200  # ns, of deviations of 10 ms
    assert quantile("normal", 0.975) == pytest.approx(1.96, abs=0.001)


def tcp(flags: int, version: int = 4, options: int = 0, protocol: int = 6, fragment: int = 0) -> bytes:
    if version == 4:
        head = bytes([0x45 + options // 4, 0, 0, 60]) + bytes(
            [0, 0, fragment >> 8, fragment & 255, 64, protocol]
        )
        head = head.ljust(20 + options, b"\0")
    else:
        head = bytes([0x60, 0, 0, 0, 0, 20, protocol, 64]) + bytes(32)
    return head + bytes(12) + bytes([0x50, flags]) + bytes(6)


@pytest.mark.parametrize("version", [4, 6])
def test_handshakes_are_known_by_their_flags(version: int) -> None:
    assert handshake_of(tcp(0x02, version)) == "syn" and handshake_of(tcp(0xC2, version)) == "syn"  # with ECN
    assert handshake_of(tcp(0x12, version)) == "syn-ack"
    assert handshake_of(tcp(0x10, version)) == "" and handshake_of(tcp(0x02, version, protocol=17)) == ""
    assert handshake_of(tcp(0x02, version)[:-1]) == ""


def test_options_are_skipped_and_fragments_are_not_read() -> None:
    assert handshake_of(tcp(0x02, options=8)) == "syn"
    assert handshake_of(tcp(0x02, fragment=0x2000)) == "syn"  # the first fragment
    assert handshake_of(tcp(0x02, fragment=0x0001)) == "" and handshake_of(tcp(0x02, fragment=0x0100)) == ""


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(packet: bytes) -> None:
    assert handshake_of(packet) in ("", "syn", "syn-ack")
