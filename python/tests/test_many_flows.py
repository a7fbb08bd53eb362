# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test CSV files of many flows that all end with the file: the memory per flow, the derived columns against a
simple implementation, and the time until an interrupt ends the work."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tcplearn import _native
from tcplearn.traces import csv as csv_module
from tcplearn.traces import open_trace, schema
from tcplearn.traces.base import ByteStream, Reason
from tcplearn.traces.many_flows import MOST_ARRIVALS
from tcplearn.traces.samples import SampleFlow
from test_short_flows import REPLAY, peak_mb

SOME = ("linux", "tracking")
FEW, MANY = 1_000, 8_000
#: What a flow of three rows may take, with its part of a chunk of text; a state of every estimator takes 10.
MOST_FLOW_KB = 3
#: Processor time after an interrupt, over that before it, which is 0.10 to 0.14 where it takes 0.9 s. To free
#: the states of every estimator for 120,000 flows took 0.5 s.
MOST_TO_END = 0.3


@dataclass
class PlainFlow:
    """Implements `ManyFlows.columns` in a simple way, for one flow."""

    id: int
    last_us: int | None = None
    head_us: int | None = None
    arrivals: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def columns(
        self, time_us: NDArray[np.int64], rtt_us: NDArray[np.int64], resent: NDArray[np.bool_]
    ) -> schema.Columns:
        """Return the columns of rows in order of arrival; `rtt_us` of a `resent` row is not used."""
        count = len(time_us)
        sample = ~resent
        sent_us = np.where(sample, time_us - rtt_us, time_us)

        before = np.empty(count, np.int64)
        before[0] = sent_us[0] if self.last_us is None else self.last_us
        before[1:] = time_us[:-1]

        # Rows may arrive in another order than they were sent; the oldest segment out never gets younger.
        head_us = np.where(sample, sent_us, np.iinfo(np.int64).min)
        if self.head_us is not None:
            head_us[0] = max(int(head_us[0]), self.head_us)
        elif not sample[0]:
            head_us[0] = before[0]
        head_us = np.minimum(np.maximum.accumulate(head_us), time_us)

        # Samples that arrived after this one's sending, including itself, were on the way with it.
        arrivals = np.concatenate((self.arrivals, time_us[sample]))
        position = len(self.arrivals) + np.cumsum(sample)
        flight = position - np.searchsorted(arrivals, sent_us, side="right")
        flight = np.where(sample, np.maximum(flight, 1), 1)

        self.arrivals = arrivals[-MOST_ARRIVALS:]
        self.last_us = int(time_us[-1])
        self.head_us = int(head_us[-1])
        return schema.filled(
            {
                "time_us": time_us,
                "sent_us": np.where(sample, sent_us, -1),
                "rtt_us": np.where(sample, rtt_us, -1),
                "armed_us": np.where(sample, np.maximum(before, sent_us), before),
                "head_sent_us": head_us,
                "flow": np.full(count, self.id),
                "flight_segments": flight,
                "retransmitted": resent,
                "no_sample": np.where(sample, Reason.NONE, Reason.RETRANSMITTED),
            }
        )


def interleaved(path: Path, flows: int, rows: int = 3) -> Path:
    """Write the first row of every flow, then the second of each, and so on."""
    lines = (f"f{i % flows},{i / 1000:.3f},{20 + i * 7919 % 13}\n" for i in range(flows * rows))
    path.write_text("flow,t_s,rtt_ms\n" + "".join(lines))
    return path


@pytest.mark.parametrize("suite", [False, True])
def test_a_flow_takes_little_memory(tmp_path: Path, suite: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    peaks = []
    for flows in (FEW, MANY):
        folder = tmp_path / str(flows)
        folder.mkdir()
        trace = interleaved(folder / "a.csv", flows)
        if suite:  # in this process, so that the peak is its own
            (folder / "long.csv").write_text("rtt_ms\n" + "".join(f"{20 + i % 7}\n" for i in range(600)))
            peaks.append(peak_mb(folder, ["--jobs", "1", "-e", "linux"], "suite"))
        else:
            peaks.append(peak_mb(trace, []))
    less, more = peaks
    assert (more - less) * 1024 / (MANY - FEW) < MOST_FLOW_KB


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_ends_it_soon(tmp_path: Path) -> None:
    """Test the processor time after an interrupt, which other work on the machine does not change."""
    trace = interleaved(tmp_path / "many.csv", 200_000, 1)
    run = subprocess.Popen([*REPLAY, trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while read_so_far(run.pid, trace) < trace.stat().st_size:
        assert run.poll() is None
        time.sleep(0.02)
    before_s = processor_s(run.pid)
    run.send_signal(signal.SIGINT)
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    assert run.communicate() == ("", "tcplearn: stopped\n") and run.returncode == 130
    assert used.ru_utime + used.ru_stime - before_s < MOST_TO_END * before_s


def read_so_far(pid: int, trace: Path) -> int:
    """Return how many bytes of the file `trace` process `pid` has read."""
    for open_file in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            if open_file.readlink() == trace.resolve():
                return int(Path(f"/proc/{pid}/fdinfo/{open_file.name}").read_text().split()[1])
    return 0


def processor_s(pid: int) -> float:
    """Return the processor time that process `pid` has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rows_of(seed: int, by_sending: bool) -> list[tuple[str, int, int, bool]]:
    """Return rows of name, time, RTT and whether the packet was resent. Three flows have many rows each; all
    other flows have one row each."""
    chance, now = random.Random(seed), 0
    out = []
    for i in range(600):
        now += chance.choice((0, 1, 1000, 30_000))
        name = chance.choice(("a", "b", "c", f"once{i}"))
        rtt_us = round(chance.lognormvariate(10, 1.5)) + 1
        out.append((name, now, rtt_us, not by_sending and chance.random() < 0.1))
    return out


@pytest.mark.parametrize("by_sending", [False, True])
@pytest.mark.parametrize("chunk", [200, 1 << 20])
def test_columns_are_those_of_each_flow_alone(
    tmp_path: Path, chunk: int, by_sending: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_module, "_CHUNK_BYTES", chunk)
    monkeypatch.setattr(ByteStream, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(csv_module, "_ENDED", 100)
    rows = rows_of(chunk, by_sending)
    path = tmp_path / "rows.csv"
    head = "flow,sent_us,rtt_us,is_rtx" if by_sending else "flow,t_us,rtt_us,is_rtx"
    path.write_text("\n".join([head, *(f"{n},{t},{r},{int(x)}" for n, t, r, x in rows)]) + "\n")
    trace = open_trace(path)
    found: dict[int, list[schema.Columns]] = {}
    names, ended = {}, []
    for batch in trace.batches():
        for flow in np.unique(batch["flow"]).tolist():
            found.setdefault(flow, []).append(schema.taken(batch, np.flatnonzero(batch["flow"] == flow)))
        for flow in batch["ended"].tolist():
            names[flow] = trace.flow(flow)["name"]
            ended.append(flow)
            trace.release(flow)
    assert ended == sorted(found) and list(names.values()) == list(dict.fromkeys(name for name, *_ in rows))
    first_us = rows[0][1]
    for flow, pieces in found.items():
        own = [(t - first_us + r * by_sending, r, x) for name, t, r, x in rows if name == names[flow]]
        time_us, rtt_us, resent = np.array(sorted(own, key=lambda o: o[0])).T
        twin = PlainFlow(flow).columns(time_us, rtt_us, resent != 0)
        for name, column in schema.joined(pieces).items():
            assert column.tolist() == twin[name].tolist(), name


def test_early_rows_are_replayed_as_they_came() -> None:
    """Test that the figures of a flow depend neither on the ends of batches nor on a request for them before
    its end."""
    rows = 200
    rtt_us = np.random.default_rng(1).integers(10_000, 60_000, rows)
    time_us = np.cumsum(rtt_us)
    for length in (1, 63, 64, 65, rows):
        whole, parts = (_native.ReplayEngine([(name, "double", {}) for name in SOME]) for _ in range(2))
        batch = SampleFlow(7, "").columns(time_us[:length], rtt_us[:length], np.zeros(length, np.bool_))
        whole.feed(batch)
        for start in range(0, length, 10):
            parts.feed({name: column[start : start + 10] for name, column in batch.items()})
            so_far, sums = parts.so_far(7), parts.sums(7) if start == 150 else None
            assert so_far and so_far.samples == min(start + 10, length) and (sums is None or len(sums) == 2)
        one, other = whole.finish(7), parts.finish(7)
        assert one and other
        assert one.metrics() == other.metrics() and one.sums() == other.sums()
        assert one.digest == other.digest == _native.samples_digest(batch["time_us"], batch["rtt_us"])
        assert parts.finish(7) is None
