# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Scores the RTT predictions in the kernel module's log against RTTs counted in ticks of a slow clock.
The predictions themselves come from the kernel's RTT samples, which have microsecond resolution."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tcplearn.traces import tlog

Integers = npt.NDArray[np.int64]


def passed(sent_us: Integers, acked_us: Integers, tick_us: int) -> Integers:
    """Return, for each segment, the number of ticks of a free-running clock (such as jiffies) between
    sending and ACK. `sent_us` and `acked_us` are times in us, `tick_us` is the clock's period. A program
    that begins to count at one gets a number that is larger by one."""
    return acked_us // tick_us - sent_us // tick_us


def figures(c: tlog.Connection, tick_ms: float) -> Iterator[tuple[str, float]]:
    """Yield (metric, value) of the mean absolute prediction errors of connection `c`, in ticks of
    `tick_ms`: once with tick counts that begin at one, once with counts that begin at zero. `c` must have
    at least two RTT samples; each is compared with the prediction made just before it."""
    acks = c.timed
    prediction_us = np.concatenate(([0.0], acks["rtt_q8"][:-1] / 256))
    # the first sample has no prediction before it
    at = np.flatnonzero(acks["rtt_us"] >= 0)[1:]
    tick_us = round(tick_ms * 1000)
    acked_us = acks["time_us"][at].astype(np.int64)
    boundaries = passed(acked_us - acks["rtt_us"][at], acked_us, tick_us)
    predicted = prediction_us[at] / tick_us
    yield "mean_abs_error_count_ticks", float(np.mean(np.abs(predicted - (boundaries + 1))))
    yield "mean_abs_error_count_less_one_ticks", float(np.mean(np.abs(predicted - boundaries)))
