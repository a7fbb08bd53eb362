# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test qlogs of any content: they are read or refused, and samples equal those of a simple implementation."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qlog_logs import TRACE, acked, contained, read_trace, sent, sequence

from tcplearn.traces import TraceError
from tcplearn.traces.qlog import QlogTrace

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
NUMBERS = st.integers(-1, 12) | st.integers(0, 1 << 63) | LEAVES
VALUES = st.recursive(LEAVES, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(), v, max_size=3))
KINDS = st.sampled_from(["1RTT", "initial", "handshake", "0RTT", "retry"]) | VALUES
FRAMES = st.fixed_dictionaries(
    {"frame_type": st.sampled_from(["ack", "stream", "padding", "handshake_done"]) | VALUES},
    optional={
        "ack_delay": st.floats() | VALUES,
        "acked_ranges": st.lists(st.lists(NUMBERS, max_size=3) | VALUES, max_size=3) | VALUES,
    },
)
PACKETS = st.fixed_dictionaries(
    {"header": st.fixed_dictionaries({"packet_type": KINDS, "packet_number": NUMBERS}) | VALUES},
    optional={"frames": st.lists(FRAMES | VALUES, max_size=3) | VALUES, "raw": VALUES},
)
NAMES = st.sampled_from(["transport:packet_sent", "quic:packet_received", "recovery:packet_lost"]) | VALUES
EVENTS = st.fixed_dictionaries(
    {"time": st.integers(0, 3) | st.floats() | VALUES, "name": NAMES, "data": PACKETS | VALUES},
    optional={"group_id": VALUES, "time_format": st.sampled_from(["delta", "absolute"]) | VALUES},
)
METAS = st.fixed_dictionaries({}, optional={k: VALUES for k in (*TRACE, "event_fields", "configuration")})


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    METAS,
    st.lists(EVENTS | VALUES, max_size=12),
    st.sampled_from([sequence, contained]),
    st.binary(max_size=9),
)
def test_any_json_is_read_or_refused(tmp_path, meta, events, form, end):
    data = form(*events, header={"trace": meta}) if form is sequence else form(*events, **meta)
    for text in (data, data + end, data[: -1 - len(end)], json.dumps(events).encode()):
        path = tmp_path / "any.qlog"
        path.write_bytes(text)
        try:
            rows = sum(len(batch["time_us"]) for batch in QlogTrace(path).batches(5))
        except TraceError as error:
            assert "\n" not in str(error)
        else:
            assert rows


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 20), st.integers(0, 20), st.integers(0, 3000))))
def test_against_plain_bookkeeping(tmp_path, steps):
    """Test samples against a literal implementation of RFC 9002, 5.1, which looks at every packet number."""
    events, now, number = [sent(0, 0)], 0.0, 0
    out, times = {0}, {0: 0.0}
    expected = []
    for what, a, b, gap in steps:
        now += gap / 8
        if what < 3:
            number += 1
            out.add(number)
            times[number] = now
            events.append(sent(now, number))
            continue
        low, high = sorted((max(0, number - a), max(0, number - b)))
        events.append(acked(now, [low, high]))
        new = {n for n in out if low <= n <= high}
        out -= new
        if new:
            expected.append(round(now * 1000) - round(times[high] * 1000) if high in new else -1)
    path = tmp_path / "plain.sqlog"
    path.write_bytes(sequence(*events))
    if not expected:
        with pytest.raises(TraceError):
            read_trace(path)
        return
    assert read_trace(path, 7).column("rtt_us") == expected
