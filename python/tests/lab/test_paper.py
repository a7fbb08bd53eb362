# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test a summary of rows, and the prediction errors in ticks of a clock that counts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tcplearn.lab import kernel_log, table
from tcplearn.output.rows import Head, tidy
from tcplearn.traces import tlog, tlog_records

PARAMETERS = {"tlp": False, "bytes": 1, "kernel": "6.1"}


def rows() -> list[table.Row]:
    made: list[table.Row] = []
    for run in ("a", "b"):
        for algorithm, error in (("reno+stock", 2.0), ("reno+experts/nunes2014-linux", 1.0)):
            ticks = error + (run == "b")
            figures = {
                "duration_s": 9.0,
                "mean_abs_error_ticks": ticks,
                "mean_abs_error_count_ticks": ticks + 0.5,
                "retransmitted_packets": 7.0,
                "nstat.TcpExtTCPTimeouts": 3.0,
            }
            if run == "b":
                del figures["nstat.TcpExtTCPTimeouts"]  # a counter that did not move has no row
            head = Head(
                host="lab", algorithm=algorithm, run=run, seed=1, parameters=PARAMETERS, commit="0abc"
            )
            made += tidy(head, figures)
    return made


def test_a_counter_without_a_row_is_zero() -> None:
    found = table.summary(rows())[("reno+stock", json.dumps(PARAMETERS, sort_keys=True))]
    assert found["nstat.TcpExtTCPTimeouts"][0] == 1.5
    assert found["mean_abs_error_ticks"] == (2.5, 0.5**0.5, 2)


def test_boundaries_are_counted_from_sending_to_the_ack() -> None:
    sent = np.array([0, 3_999, 4_000, 4_001, 7_999])
    acked = np.array([3_999, 4_000, 11_999, 12_000, 8_000])
    assert kernel_log.ticks_passed(sent, acked, 4_000).tolist() == [0, 1, 1, 2, 1]


def test_three_scores_of_a_constant_rtt_in_closed_form() -> None:
    """Test RTTs of 0.75 ticks at every phase that are predicted exactly: 1 tick boundary passes in 3 of 4
    cases, otherwise none."""
    tick_us, rtt_us = 4_000, 3_000
    acks = np.zeros(1 + tick_us, tlog_records.ACK_RECORD)
    acks["time_us"] = np.arange(len(acks)) + 10**9
    acks["rtt_us"], acks["rtt_q8"] = rtt_us, rtt_us * 256
    found = dict(kernel_log.counted_ticks(tlog.Connection(0, acks), 4.0))
    assert found["mean_abs_error_count_ticks"] == pytest.approx(0.25 * 0.25 + 0.75 * 1.25)
    assert found["mean_abs_error_count_less_one_ticks"] == pytest.approx(0.25 * 0.75 + 0.75 * 0.25)
