# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Metrics of loss classifiers, resend policies, and fades (periods in which a path delivers nothing)."""

from tcplearn.metrics.metric import LAB, NS3, Metric

METRICS = (
    Metric("loss_decisions", (LAB,), "fast recoveries whose cause the module decided on"),
    Metric(
        "decision_differences",
        (LAB,),
        "features, probabilities and causes of these decisions that differ from the core's for the logged "
        "ACKs",
    ),
    Metric("instructions_per_decision", (LAB,), "instructions of a decision, its features included"),
    Metric("fades", (LAB,), "fades (`[fades]`) in which a request was lost"),
    Metric(
        "median_overrun_ms",
        (LAB,),
        "median of the times from a fade's end to the answer to the request lost in it",
    ),
    Metric(
        "resend_events",
        (LAB,),
        "transmissions, timeouts, probes and ACKs that a resend policy answered with a wait",
    ),
    Metric(
        "resend_differences",
        (LAB,),
        "answers among these that differ from the core's for the logged events",
    ),
    Metric(
        "instructions_per_sending",
        (LAB,),
        "instructions of a resend policy at a transmission, a probe or a timeout",
    ),
    Metric("probes", (NS3,), "tail loss probes, of a resend policy"),
    Metric(
        "overruns",
        (NS3,),
        "fades that lost a segment's last transmission, so that the timer sent it again after their end",
    ),
)
