# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of retransmission timers: RTOs, excess waits, misses (RTTs above the RTO) and spurious
timeouts."""

from tcplearn.metrics.metric import LAB, NS3, REPLAY, Metric

METRICS = (
    Metric(
        "rto_miss_rate",
        (REPLAY, NS3, LAB),
        "share of samples above the RTO in force when their segment was sent. It is larger than the share of "
        "timeouts, because every ACK restarts the timer",
        heading="RTO\nmiss %",
        name="miss",
        rank=96,
        ratio=50,
        percent=True,
        short="above the RTO at sending, %",
        share_of=("misses", "timed"),
    ),
    Metric(
        "rto_miss_rate_before",
        (REPLAY, LAB),
        "share of samples above the RTO in force just before the sample; a requested miss rate refers to it",
        heading="\nbefore",
        name="miss before",
        rank=88,
        percent=True,
        short="above the RTO just before, as requested, %",
        share_of=("misses_before", "timed_before"),
    ),
    Metric(
        "spurious_timeouts",
        (REPLAY, NS3, LAB),
        "timeouts although the original of the oldest segment in flight arrived (the timer runs as in RFC "
        "6298, section 5). In ns-3 they are counted at the receiver; in replay and in the lab's log they are "
        "those that the timer would have had on the trace's own clock",
        heading="spurious\ntimeouts",
        name="spurious",
        rank=99,
        short="with nothing lost",
    ),
    Metric(
        "spurious_timeouts_tlp",
        (REPLAY, LAB),
        "`spurious_timeouts` of a sender that sends a tail loss probe first (RFC 8985, 7.2 and 7.3)",
        heading="\nwith TLP",
        name="with TLP",
        rank=55,
        short="after a probe, nothing lost",
    ),
    Metric("spurious_probes", (REPLAY, LAB), "upper bound of the number of spurious tail loss probes"),
    Metric(
        "handshakes",
        (REPLAY,),
        "samples of segments that were sent before a flow's first sample, under the initial RTO: mostly "
        "handshakes. They are in no mean of RTOs and in no miss rate",
    ),
    Metric(
        "mean_rto_ms",
        (REPLAY, NS3, LAB),
        "mean over samples of the RTO in force when their segment was sent, without `handshakes`: how long "
        "the repair of a loss would have waited for the timer alone",
        heading="RTO\nmean",
        name="RTO",
        rank=98,
        ratio=70,
        short="mean, ms",
    ),
    Metric(
        "mean_rto_linux_ratio",
        (REPLAY,),
        "`mean_rto_ms` divided by that of `linux` on the same flow",
        heading="\n× linux",
        name="× linux",
        rank=97,
    ),
    Metric("mean_rto_linux_ratio_low", (REPLAY,), "lower end of the 95 % interval of `mean_rto_linux_ratio`"),
    Metric(
        "mean_rto_linux_ratio_high", (REPLAY,), "upper end of the 95 % interval of `mean_rto_linux_ratio`"
    ),
    Metric(
        "excess_wait_ms",
        (REPLAY, LAB),
        "mean over samples of max(RTO - sample, 0), the time by which the RTO exceeds the RTT",
        heading="excess\nwait",
        name="wait",
        rank=45,
        ratio=25,
        short="time by which the RTO exceeds the RTT, ms",
    ),
)
