# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics from the Linux kernel and tcplearn's kernel module: timers, instructions per ACK, and
counters."""

from tcplearn.metrics.metric import LAB, Family, Metric

METRICS = (
    Metric("mean_stock_rto_ms", (LAB,), "`mean_rto_ms` of the kernel's own timer over the same samples"),
    Metric("log_records_lost", (LAB,), "ACKs for which the kernel module's log had no room"),
    Metric(
        "replay_differences",
        (LAB,),
        "ACKs after which the kernel module's prediction or RTO differs in any bit from that of the C core",
    ),
    Metric(
        "armed_ours_share",
        (LAB,),
        "timers armed with the kernel module's RTO, divided by all armed timers",
    ),
    Metric(
        "armed_ours_at_once_share",
        (LAB,),
        "`armed_ours_share` without timers that were armed late, after a probe or a zero window",
    ),
    Metric(
        "instructions_per_ack",
        (LAB,),
        "CPU instructions of the estimator and its congestion control for each ACK",
    ),
    Metric(
        "instructions_per_ack_base", (LAB,), "CPU instructions of the congestion control alone for each ACK"
    ),
)

FAMILIES = (
    Family("nstat.", (LAB,), "the kernel's counter of that name (`nstat`), over the transfer"),
    Family("module.", (LAB,), "the kernel module's counter of that name, over the transfer"),
    Family("ss.", (LAB,), "the field of that name, as `ss -ti` shows it at the transfer's end"),
    Family("nginx.", (LAB,), "the field of that name, as the transfer by nginx and curl reports it"),
    Family("iperf3.", (LAB,), "the field of that name, as iperf3 reports it"),
)
