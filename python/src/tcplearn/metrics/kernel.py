# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Metrics from the Linux kernel and tcplearn's module in the lab: timers, log, instructions and counters."""

from tcplearn.metrics.metric import LAB, Family, Metric

METRICS = (
    Metric("mean_stock_rto_ms", (LAB,), "`mean_rto_ms` of the kernel's own timer over the same samples"),
    Metric("log_records_lost", (LAB,), "ACKs that the module's log had no room for"),
    Metric(
        "replay_differences",
        (LAB,),
        "answers of the kernel that differ in any bit from the core's for the same samples",
    ),
    Metric("armed_ours_share", (LAB,), "timers armed with the module's RTO, over all armed timers"),
    Metric(
        "armed_ours_at_once_share",
        (LAB,),
        "the same without timers that were armed late, after a probe or a zero window",
    ),
    Metric(
        "instructions_per_ack",
        (LAB,),
        "instructions of the estimator and its congestion control for each ACK",
    ),
    Metric("instructions_per_ack_base", (LAB,), "the congestion control's own instructions among these"),
)

FAMILIES = (
    Family("nstat.", (LAB,), "the kernel's counter of that name (`nstat`), over the transfer"),
    Family("module.", (LAB,), "the module's counter of that name, over the transfer"),
    Family("ss.", (LAB,), "the field of that name, as `ss -ti` shows it at the transfer's end"),
    Family("nginx.", (LAB,), "the field of that name, as the transfer by nginx and curl reports it"),
    Family("iperf3.", (LAB,), "the field of that name, as iperf3 reports it"),
)
