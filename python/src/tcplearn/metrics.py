# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Every metric once: its key, unit, meaning and heading. All hosts' rows take their names from here.

A key ends in its unit; shares, ratios and counts have none. `docs/metrics.md` has this list as a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tcplearn import response_metrics
from tcplearn.clock_metrics import OF_COUNTED_TICKS, OF_TIME
from tcplearn.loss_metrics import IN_BOTH, IN_THE_KERNEL
from tcplearn.web_metrics import DOWNLOADS, PAGES, WEB

#: Ending of a key, and its unit; the longest that fits counts.
UNITS = (
    ("_ticks2", "ticks^2"),
    ("_ticks", "ticks"),
    ("_us", "us"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("_bytes", "B"),
    ("_segments", "segments"),
    ("_packets", "packets"),
    ("_pps", "packets/s"),
    ("_mbps", "Mbit/s"),
    ("_mib", "MiB"),
    ("_rtts", "RTT"),
)
#: Of shares, ratios, rates and counts.
NO_UNIT = "1"

REPLAY, NS3, LAB = "replay", "ns3", "lab"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric, the same in every host that has it."""

    key: str
    hosts: tuple[str, ...]
    meaning: str
    heading: str = ""  # of its column, of one or two lines; none: in no table of flows
    name: str = ""  # in a legend, where it differs from the heading
    rank: int = 0  # the lowest leaves a narrow table first
    ratio: int = 0  # the rank of its ratio to `jacobson`; 0: it has none
    percent: bool = False  # a share that is shown as one
    signed: bool = False
    rare: bool = False  # a column, after all others, only where something was measured
    short: str = ""  # its meaning below a table
    share_of: tuple[str, str] | None = None  # the engine's counters that it is the ratio of

    @property
    def unit(self) -> str:
        return unit_of(self.key)

    @property
    def ratio_key(self) -> str:
        """`mean_rto_ms` -> `mean_rto_ratio`: below 1 is less than `jacobson`'s on the same flow."""
        return f"{without_unit(self.key)}_ratio"


METRICS = (
    Metric("samples", (REPLAY, NS3, LAB), "RTT samples: segments whose ACK times them (Karn's rule applied)"),
    Metric("judged", (REPLAY,), "1 where a flow has samples enough (`--min-samples`) to be judged, else 0"),
    Metric(
        "mean_abs_error_ms",
        (REPLAY, NS3, LAB),
        "mean of |prediction - sample|, with the prediction in force just before the sample (the papers' "
        "definition): it flatters what follows the last sample. The first sample of a flow is not scored",
        heading="error\nmean",
        name="error",
        rank=95,
        ratio=94,
        short="|prediction - sample|, ms",
    ),
    Metric(
        "mean_abs_error_ticks",
        (NS3, LAB),
        "`mean_abs_error_ms` in ticks of the paper's clock (`tick_ms` among the row's parameters)",
    ),
    Metric(
        "mean_abs_error_by_sample_ticks",
        (NS3,),
        "the same over all samples of all flows, where `mean_abs_error_ticks` is the mean over flows",
    ),
    Metric(
        "mean_abs_error_unrounded_ms",
        (NS3,),
        "mean of |prediction - RTT|, the RTT as it was before the clock rounded it to ticks",
    ),
    *(Metric(key, (NS3, LAB), meaning) for key, meaning in OF_COUNTED_TICKS),
    Metric(OF_TIME[0], (NS3,), OF_TIME[1]),
    Metric(
        "first_abs_error_ms",
        (NS3,),
        "|prediction - sample| of a flow's first sample, which no other error counts",
    ),
    Metric("median_abs_error_ms", (REPLAY,), "median of |prediction - sample|", heading="\nmedian", rank=40),
    Metric(
        "p95_abs_error_ms", (REPLAY,), "95th percentile of |prediction - sample|", heading="\n95 %", rank=60
    ),
    Metric(
        "bias_ms",
        (REPLAY, NS3),
        "mean of prediction - sample: above 0, it predicts too high",
        heading="\nbias",
        rank=35,
        signed=True,
        short="mean of prediction - sample, ms",
    ),
    Metric(
        "at_send_error_ms",
        (REPLAY, NS3, LAB),
        "mean of |prediction - sample|, with the prediction in force when the segment was sent, a flight "
        "earlier: what a sender could have used",
        heading="error\nat send",
        name="at send",
        rank=80,
        ratio=20,
        short="error of the prediction when the segment was sent",
    ),
    Metric(
        "rto_miss_rate",
        (REPLAY, NS3, LAB),
        "share of samples above the RTO in force when their segment was sent. More than fires: the timer "
        "restarts with every ACK",
        heading="RTO\nmiss %",
        name="miss",
        rank=96,
        ratio=50,
        percent=True,
        short="above the RTO at the sending, %",
        share_of=("misses", "timed"),
    ),
    Metric(
        "rto_miss_rate_before",
        (REPLAY, LAB),
        "share of samples above the RTO in force just before the sample, which a requested rate is about",
        heading="\nbefore",
        name="miss before",
        rank=88,
        percent=True,
        short="above the RTO just before, as requested, %",
        share_of=("misses_before", "timed"),
    ),
    Metric(
        "spurious_timeouts",
        (REPLAY, NS3, LAB),
        "timeouts although the original of the oldest segment out arrived (RFC 6298, section 5, runs the "
        "timer). In ns-3 those that were, seen at the receiver; in replay and in the lab's log those that "
        "the timer would have had on the trace's own clock",
        heading="needless\ntimeouts",
        name="needless",
        rank=99,
        short="with nothing lost",
    ),
    Metric(
        "spurious_timeouts_tlp",
        (REPLAY, LAB),
        "the same where a tail loss probe goes first (RFC 8985, 7.2 and 7.3)",
        heading="\nwith TLP",
        name="with TLP",
        rank=55,
        short="the same with tail loss probes",
    ),
    Metric("spurious_probes", (REPLAY, LAB), "such probes that were sent for nothing: an upper bound"),
    Metric(
        "mean_rto_ms",
        (REPLAY, NS3, LAB),
        "mean over samples of the RTO in force when their segment was sent: how long a loss would "
        "have waited",
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
    Metric("mean_rto_linux_ratio_low", (REPLAY,), "low end of its 95 % interval"),
    Metric("mean_rto_linux_ratio_high", (REPLAY,), "high end of its 95 % interval"),
    Metric(
        "excess_wait_ms",
        (REPLAY, LAB),
        "mean over samples of max(RTO - sample, 0): the wait beyond what was needed",
        heading="excess\nwait",
        name="wait",
        rank=45,
        ratio=25,
        short="time by which the RTO outlasts the RTT, ms",
    ),
    Metric(
        "regret_best_constant_ratio",
        (REPLAY,),
        "mean absolute error divided by that of the best constant in hindsight",
    ),
    Metric(
        "regret_best_ewma_ratio",
        (REPLAY,),
        "mean absolute error divided by that of the best of eight moving averages in hindsight",
    ),
    Metric(
        "regret_best_switching_ratio",
        (REPLAY,),
        "mean absolute error divided by that of the best sequence in hindsight of the estimators listed, one "
        "switch in a hundred samples",
        heading="× best\nswitching",
        name="regret",
        rank=10,
        rare=True,
        short="error over that of the best sequence in hindsight among those listed, one switch in 100 "
        "samples",
    ),
    Metric(
        "rto_miss_rate_requested",
        (REPLAY,),
        "the miss rate requested of a timer (`--miss`); absent for timers that take none",
    ),
    Metric("mean_flight_segments", (REPLAY,), "mean number of segments out just before the ACK of a sample"),
    Metric(
        "losses",
        (REPLAY,),
        "segments that were sent again, but for those that nothing shows to have been lost",
    ),
    Metric(
        "loss_detect_actual_ms",
        (REPLAY,),
        "mean time from its sending to its repair by the sender of the capture; the same for every estimator",
    ),
    Metric(
        "loss_detect_rto_ms",
        (REPLAY,),
        "mean time from a lost segment's sending to the expiry of the timer, were there nothing but "
        "the timer",
        heading="loss\nRTO",
        name="loss RTO",
        rank=52,
        rare=True,
        short="time to notice a lost segment by the RTO alone, ms",
    ),
    Metric(
        "loss_detect_rack_ms",
        (REPLAY,),
        "mean time from its sending to the moment that RACK-TLP (RFC 8985) calls it lost",
        heading="\nRACK",
        name="loss RACK",
        rank=51,
        rare=True,
        short="the same with RACK-TLP",
    ),
    Metric("rto_miss_rate_mean", (REPLAY,), "in a suite: mean over the series of their `rto_miss_rate`"),
    Metric("rto_miss_rate_before_mean", (REPLAY,), "the same of `rto_miss_rate_before`"),
    Metric("note", (REPLAY,), "in a study: what is said of a triple, in words"),
    Metric("series", (REPLAY,), "in a suite: flows with samples enough to be judged"),
    Metric("mean_rtt_ms", (NS3, LAB), "mean RTT over the samples, before any rounding to a clock"),
    Metric("rtt_variance_ticks2", (NS3,), "variance of the samples, in squared ticks"),
    Metric("mean_cwnd_bytes", (NS3,), "mean congestion window over the samples"),
    Metric("mean_cwnd_segments", (LAB,), "mean congestion window over the ACKs"),
    Metric("sent_packets", (NS3,), "data packets sent, repeats included"),
    Metric("delivered_packets", (NS3,), "data delivered in order to the application, in segments"),
    Metric("retransmitted_packets", (NS3, LAB), "data packets sent more than once"),
    Metric("retransmitted_share", (NS3, LAB), "`retransmitted_packets` over all data packets sent"),
    Metric("delivery_ratio", (NS3,), "data packets that reached the receiver, over those sent"),
    Metric("goodput_pps", (NS3,), "data delivered in order to the application, a second"),
    Metric(
        "goodput_mbps", (NS3, LAB), "data delivered to the application, a second; in ns-3 over a `path` only"
    ),
    Metric(
        "beside_goodput_mbps", (NS3, LAB), "the mean of it of the transfers beside those that are measured"
    ),
    Metric(
        "jain_index", (NS3, LAB), "Jain's index of the goodput of all transfers: 1 where each gets the same"
    ),
    *(Metric(key, (NS3, LAB), meaning) for key, meaning in (*IN_BOTH, *response_metrics.RESPONSES)),
    *(Metric(key, (LAB,), meaning) for key, meaning in (*IN_THE_KERNEL, *response_metrics.IN_THE_LAB)),
    *(Metric(key, (NS3,), meaning) for key, meaning in response_metrics.IN_NS3),
    Metric(
        "burst_mean_ms",
        (LAB,),
        "mean time of a burst (`[transfer.repeat]`), from its first write until all of it is acknowledged; "
        "those after a longer pause left out",
    ),
    Metric("burst_max_ms", (LAB,), "the longest of these bursts"),
    Metric("burst_after_pause_ms", (LAB,), "mean time of the bursts after the longer pauses"),
    Metric(
        "cwnd_after_pause_segments",
        (LAB,),
        "mean congestion window that the first write after a longer pause found",
    ),
    Metric("duration_s", (LAB,), "from the connection's beginning to its last byte"),
    Metric("timeouts", (NS3,), "retransmission timeouts with data out"),
    Metric(
        "needless_timeouts",
        (NS3,),
        "timeouts after which any copy sent before arrived: a fast retransmission under way counts too",
    ),
    Metric("syn_retransmissions", (NS3,), "SYNs sent again"),
    Metric("mean_queue_bytes", (NS3,), "of the bottleneck, or the mean of all radios, each second"),
    Metric("flows", (REPLAY, NS3), "flows that started; in a study those that were judged"),
    Metric("flows_finished", (NS3,), "flows that delivered all their data"),
    Metric("flows_running", (NS3,), "flows still sending at the end"),
    Metric("flows_connecting", (NS3,), "flows still without an answer to their SYN at the end"),
    Metric("flows_died", (NS3,), "flows that gave up: none should"),
    *(
        Metric(key, (host,), text)
        for host, of in ((NS3, WEB), (LAB, PAGES), (LAB, DOWNLOADS))
        for key, text in of
    ),
    Metric("cpu_s", (NS3,), "CPU time of the run"),
    Metric("events", (NS3,), "events of the simulator"),
    Metric("peak_mib", (NS3,), "largest memory of the run"),
    Metric("mean_stock_rto_ms", (LAB,), "`mean_rto_ms` of the kernel's own timer over the same samples"),
    Metric("log_records_lost", (LAB,), "ACKs that the module's log had no room for"),
    Metric(
        "replay_differences",
        (LAB,),
        "answers of the kernel that the core, given the same samples, does not give to the bit",
    ),
    Metric("armed_ours_share", (LAB,), "timers armed with the module's RTO, over all armed"),
    Metric(
        "armed_ours_at_once_share",
        (LAB,),
        "the same without those armed late, after a probe or a zero window",
    ),
    Metric("instructions_per_ack", (LAB,), "instructions of the estimator and its congestion control an ACK"),
    Metric("instructions_per_ack_base", (LAB,), "of these, the congestion control's own"),
)

#: Families of metrics by what their keys begin with, and hosts: of a suite and a study, and counters that a
#: host passes on under the names that their source gives them.
FAMILIES = (
    ("error_", (REPLAY,), "a suite's error, by series over that of the better of `jacobson` and `last`"),
    ("at_send_", (REPLAY,), "the same of the prediction in force when the segment was sent"),
    ("restart_", (REPLAY,), "the same over the first samples after a fresh start"),
    ("miss_", (REPLAY,), "a suite's achieved miss rate over the requested one"),
    ("match_", (REPLAY,), "a suite's timer over a reference of the same miss rate"),
    ("first_half_", (REPLAY,), "a study's error on the first half of each flow"),
    ("second_half_", (REPLAY,), "the same on the second half"),
    ("nstat.", (LAB,), "the kernel's counter of that name (`nstat`), over the transfer"),
    ("module.", (LAB,), "the module's counter of that name, over the transfer"),
    ("ss.", (LAB,), "as `ss -ti` shows it at the transfer's end"),
    ("nginx.", (LAB,), "as the transfer by nginx and curl reports it"),
    ("iperf3.", (LAB,), "as iperf3 reports it"),
)

BY_KEY = {metric.key: metric for metric in METRICS}
if len(BY_KEY) != len(METRICS):
    raise AssertionError("a metric is listed twice")


def _ending(key: str) -> tuple[str, str]:
    return next(((end, unit) for end, unit in UNITS if key.endswith(end)), ("", NO_UNIT))


@cache
def unit_of(key: str) -> str:
    """The unit that a key ends in (of what is passed on also begins with); "1" for shares and counts."""
    return "B" if key.partition(".")[2].startswith("bytes_") else _ending(key)[1]


def without_unit(key: str) -> str:
    return key.removesuffix(_ending(key)[0])


def known(key: str, host: str) -> bool:
    """Whether `host` may have a row of that metric."""
    metric = BY_KEY.get(key)
    if metric is not None:
        return host in metric.hosts
    if host == REPLAY and key in of_replay():
        return True
    return any(key.startswith(prefix) and host in hosts for prefix, hosts, _ in FAMILIES)


def with_ratio() -> Iterator[Metric]:
    """Metrics that a replay also gives as a ratio to `jacobson`, with its 95 % interval."""
    return (metric for metric in METRICS if metric.ratio)


#: Of a row's identity, or of a suite or study.
_OF_A_SUITE = ("series", "flows", "rto_miss_rate_mean", "rto_miss_rate_before_mean")
_NOT_OF_FLOWS = ("samples", "note", "judged", *_OF_A_SUITE)


def of_replay() -> tuple[str, ...]:
    """The keys of a replay's row, in their order; the ratios come after the last metric that has one."""
    plain = [m.key for m in METRICS if REPLAY in m.hosts and m.key not in _NOT_OF_FLOWS]
    at = 1 + max(plain.index(m.key) for m in with_ratio())
    ratios = [m.ratio_key for m in with_ratio()]
    return (*plain[:at], *ratios, *(f"{key}_{end}" for key in ratios for end in ("low", "high")), *plain[at:])
