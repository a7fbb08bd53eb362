# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Scores a kernel log's predictions against RTTs counted by a slow clock. The samples behind the predictions
do not change: the kernel times each ACK in microseconds."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tcplearn.traces import tlog

Integers = npt.NDArray[np.int64]


def passed(sent_us: Integers, acked_us: Integers, tick_us: int) -> Integers:
    """Return the boundaries of a free-running clock, such as a kernel's jiffies, between sending and ACK. A
    count that begins at one is larger by one."""
    return acked_us // tick_us - sent_us // tick_us


def figures(c: tlog.Connection, tick_ms: float) -> Iterator[tuple[str, float]]:
    """Yield (name, value) of the mean prediction errors of a connection, in ticks of `tick_ms`. The
    connection has two samples or more; each is compared with the prediction just before it."""
    acks = c.timed
    prediction_us = np.concatenate(([0.0], acks["rtt_q8"][:-1] / 256))
    # the first sample has no prediction
    at = np.flatnonzero(acks["rtt_us"] >= 0)[1:]
    tick_us = round(tick_ms * 1000)
    acked_us = acks["time_us"][at].astype(np.int64)
    boundaries = passed(acked_us - acks["rtt_us"][at], acked_us, tick_us)
    predicted = prediction_us[at] / tick_us
    yield "mean_abs_error_count_ticks", float(np.mean(np.abs(predicted - (boundaries + 1))))
    yield "mean_abs_error_count_less_one_ticks", float(np.mean(np.abs(predicted - boundaries)))
