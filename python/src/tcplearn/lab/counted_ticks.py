# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Scores the RTT predictions in the kernel module's log as if RTTs were measured in ticks of a slow clock."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tcplearn.traces import tlog

Integers = npt.NDArray[np.int64]


def passed(sent_us: Integers, acked_us: Integers, tick_us: int) -> Integers:
    """Return, for each segment, how many ticks (of `tick_us`) of a free-running clock lie between its sending
    at `sent_us` and its ACK at `acked_us`."""
    return acked_us // tick_us - sent_us // tick_us


def figures(c: tlog.Connection, tick_ms: float) -> Iterator[tuple[str, float]]:
    """Yield two pairs (metric, value) for the connection `c`: mean absolute errors of the RTT predictions in
    clock ticks of `tick_ms`. In the first metric the RTT counts as one more than the number of clock ticks in
    it, in the second as this number."""
    acks = c.timed
    prediction_us = np.concatenate(([0.0], acks["rtt_q8"][:-1] / 256))
    at = np.flatnonzero(acks["rtt_us"] >= 0)[1:]  # the first sample has no prediction before it
    tick_us = round(tick_ms * 1000)
    acked_us = acks["time_us"][at].astype(np.int64)
    boundaries = passed(acked_us - acks["rtt_us"][at], acked_us, tick_us)
    predicted = prediction_us[at] / tick_us
    yield "mean_abs_error_count_ticks", float(np.mean(np.abs(predicted - (boundaries + 1))))
    yield "mean_abs_error_count_less_one_ticks", float(np.mean(np.abs(predicted - boundaries)))
