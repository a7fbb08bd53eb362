# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Decisions of loss classifiers and resend policies, and the fades in which the latter are tried."""

from __future__ import annotations

from tcplearn.metrics.metric import LAB, NS3, Metric

METRICS = (
    Metric("loss_decisions", (LAB,), "fast recoveries whose cause the module decided on"),
    Metric(
        "decision_differences",
        (LAB,),
        "features, probabilities and causes of these that the core, given the logged ACKs, has otherwise",
    ),
    Metric("instructions_per_decision", (LAB,), "instructions of a decision, its features included"),
    Metric("fades", (LAB,), "fades (`[fades]`) that a request was lost in"),
    Metric(
        "median_overrun_ms",
        (LAB,),
        "median of the times from a fade's end to the answer to the request lost in it",
    ),
    Metric(
        "resend_events",
        (LAB,),
        "sendings, timeouts, probes and ACKs that a resend policy answered with a wait",
    ),
    Metric(
        "resend_differences",
        (LAB,),
        "of these, answers that the core, given the logged events, has otherwise",
    ),
    Metric(
        "instructions_per_sending",
        (LAB,),
        "instructions of a resend policy at a sending, a probe or a timeout",
    ),
    Metric("probes", (NS3,), "tail loss probes, of a resend policy"),
    Metric(
        "overruns",
        (NS3,),
        "fades that lost a segment's last sending, so that the timer sent it again after their end",
    ),
)
