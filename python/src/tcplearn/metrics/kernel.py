# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The kernel and its module: the stock timer, the log, armed timers, instructions; and counters passed on."""

from __future__ import annotations

from tcplearn.metrics.metric import LAB, Family, Metric

METRICS = (
    Metric("mean_stock_rto_ms", (LAB,), "`mean_rto_ms` of the kernel's own timer over the same samples"),
    Metric("log_records_lost", (LAB,), "ACKs that the module's log had no room for"),
    Metric(
        "replay_differences",
        (LAB,),
        "answers of the kernel that the core, given the same samples, does not give to the bit",
    ),
    Metric("armed_ours_share", (LAB,), "timers armed with the module's RTO, over all armed"),
    Metric(
        "armed_ours_at_once_share",
        (LAB,),
        "the same without those armed late, after a probe or a zero window",
    ),
    Metric("instructions_per_ack", (LAB,), "instructions of the estimator and its congestion control an ACK"),
    Metric("instructions_per_ack_base", (LAB,), "of these, the congestion control's own"),
)

#: By what their keys begin with.
FAMILIES = (
    Family("nstat.", (LAB,), "the kernel's counter of that name (`nstat`), over the transfer"),
    Family("module.", (LAB,), "the module's counter of that name, over the transfer"),
    Family("ss.", (LAB,), "as `ss -ti` shows it at the transfer's end"),
    Family("nginx.", (LAB,), "as the transfer by nginx and curl reports it"),
    Family("iperf3.", (LAB,), "as iperf3 reports it"),
)
