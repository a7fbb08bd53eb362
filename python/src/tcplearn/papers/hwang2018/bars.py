# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a classifier of losses has to reach in the closed loop, and what ours do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tcplearn.output.markdown import table_of
from tcplearn.papers.hwang2018 import limits
from tcplearn.papers.hwang2018.runs import SENDERS, Estimate, Point, by_condition, of, ratio, unseen

JUDGED = ("ml-hwang2018", "ml-wide", "ml-adaptive", "ml-history", "ml-history-45", "ml-past")
#: Of NewReno's kind and of CUBIC's: the plain sender, the one that knows, ours.
KINDS = (
    ("newreno", "oracle", JUDGED),
    (
        "cubic",
        "cubic-oracle",
        ("cubic-wide", "cubic-adaptive", "cubic-history", "cubic-history-45", "cubic-past"),
    ),
)


@dataclass(frozen=True)
class Bar:
    what: str
    sender: str
    value: Estimate | None
    least: float | None = None
    most: float | None = None
    where: str = ""  # the worst condition, where there are several
    passed: int = 0
    of: int = 0  # conditions

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not run"
        good = _within(self.value.value, self.least, self.most)
        if self.of > 1:
            return f"{self.passed} of {self.of} conditions reach it"
        return "reached" if good else "not reached"


def _within(value: float, least: float | None, most: float | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most)


def words(condition: Sequence[tuple[str, Any]]) -> str:
    short = {
        "loss_rate": "loss",
        "queue_bdp": "queue BDP",
        "queue": "",
        "loss_burst_packets": "bursts of",
        "reorder_rate": "reordered",
        "queue_packets": "cellular trace, queue",
        "beside_congestion_control": "beside",
    }
    parts = []
    for key, value in condition:
        last = key.rpartition(".")[2]
        if last == "beside":
            continue
        shown = f"{value:g}" if isinstance(value, (int, float)) else str(value).removeprefix("Tcp")
        parts.append(f"{short.get(last, last)} {shown}".strip())
    return ", ".join(parts)


def table(found: Sequence[Point], c: float) -> str:
    rows = []
    for bar in every(found, c):
        limit = f"≥ {bar.least:g}" if bar.least is not None else f"≤ {bar.most:g}"
        value = "–" if bar.value is None else bar.value.shown()
        rows.append([bar.what, SENDERS[bar.sender], limit, value, bar.where, bar.verdict])
    head = ("bar", "sender", "limit", "ours (of several conditions the worst)", "where", "")
    return table_of(head, rows)


def every(found: Sequence[Point], c: float) -> Iterator[Bar]:
    for sender in JUDGED:
        yield from _throughput(found, sender, c)
    for plain, oracle, ours in KINDS:
        for sender in ours:
            yield from _no_harm(found, (plain, oracle, sender), c)


def _throughput(found: Sequence[Point], sender: str, c: float) -> Iterator[Bar]:
    found = unseen([p for p in found if p.scenario == "5"])
    at = of(found, "5", sender, loss_rate=1e-2)
    for what, other, least in (
        (
            "goodput at 0.01 over its own without loss",
            of(found, "5", sender, loss_rate=0.0),
            limits.OVER_LOSSLESS,
        ),
        ("goodput at 0.01 over Veno's, β 5", of(found, "5", "veno-5", loss_rate=1e-2), limits.OVER_VENO),
        ("goodput at 0.01 over the oracle's", of(found, "5", "oracle", loss_rate=1e-2), limits.OVER_ORACLE),
    ):
        yield Bar(what, sender, ratio(at, other, "goodput_mbps", c), least=least)


def _no_harm(found: Sequence[Point], who: tuple[str, str, str], c: float) -> Iterator[Bar]:
    plain, oracle, sender = who
    harm = [p for p in found if p.scenario == "harm"]
    clean = [p for p in harm if p.short["loss_rate"] == 0]
    lossy = [p for p in harm if p.short["loss_rate"] != 0]
    alone = [p for p in clean if p.short["beside"] == 0]
    shared = [p for p in clean if p.short["beside"] == 1]
    neighbour = [p for p in lossy if p.short["beside"] == 1]
    drops, rtt, beside = "queue_dropped_packets", "mean_rtt_ms", "beside_goodput_mbps"
    for what, points, metric in (
        ("no random loss, alone: drops over the plain sender's", alone, drops),
        ("no random loss, alone: mean RTT over the plain sender's", alone, rtt),
        ("no random loss, shared: drops over the plain sender's", shared, drops),
        ("no random loss, shared: mean RTT over the plain sender's", shared, rtt),
    ):
        values = list(_ratios(points, sender, plain, metric, c))
        yield _worst(what, sender, values, None, limits.HARM)
    for name, other, least in (
        ("the oracle", oracle, limits.NEIGHBOUR),
        ("BBR", "bbr", limits.NEIGHBOUR_BBR),
    ):
        what = f"random loss: neighbour's goodput, over what it has beside {name}"
        values = list(_ratios(neighbour, sender, other, beside, c))
        yield _worst(what, sender, values, least, None)
    jain = [
        (Estimate(sum(p.metrics["jain_index"] for p in own) / len(own)), condition)
        for condition, own in by_condition([p for p in shared if p.sender == sender])
    ]
    yield _worst("no random loss, shared: Jain's index", sender, jain, limits.JAIN, None)
    over_plain = list(_ratios(shared, sender, plain, "jain_index", c))
    yield _worst(
        "no random loss, shared: Jain's index over two plain senders'", sender, over_plain, limits.JAIN, None
    )


def _ratios(
    found: Sequence[Point], sender: str, other: str, metric: str, c: float
) -> Iterator[tuple[Estimate, Any]]:
    for condition, here in by_condition(found):
        own = [p for p in here if p.sender == sender]
        base = [p for p in here if p.sender == other]
        value = ratio(own, base, metric, c)
        if value:
            yield value, condition


def _worst(
    what: str, sender: str, values: Sequence[tuple[Estimate, Any]], least: float | None, most: float | None
) -> Bar:
    if not values:
        return Bar(what, sender, None, least, most)
    pick = min if least is not None else max
    value, condition = pick(values, key=lambda item: item[0].value)
    passed = sum(_within(v.value, least, most) for v, _ in values)
    return Bar(what, sender, value, least, most, words(condition), passed, len(values))
