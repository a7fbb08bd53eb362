# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of what an ns-3 run costs: CPU time, events and memory."""

from tcplearn.metrics.metric import NS3, Metric

METRICS = (
    Metric("cpu_s", (NS3,), "CPU time of the run"),
    Metric("events", (NS3,), "number of events of the simulator"),
    Metric("peak_mib", (NS3,), "largest memory use of the run"),
)
