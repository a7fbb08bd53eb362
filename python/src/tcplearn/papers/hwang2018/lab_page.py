# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018 in the real kernel, as a Markdown page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tcplearn.lab.scenario import Scenario
from tcplearn.output.markdown import table_of
from tcplearn.papers.hwang2018 import limits
from tcplearn.papers.hwang2018.lab_runs import BBR, base, decides, name
from tcplearn.papers.hwang2018.runs import Estimate, Point, confusion, mean, ratio

#: The scenario whose windows are drawn.
LOSSY = "lab-loss-1e-2"
#: Those that the bars are about: a sender is in the first or in the second.
AT_LOSSLESS, AT_LOSSY = ("lab-loss-0", "lab-history-0"), (LOSSY, "lab-history-1e-2")
VENO = "veno+none"


@dataclass(frozen=True)
class About:
    command: str
    confidence: float
    notes: str
    kernels: Sequence[str]
    drawn: Sequence[tuple[str, str]]  # file and title


Found = Mapping[str, tuple[Scenario, Sequence[Point]]]


def page(found: Found, about: About) -> str:
    everything = [p for _, points in found.values() for p in points]
    runs = len({(p.scenario, p.seed) for p in everything})
    parts = [
        "# ML-TCP in a real kernel",
        f"Made by `{about.command}`; do not edit.",
        f"Linux {', '.join(about.kernels)} in virtual time: {runs} runs (`tcplearn lab run "
        "papers/hwang2018/lab/loss-1e-2.toml` and so on), each with every sender once, one after the other, "
        f"each on a connection of its own. Intervals are of {about.confidence:.0%} over the runs; ratios are "
        "geometric means of pairs of one run. ML-TCP is the module's `tl-reno` or `tl-cubic` with "
        "`net.tcplearn.loss`, the kernel's own timer and PRR; the others are the kernel's own. What was lost "
        "where comes from captures before the queue, behind it and behind the lossy link. The models and "
        "thresholds are those of [the page on ns-3](simulated.md); nothing was fitted to these runs.",
        "## The bars",
        _bars(found, about.confidence),
        about.notes.strip(),
        *(part for one in found.values() for part in _scenario(*one, about.confidence)),
        "## What a decision costs",
        _costs(everything),
        "## Figures",
        *(f"![{title}](figures/{file})" for file, title in about.drawn),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _of(found: Found, scenario: str, sender: str) -> list[Point]:
    return [p for p in found[scenario][1] if p.sender == sender] if scenario in found else []


def _first(found: Found, names: Sequence[str], sender: str) -> str:
    """Of the scenarios the first that has the sender."""
    return next((name for name in names if _of(found, name, sender)), "")


def _bars(found: Found, c: float) -> str:
    rows = []
    senders = dict.fromkeys(p.sender for _, points in found.values() for p in points if decides(p.sender))
    for sender in senders:
        at_lossy, at_lossless = (_first(found, names, sender) for names in (AT_LOSSY, AT_LOSSLESS))
        lossy, veno, bbr = (_of(found, at_lossy, one) for one in (sender, VENO, BBR))
        lossless, plain = (_of(found, at_lossless, one) for one in (sender, base(sender)))
        for what, value, least, most in (
            ("goodput at 0.01 over BBR's", ratio(lossy, bbr, "goodput_mbps", c), limits.OVER_BBR, None),
            (
                "goodput at 0.01 over its own without loss",
                ratio(lossy, lossless, "goodput_mbps", c),
                limits.OVER_LOSSLESS,
                None,
            ),
            ("goodput at 0.01 over Veno's", ratio(lossy, veno, "goodput_mbps", c), limits.OVER_VENO, None),
            (
                "no random loss: sent again over the plain sender's",
                _resent(lossless, plain),
                None,
                limits.HARM,
            ),
        ):
            rows.append([what, name(sender), *_judged(value, least, most)])
    differences = sum(p.metrics.get("decision_differences", 0.0) for _, part in found.values() for p in part)
    decisions = sum(p.metrics.get("loss_decisions", 0.0) for _, part in found.values() for p in part)
    verdict = "reached" if not differences else "not reached"
    counted = f"{differences:.0f} of {decisions:.0f} decisions"
    rows.append(["decisions that the core gives otherwise on the logged ACKs", "all", "0", counted, verdict])
    return table_of(("bar", "sender", "limit", "ours", ""), rows)


def _resent(above: Sequence[Point], below: Sequence[Point]) -> Estimate | None:
    """Of the sums: one run is a few bursts of drops."""
    tops, bottoms = (sum(p.metrics["retransmitted_packets"] for p in side) for side in (above, below))
    return Estimate(tops / bottoms) if above and bottoms else None


def _judged(value: Estimate | None, least: float | None, most: float | None) -> list[str]:
    """Limit, value and verdict."""
    limit = f"≥ {least:g}" if least is not None else f"≤ {most:g}"
    if value is None:
        return [limit, "–", "not run"]
    low, high = value.low or value.value, value.high or value.value
    if least is not None:
        return [limit, value.shown(), _verdict(value.value >= least, low < least <= high)]
    return [limit, value.shown(), _verdict(value.value <= (most or 0.0), low <= (most or 0.0) < high)]


def _verdict(reached: bool, within: bool) -> str:
    word = "reached" if reached else "not reached"
    return f"{word}; the limit is within the interval" if within else word


def _scenario(scenario: Scenario, points: Sequence[Point], c: float) -> Iterator[str]:
    yield f"## {scenario.name}: {scenario.title}"
    yield f"Runs made at {', '.join(sorted({p.commit for p in points}))}."
    yield _senders(points, c)
    if any("beside_goodput_mbps" in p.metrics for p in points):
        yield _beside(points, c)
    if decided := _decisions(points):
        yield decided


def _senders(points: Sequence[Point], c: float) -> str:
    rows = []
    for sender in dict.fromkeys(p.sender for p in points):
        here = [p for p in points if p.sender == sender]
        bbr = [p for p in points if p.sender == BBR]
        plain = [p for p in points if p.sender == base(sender)]
        against = None if sender == base(sender) else ratio(here, plain, "goodput_mbps", c)
        rows.append(
            [
                name(sender),
                str(len(here)),
                _shown(mean(here, "goodput_mbps", c)),
                "" if sender == BBR else _shown(ratio(here, bbr, "goodput_mbps", c)),
                "" if against is None else against.shown(),
                _shown(mean(here, "retransmitted_packets", c), 0),
                f"{sum(p.metrics.get('nstat.TcpExtTCPTimeouts', 0.0) for p in here) / len(here):.1f}",
                _shown(mean(here, "mean_rtt_ms", c), 0),
            ]
        )
    head = ("sender", "runs", "goodput, Mbit/s", "over BBR's", "over the plain sender's")
    return table_of((*head, "sent again", "timeouts", "mean RTT, ms"), rows)


def _beside(points: Sequence[Point], c: float) -> str:
    """Of the transfer that is there all the time."""
    metric = "beside_goodput_mbps"
    rows = []
    for sender in dict.fromkeys(p.sender for p in points):
        here = [p for p in points if p.sender == sender]
        others = [[p for p in points if p.sender == other] for other in (base(sender), BBR)]
        against = [ratio(here, other, metric, c) if other[0].sender != sender else None for other in others]
        shown = [_shown(mean(here, name_, c)) for name_ in (metric, "jain_index")]
        rows.append([name(sender), *shown, *map(_shown, against)])
    head = (
        "beside",
        "the other's goodput, Mbit/s",
        "Jain's index",
        "the other's over beside the plain sender",
    )
    return table_of((*head, "over beside BBR"), rows)


def _shown(value: Estimate | None, digits: int = 2) -> str:
    return "" if value is None else value.shown(digits)


def _decisions(points: Sequence[Point]) -> str:
    rows = []
    for sender in dict.fromkeys(p.sender for p in points if decides(p.sender)):
        here = [p for p in points if p.sender == sender]
        calls = confusion(here)
        random = calls.random_called_random + calls.random_called_congestion
        congestion = calls.congestion_called_random + calls.congestion_called_congestion
        rows.append(
            [
                name(sender),
                str(calls.total),
                _share(calls.random_called_random, random),
                _share(calls.congestion_called_congestion, congestion),
                *(_total(here, f"{by}_dropped_packets") for by in ("queue", "channel")),
                _total(here, "needless_recoveries"),
            ]
        )
    head = ("sender", "fast recoveries", "random called random", "congestion called congestion")
    return table_of((*head, "dropped by the queue", "by the link", "recoveries without a loss"), rows)


def _share(right: int, of: int) -> str:
    return f"{right / of:.2f} ({right} of {of})" if of else "–"


def _total(points: Sequence[Point], metric: str) -> str:
    return f"{sum(p.metrics.get(metric, 0.0) for p in points):.0f}"


def _costs(points: Sequence[Point]) -> str:
    rows = []
    for sender in dict.fromkeys(p.sender for p in points if decides(p.sender)):
        here = [p for p in points if p.sender == sender]
        means = [mean(here, f"instructions_per_{what}", 0.9) for what in ("decision", "ack", "ack_base")]
        rows.append([name(sender), *("" if m is None else f"{m.value:,.0f}" for m in means)])
    return table_of(
        ("sender", "instructions a decision", "an ACK", "of these the congestion control's"), rows
    )
