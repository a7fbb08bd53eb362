# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of flows: decisions on losses and resends, fades (periods in which a path delivers
nothing), bursts, timeouts, queue lengths, and how many flows finished or gave up."""

from tcplearn.metrics.metric import LAB, NS3, REPLAY, Metric, described

METRICS = (
    *described(
        (LAB,),
        loss_decisions="fast recoveries whose cause the kernel module decided",
        decision_differences="features, probabilities and causes of `loss_decisions` that differ from "
        "those of the C core for the logged ACKs",
        instructions_per_decision="CPU instructions of a loss decision, including its features",
        fades="fades (periods of losses, `[fades]`) in which a request was lost",
        median_overrun_ms="median time from the end of a fade (a period of losses) to the answer to the "
        "request lost in it",
        resend_events="transmissions, timeouts, probes and ACKs after which a resend policy set a wait",
        resend_differences="events of `resend_events` for which the C core gives another wait",
        instructions_per_sending="CPU instructions of a resend policy at a transmission, a probe or a "
        "timeout",
    ),
    *described(
        (NS3,),
        probes="tail loss probes that a resend policy sent",
        overruns="fades that lost a segment's last transmission, so that the timer sent it again after "
        "their end",
    ),
    *described(
        (LAB,),
        burst_mean_ms="mean time of a burst (`[transfer.repeat]`), from its first write until all of it is "
        "acknowledged; bursts after a longer pause are left out",
        burst_max_ms="longest time of a burst, without those after a longer pause",
        burst_after_pause_ms="mean time of the bursts (`[transfer.repeat]`) after a longer pause",
        cwnd_after_pause_segments="mean congestion window at the first write after a longer pause",
        duration_s="time from the connection's beginning to its last byte",
    ),
    *described(
        (NS3,),
        timeouts="retransmission timeouts with data in flight",
        needless_timeouts="timeouts after which an earlier copy of the segment arrived, such as that of a "
        "fast retransmission",
        syn_retransmissions="SYNs sent again",
        mean_queue_bytes="mean queue length of the bottleneck, or over all radios, measured each second",
    ),
    Metric("flows", (REPLAY, NS3), "flows that started; in a study the flows that were judged", in_row=False),
    *described(
        (NS3,),
        flows_finished="flows that delivered all their data",
        flows_running="flows still sending at the end",
        flows_connecting="flows still without an answer to their SYN at the end",
        flows_died="flows that gave up (there should be none)",
    ),
)
