# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of what an ns-3 run costs, and those from the Linux kernel and tcplearn's kernel
module: timers, instructions per ACK, and counters."""

from tcplearn.metrics.metric import LAB, NS3, Family, described

METRICS = (
    *described(
        (NS3,),
        cpu_s="CPU time of the run",
        events="number of events of the simulator",
        peak_mib="largest memory use of the run",
    ),
    *described(
        (LAB,),
        mean_stock_rto_ms="`mean_rto_ms` of the kernel's own timer over the same samples",
        log_records_lost="ACKs for which the kernel module's log had no room",
        replay_differences="ACKs after which the kernel module's prediction or RTO differs in any bit from "
        "that of the C core",
        armed_ours_share="timers armed with the kernel module's RTO, divided by all armed timers",
        armed_ours_at_once_share="`armed_ours_share` without timers that were armed late, after a probe or "
        "a zero window",
        instructions_per_ack="CPU instructions of the estimator and its congestion control for each ACK",
        instructions_per_ack_base="CPU instructions of the congestion control alone for each ACK",
    ),
)

FAMILIES = (
    Family("nstat.", (LAB,), "the kernel's counter of that name (`nstat`), over the transfer"),
    Family("module.", (LAB,), "the kernel module's counter of that name, over the transfer"),
    Family("ss.", (LAB,), "the field of that name, as `ss -ti` shows it at the transfer's end"),
    Family("nginx.", (LAB,), "the field of that name, as the transfer by nginx and curl reports it"),
    Family("iperf3.", (LAB,), "the field of that name, as iperf3 reports it"),
)
