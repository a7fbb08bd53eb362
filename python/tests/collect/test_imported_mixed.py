# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the import of the output of several runs that is cut anywhere and mixed: every row must be right, or
the file is refused."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcplearn.collect import imported
from tcplearn.errors import UserError

TIMES_MS = st.lists(st.integers(1, 9999).map(lambda tenths: tenths / 10), max_size=4)


class Ping:
    """Holds the text that one run of hping3 prints to standard output and standard error, and its expected
    row."""

    def __init__(self, number: int, times_ms: Sequence[float], lost: int, verbose: bool) -> None:
        self.address = f"192.0.2.{number}"
        self.host = f"host{number}.example"
        head = "using eth0, addr: 198.51.100.4, MTU: 1500\n" * verbose
        head += f"HPING {self.host} (eth0 {self.address}): S set, 40 headers + 0 data bytes\n"
        self.output = head + "".join(self._answer(k, ms, verbose) for k, ms in enumerate(times_ms))
        least, most = min(times_ms, default=0.0), max(times_ms, default=0.0)
        mean = sum(times_ms) / max(len(times_ms), 1)
        self.errors = [
            f"\n--- {self.host} hping statistic ---\n",
            f"{len(times_ms) + lost} packets transmitted, {len(times_ms)} packets received, 9% packet loss\n",
            f"round-trip min/avg/max = {least:.1f}/{mean:.1f}/{most:.1f} ms\n",
        ]
        self.row = (
            self.host,
            " ".join(str(round(ms * 1000)) for ms in times_ms),
            len(times_ms),
            len(times_ms) + lost,
            "open" if times_ms else "silent",
        )

    def _answer(self, k: int, ms: float, verbose: bool) -> str:
        first, second = (
            f"len=44 ip={self.address} ttl=54 DF id=0 ",
            f"sport=80 flags=SA seq={k} win=9 rtt={ms} ms\n",
        )
        if not verbose:
            return first + second
        return f"{first}tos=0 iplen=44\n{second}seq={k}7 ack={k}9 sum=e8f6 urp=0\n\n"


PINGS = st.lists(st.tuples(TIMES_MS, st.integers(0, 2), st.booleans()), min_size=1, max_size=4).map(
    lambda runs: [Ping(k, *run) for k, run in enumerate(runs, 1)]
)


def rows(text: str) -> dict[str, tuple[str, str, int, int | None, str]]:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "x.log"
        log.write_text(text)
        found = imported.read([log])
    return {row.address: (row.host, row.rtts_us, row.samples, row.sent, row.state) for row in found}


@settings(max_examples=40, deadline=None)
@given(pings=PINGS, data=st.data())
def test_one_after_another(pings: list[Ping], data: st.DataObject) -> None:
    """Test runs one after another whose statistics appear anywhere among the answers, even within a line."""
    text = ""
    for ping in pings:
        at = data.draw(st.integers(0, len(ping.output)))
        text += ping.output[:at] + "".join(ping.errors) + ping.output[at:]
    assert rows(text) == {ping.address: ping.row for ping in pings}


@settings(max_examples=80, deadline=None)
@given(pings=PINGS, data=st.data())
def test_side_by_side(pings: list[Ping], data: st.DataObject) -> None:
    """Test runs side by side. Each writes pieces that end anywhere or at line ends; all pieces are
    shuffled."""
    streams: list[list[str]] = []
    lines = data.draw(st.booleans())
    for ping in pings:
        ends = [at + 1 for at, c in enumerate(ping.output) if c == "\n"] if lines else range(len(ping.output))
        cuts = sorted({0, len(ping.output), *data.draw(st.lists(st.sampled_from(list(ends)), max_size=3))})
        streams.append([ping.output[a:b] for a, b in itertools.pairwise(cuts)])
        streams.append(ping.errors)
    text = ""
    while streams:
        stream = data.draw(st.sampled_from(streams))
        text += stream[0]
        streams = [[*other[1:]] if other is stream else other for other in streams]
        streams = [other for other in streams if other]
    try:
        found = rows(text)
    except UserError:
        return
    assert found == {ping.address: ping.row for ping in pings}


class Trace:
    """Holds the text of one run of traceroute, in the pieces that traceroute writes at once, and the expected
    row."""

    def __init__(self, number: int, hops: int, probes: int) -> None:
        self.address = f"192.0.2.{number}"
        self.hops = hops
        self.pieces = [f"traceroute to {self.address} ({self.address}), 30 hops max, 60 byte packets"]
        for hop in range(1, hops + 2):
            address = self.address if hop > hops else f"198.51.100.{hop}"
            for probe in range(probes):
                time = f"  {number}.{hop}{probe}0 ms"
                self.pieces.append(time if probe else f"\n{hop:2}  {address}{time}")
        self.pieces.append("\n")
        self.rtts_us = " ".join(str(number * 1000 + (hops + 1) * 100 + k * 10) for k in range(probes))


TRACES = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), min_size=2, max_size=3).map(
    lambda runs: [Trace(k, *run) for k, run in enumerate(runs, 1)]
)


@settings(max_examples=80, deadline=None)
@given(traces=TRACES, data=st.data())
def test_traces_side_by_side(traces: list[Trace], data: st.DataObject) -> None:
    left, text = [list(trace.pieces) for trace in traces], ""
    while left:
        stream = data.draw(st.sampled_from(left))
        for _ in range(data.draw(st.integers(1, 8))):
            text += stream.pop(0) if stream else ""
        left = [other for other in left if other]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "x.log"
        log.write_text(text)
        try:
            found = imported.read([log])
        except UserError:
            return
    said = {row.address: (row.rtts_us, row.hops) for row in found}
    assert said == {trace.address: (trace.rtts_us, trace.hops) for trace in traces}


@pytest.mark.parametrize("size", [0, 1, 100, 4095, 4096, 5000])
def test_a_buffer_that_is_written_when_it_is_full(size: int) -> None:
    ping = Ping(1, [k / 10 for k in range(1, 100)], 0, verbose=False)
    text = ping.output[:size] + "".join(ping.errors) + ping.output[size:]
    assert rows(text) == {ping.address: ping.row}
