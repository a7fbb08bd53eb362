# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of loss classifiers, resend policies, and fades (periods in which a path delivers
nothing)."""

from tcplearn.metrics.metric import LAB, NS3, Metric

METRICS = (
    Metric("loss_decisions", (LAB,), "fast recoveries whose cause the kernel module decided"),
    Metric(
        "decision_differences",
        (LAB,),
        "features, probabilities and causes of `loss_decisions` that differ from those of the C core for the "
        "logged ACKs",
    ),
    Metric(
        "instructions_per_decision", (LAB,), "CPU instructions of a loss decision, including its features"
    ),
    Metric("fades", (LAB,), "fades (periods of losses, `[fades]`) in which a request was lost"),
    Metric(
        "median_overrun_ms",
        (LAB,),
        "median time from the end of a fade (a period of losses) to the answer to the request lost in it",
    ),
    Metric(
        "resend_events",
        (LAB,),
        "transmissions, timeouts, probes and ACKs after which a resend policy set a wait",
    ),
    Metric(
        "resend_differences",
        (LAB,),
        "events of `resend_events` for which the C core gives another wait",
    ),
    Metric(
        "instructions_per_sending",
        (LAB,),
        "CPU instructions of a resend policy at a transmission, a probe or a timeout",
    ),
    Metric("probes", (NS3,), "tail loss probes that a resend policy sent"),
    Metric(
        "overruns",
        (NS3,),
        "fades that lost a segment's last transmission, so that the timer sent it again after their end",
    ),
)
