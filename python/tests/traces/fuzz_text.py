#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tests the readers that are written in Python on arbitrary bytes: they must give rows that meet the
guarantees of all readers, or a TraceError of one line.

    python3 fuzz_text.py FORMAT [libFuzzer's options] CORPUS SEEDS
    python3 fuzz_text.py FORMAT --seeds DIRECTORY        writes the seeds of a format

The inputs that once failed are in test_trace_fuzzed.py."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parent)]

FORMATS = ("csv", "flent", "kernel-log", "mlab", "numbers", "ping", "qlog", "ss", "any")


def seeds() -> dict[str, list[bytes]]:
    """Return the inputs that the tests of each reader use."""
    import qlog_logs as qlog
    import test_trace_flent as flent
    import test_trace_ping as ping
    import test_trace_readings as readings
    import test_trace_tlog as tlog

    listings = readings.listing(
        (readings.A, readings.info("10.5/2", 100)), (readings.B, readings.info("20/1", 5, 9))
    )
    pings = (
        ping.BUSYBOX,
        ping.MACOS,
        ping.MACOS_V6,
        ping.LINUX_V6,
        ping.GERMAN,
        ping.WINDOWS,
        ping.FPING,
        ping.FPING_ALL,
        ping.HPING,
    )
    found = {
        "csv": [
            b"t_s,rtt_ms,is_rtx\n0,40,0\n1,50,1\n2,60,0\n",
            b"flow,sent_ms,rtt_ms,ttl\na,0,40,64\nb,10,10,64\na,30,10,1\n",
            b't_us;sent_us\n40;"0"\n55;10\n',
            b"\xef\xbb\xbfrtt_ns\r\n5e6\r\n\r\n6e6",
        ],
        "flent": [flent.flent(x_values=[0, 0.2, 0.4], results=flent.results(), raw_values=flent.raw())],
        "kernel-log": [b"".join(tlog.a_log(5)), tlog.a_log(2)[0] + b"junk" + b"".join(tlog.a_log(3)[2:])],
        "mlab": [
            readings.lines({"Metadata": {"UUID": "u"}, "Snapshots": readings.log()}),
            readings.lines({"Metadata": {"UUID": "u"}}, *(readings.raw(*at) for at in readings.SERIES)),
            readings.lines(readings.ndt7()),
        ],
        "numbers": [b"10\n20.5\n5e0\n", b"# ms\n1 2\t3 nan -\n"],
        "ping": [
            ping.IPUTILS,
            *(ping.text(body) for body in pings),
            b"[1644854958.4] " + ping.text(ping.FPING),
        ],
        "qlog": [qlog.sequence(*qlog.EXCHANGE), qlog.contained(*qlog.EXCHANGE)],
        "ss": [(listings * 2).encode(), f"1700000000.5\n{listings}1700000001.5 {listings}".encode()],
    }
    found["any"] = [seed for of in found.values() for seed in of]
    return found


def reader(kind: str) -> Callable[[Any], Any]:
    """Return the function that opens a file as the format `kind`."""
    from tcplearn import traces
    from tcplearn.traces import TraceOptions, formats

    options = TraceOptions()
    return {
        "csv": formats.CsvTrace,
        "flent": formats.FlentTrace,
        "kernel-log": formats.TlogTrace,
        "mlab": formats.MlabTrace,
        "numbers": lambda file: formats.NumbersTrace(file, options),
        "ping": lambda file: formats.PingTrace(file, options),
        "qlog": formats.QlogTrace,
        "ss": formats.SsTrace,
        "any": lambda file: traces.open_trace(file.path),
    }[kind]


def check(trace: Any) -> None:
    """Read a trace to its end and check the properties that all traces must have."""
    import numpy as np

    from tcplearn.traces.schema import COLUMNS

    last_us: dict[int, int] = {}
    over: set[int] = set()
    for batch in trace.batches(7):
        assert all(batch[name].dtype == kind for name, kind in COLUMNS.items())
        assert len(batch["time_us"]) <= 7
        sampled = batch["no_sample"] == 0
        assert np.all(batch["rtt_us"][sampled] >= 0) and np.all(batch["rtt_us"][~sampled] == -1)
        assert np.all((batch["time_us"] - batch["sent_us"] == batch["rtt_us"])[sampled])
        assert np.all(batch["armed_us"] <= batch["time_us"])
        assert np.all(batch["head_sent_us"] <= batch["time_us"])
        assert np.all(batch["flight_segments"] >= 1)
        for flow, time_us in zip(batch["flow"].tolist(), batch["time_us"].tolist(), strict=True):
            assert flow not in over and time_us >= last_us.get(flow, time_us)
            last_us[flow] = time_us
        for flow in batch["ended"].tolist():
            assert flow not in over
            over.add(flow)
            name = trace.flow(flow)["name"]
            assert name.isprintable() and name.encode() and len(name) <= 200
            trace.release(flow)
    assert last_us.keys() <= over
    for line in trace.warnings:
        assert "\n" not in line and len(line) < 2000


def target(kind: str) -> Callable[[bytes], None]:
    from tcplearn.traces import TraceError
    from tcplearn.traces.base import TraceFile

    handle = os.memfd_create("fuzz")
    file = TraceFile(Path(f"/proc/self/fd/{handle}"), "fuzz")
    opened = reader(kind)

    def one(data: bytes) -> None:
        os.ftruncate(handle, 0)
        os.pwrite(handle, data, 0)
        try:
            check(opened(file))
        except TraceError as error:
            assert str(error).isprintable(), error
            assert len(str(error)) < 2000, error

    return one


def main(kind: str, arguments: list[str]) -> None:
    if arguments[:1] == ["--seeds"]:
        directory = Path(arguments[1])
        directory.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds()[kind]):
            (directory / f"{kind}-{number}").write_bytes(seed)
        return
    import atheris

    importlib.import_module("tcplearn._native")
    # an editable installation imports by its own means, which cannot be instrumented
    sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
    with atheris.instrument_imports(include=["tcplearn"]):
        one = target(kind)
    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
