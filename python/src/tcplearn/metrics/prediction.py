# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of RTT samples, and of the errors of predicted RTTs in milliseconds and in clock
ticks."""

from tcplearn.metrics.metric import LAB, NS3, REPLAY, Metric, described

METRICS = (
    Metric(
        "samples",
        (REPLAY, NS3, LAB),
        "number of RTT samples: segments whose ACK gives an RTT (Karn's rule applied)",
        in_row=False,
    ),
    Metric(
        "judged",
        (REPLAY,),
        "1 if a flow has enough samples (`--min-samples`) to be judged, else 0",
        in_row=False,
    ),
    Metric(
        "mean_abs_error_ms",
        (REPLAY, NS3, LAB),
        "mean of |prediction - sample|, with the prediction in force just before the sample, as in the "
        "reproduced papers. It favours estimators that follow the last sample. The first sample of a flow "
        "is not scored",
        heading="error\nmean",
        name="error",
        rank=95,
        ratio=94,
        short="|prediction - sample|, ms",
    ),
    Metric(
        "mean_abs_error_ticks",
        (NS3, LAB),
        "`mean_abs_error_ms` in ticks of the reproduced paper's clock (`tick_ms` in the row's parameters)",
    ),
    *described(
        (NS3,),
        mean_abs_error_by_sample_ticks="mean of |prediction - sample| over the samples of all flows "
        "(`mean_abs_error_ticks` is a mean over flows)",
        mean_abs_error_unrounded_ms="mean of |prediction - RTT|, with the RTT before the clock rounded it "
        "to ticks",
    ),
    *described(
        (NS3, LAB),
        mean_abs_error_count_ticks="for RTTs counted in clock ticks (in ns-3 with a timing `bsd-…`, in the "
        "lab with a clock of `tick_ms` applied to the log): mean of |prediction - count|, where counting "
        "begins at one",
        mean_abs_error_count_less_one_ticks="mean of |prediction - (count - 1)|; count - 1 is the number "
        "of clock ticks in the RTT",
    ),
    *described(
        (NS3,),
        mean_abs_error_time_ticks="for RTTs counted in clock ticks: mean of |prediction - RTT|, with the "
        "RTT not rounded to ticks",
        first_abs_error_ms="|prediction - sample| of a flow's first sample, which is part of no other error",
    ),
    Metric("median_abs_error_ms", (REPLAY,), "median of |prediction - sample|", heading="\nmedian", rank=40),
    Metric(
        "p95_abs_error_ms", (REPLAY,), "95th percentile of |prediction - sample|", heading="\n95 %", rank=60
    ),
    Metric(
        "bias_ms",
        (REPLAY, NS3),
        "mean of prediction - sample; above 0, the predictions are too high on average",
        heading="\nbias",
        rank=35,
        signed=True,
        short="mean of prediction - sample, ms",
    ),
    Metric(
        "at_send_error_ms",
        (REPLAY, NS3, LAB),
        "mean of |prediction - sample|, with the prediction in force when the segment was sent, the one "
        "that a sender could have used",
        heading="error\nat send",
        name="at send",
        rank=80,
        ratio=20,
        short="error of the prediction when the segment was sent",
    ),
)
