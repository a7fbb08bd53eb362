# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Figures of requests on a kept connection (`[transfer.requests]`), and of the policy that timed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tcplearn.traces import tlog_resends

from . import kernel_log

#: Of the slowest: one in so many.
SLOWEST = 50

Figures = Iterator[tuple[str, float]]


def responses_ms(folder: Path) -> npt.NDArray[np.float64]:
    """Every response time of one transfer, in the order of the requests."""
    return np.loadtxt(folder / "requests", dtype=np.float64, usecols=0, ndmin=1) / 1000


def figures(folder: Path, nstat: Mapping[str, float], data_segments: float) -> Figures:
    """`nstat`: what the kernel's counters moved by."""
    times = np.sort(responses_ms(folder))
    p50, p99, p999 = np.percentile(times, (50, 99, 99.9)).tolist()
    yield "requests", float(len(times))
    yield "mean_response_ms", float(times.mean())
    yield "median_response_ms", p50
    yield "p99_response_ms", p99
    yield "p999_response_ms", p999
    yield "slowest_response_ms", float(times[-max(len(times) // SLOWEST, 1) :].mean())
    yield "longest_response_ms", float(times[-1])
    yield "needless_resends_permille", 1000 * nstat.get("TcpExtTCPDSACKRecv", 0.0) / max(data_segments, 1)


def policy_figures(folder: Path, resend: str, module: Mapping[str, float], *, inherited: bool) -> Figures:
    """`module`: what its counters moved by. What was inherited is not in the log, so that the core's answers
    are then not compared."""
    of = kernel_log.parsed(folder / "log").connections.values()
    yield "resend_events", float(sum(len(c.resends) for c in of))
    if not inherited:
        yield "resend_differences", float(sum(tlog_resends.differences(c, resend) for c in of))
    if module["resend_measured"]:
        cycles = module["cycles_resend"] - module["cycles_resend_clock"]
        yield "instructions_per_sending", kernel_log.instructions(cycles, module["resend_measured"])
