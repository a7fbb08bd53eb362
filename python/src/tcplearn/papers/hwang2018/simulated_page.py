# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018: what its text prints beside what ours gave, as a Markdown page."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tcplearn.output.markdown import table_of
from tcplearn.papers.hwang2018 import bars, calibration, ceilings
from tcplearn.papers.hwang2018.calibration import Candidate
from tcplearn.papers.hwang2018.runs import (
    SENDERS,
    Confusion,
    Estimate,
    Point,
    accuracy,
    by_condition,
    confusion,
    mean,
    of,
    ratio,
)
from tcplearn.papers.hwang2018.training import EVENTS, TESTS, TIMES, AtRate, Trained
from tcplearn.simulate import engine

RATES = (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
#: Of tables 1 and 2; ours beside them.
DECIDED = (
    "veno-5",
    "veno-10",
    "veno-15",
    "veno-20",
    "veno-25",
    "ml-hwang2018",
    "ml-wide",
    "ml-adaptive",
    "ml-history",
    "ml-history-45",
)


@dataclass(frozen=True)
class About:
    command: str
    profile: str
    planned: int
    confidence: float
    notes: str
    drawn: Sequence[tuple[str, str]]  # file and title
    trained: Sequence[Trained]
    by_rate: Sequence[AtRate]
    candidates: Sequence[Candidate]
    past: Sequence[Candidate]
    cubic: Sequence[str]  # paragraphs of kept_cubic


def page(found: Sequence[Point], folder: Path, about: About) -> str:
    c = about.confidence
    parts = [
        "# ML-TCP in ns-3: ours beside the paper's",
        f"Made by `{about.command}`; do not edit.",
        f"{len(found)} of {about.planned} runs of profile `{about.profile}` (`tcplearn simulate "
        "papers/hwang2018/figure-*.toml papers/hwang2018/harm.toml papers/hwang2018/training.toml --profile "
        f"{about.profile}`), of the engine {engine.identity()}. Intervals"
        f" are of {c:.0%}, over the seeds; ratios are geometric "
        'means of pairs of one seed. "Wide" is trained on 500 other networks (`papers/hwang2018/wide.toml`), '
        '"history" weighs its answer with those to earlier losses, "the paper\'s" is trained on its own '
        'network with its own two inputs, "adaptive" learns on the path from what followed its own '
        'answers; the oracle knows from the simulator who dropped the packet. "At 0.45" and "by the path" '
        "are `history` with `threshold=0.45` and with `past=1.5,bias=1.29,threshold=0.5`. The plain sender "
        "is NewReno or CUBIC without a classifier; *alone*: the only transfer; *shared*: a plain one, the "
        "neighbour, has the same queue.",
        "## The bars",
        bars.table(found, c),
        *ceilings.section(found, c),
        about.notes.strip(),
        *_choice(about),
        *about.cubic,
        "## Accuracy in the paper's own setting",
        f"A perceptron with the paper's two inputs, trained on {EVENTS} fast retransmits of its network, "
        f"tested on {TESTS} others, {TIMES} times over; the middle 95 %. Rows of the same runs are on both "
        "sides, as in the paper.",
        _trained(about.trained),
        f"The same on events of each loss rate of Tables 1 and 2: trained on {EVENTS} with as many of each "
        f"cause, tested on {TESTS} others of that rate, or on all where there are fewer:",
        _by_rate(about.by_rate),
        "## Tables 1 and 2: what was called what",
        "Counts over all seeds, a cell as random called random / random called congestion / congestion "
        "called random / congestion called congestion; the paper's below ours. Veno's are its rule's at its "
        "own sender's losses.",
        _confusions(found, folder),
        "Accuracy by loss rate, over the seeds. It says little where one cause is rare:",
        _accuracies(found, c),
        "## Figure 5: goodput, Mbit/s",
        _goodputs(found, c),
        "## What the text prints of figures 5, 8 and 9",
        _printed(found, folder, c),
        "## Beyond the paper: the queue and the neighbour",
        *_harm(found, c),
        "## Figures",
        *(f"![{title}](figures/{file})" for file, title in about.drawn),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _choice(about: About) -> Iterator[str]:
    if not about.candidates:
        return
    yield "## How the threshold of history was chosen"
    yield (
        f"{about.candidates[0].networks} networks that are not on this page, with NewReno's kind "
        f"(`tcplearn simulate papers/hwang2018/calibration.toml --profile {about.profile}`), and the rule "
        "that stands in that file: of the thresholds that do no harm there the one with the most goodput. "
        "Drops and RTT without random loss: alone / beside NewReno / the two under reordering; Jain's index: "
        "without / with reordering."
    )
    yield calibration.table(about.candidates)
    if not about.past:
        return
    yield "## The weight of the past on other networks"
    yield (
        f"{about.past[0].networks} networks that had no part in the choice (`tcplearn simulate "
        f"papers/hwang2018/calibration-past.toml --profile {about.profile}`), by the same rule. 0.45 is "
        "`history`'s default, at its threshold of 0.35."
    )
    yield calibration.table(about.past, calibration.PAST)


def _shown(value: Estimate | None, digits: int = 2, scale: float = 1.0) -> str:
    return "–" if value is None else value.shown(digits, scale)


def _trained(trained: Sequence[Trained]) -> str:
    rows = [
        [
            t.what,
            str(t.events),
            f"{t.random_share:.2f}",
            t.training.shown(3),
            t.test.shown(3),
            t.balanced.shown(3),
        ]
        for t in trained
    ]
    rows.append(["the paper's", "225", "not stated", "0.97", "0.96", "not stated"])
    head = ("events", "how many", "share of random", "accuracy in training", "in the test", "balanced")
    return table_of(head, rows)


def _by_rate(by_rate: Sequence[AtRate]) -> str:
    rows = [
        [f"{r.loss_rate:g}", str(r.events), f"{r.random_share:.2f}", _shown(r.test, 3), _shown(r.balanced, 3)]
        for r in by_rate
    ]
    return table_of(("loss rate", "events", "share of random", "accuracy in the test", "balanced"), rows)


def _cell(c: Confusion) -> str:
    return (
        f"{c.random_called_random} / {c.random_called_congestion} / "
        f"{c.congestion_called_random} / {c.congestion_called_congestion}"
    )


def _confusions(found: Sequence[Point], folder: Path) -> str:
    with (folder / "published-tables.csv").open(newline="") as file:
        printed = {(r["sender"], float(r["loss_rate"])): _of_row(r) for r in csv.DictReader(file)}
    rows = []
    for sender in DECIDED:
        ours = [of(found, "5", sender, loss_rate=rate) for rate in RATES[1:]]
        if any(ours):
            cells = [_cell(confusion(here)) if here else "–" for here in ours]
            rows.append([SENDERS[sender], "ours", *cells])
        theirs = [printed.get((sender, rate)) for rate in RATES[1:]]
        if any(theirs):
            rows.append(["", "the paper's", *(_cell(c) if c else "not printed" for c in theirs)])
    return table_of(("sender", "", *(f"{rate:g}" for rate in RATES[1:])), rows)


def _of_row(row: dict[str, str]) -> Confusion:
    return Confusion(*(int(row[name]) for name in Confusion.__dataclass_fields__))


def _accuracies(found: Sequence[Point], c: float) -> str:
    rows = []
    for sender in DECIDED:
        cells = [accuracy(of(found, "5", sender, loss_rate=rate), c) for rate in RATES[1:]]
        if any(cells):
            rows.append([SENDERS[sender], *(_shown(cell, 3) for cell in cells)])
    return table_of(("sender", *(f"{rate:g}" for rate in RATES[1:])), rows)


def _goodputs(found: Sequence[Point], c: float) -> str:
    rows = []
    for sender, name in SENDERS.items():
        by_rate = [of(found, "5", sender, loss_rate=rate) for rate in RATES]
        if any(by_rate):
            share = ratio(of(found, "5", sender, loss_rate=1e-2), by_rate[0], "goodput_mbps", c)
            rows.append([name, *(_shown(mean(here, "goodput_mbps", c)) for here in by_rate), _shown(share)])
    return table_of(("sender", *(f"{rate:g}" for rate in RATES), "0.01 over 0"), rows)


def _printed(found: Sequence[Point], folder: Path, c: float) -> str:
    with (folder / "published.csv").open(newline="") as file:
        printed = list(csv.DictReader(file))
    rows = []
    for p in printed:
        if p["where"] == "training":
            continue
        at = {k: float(v) for k, _, v in (word.partition("=") for word in p["condition"].split())}
        sender = SENDERS.get(p["sender"], p["sender"])
        condition = p["condition"].replace("_", " ")
        value = f"{float(p['value']):g}"
        rows.append([p["where"], p["metric"], condition, sender, value, *_ours(found, p, at, c)])
    head = ("where", "metric", "condition", "sender", "printed", "ours", "ours, wide")
    return table_of(head, rows)


def _ours(found: Sequence[Point], printed: dict[str, str], at: dict[str, float], c: float) -> list[str]:
    sender = printed["sender"]
    senders = [sender, "ml-wide"] if sender == "ml-hwang2018" else [sender]
    out = []
    for one in senders:
        match printed["metric"]:
            case "goodput_to_lossless":
                here, there = of(found, "5", one, **at), of(found, "5", one, loss_rate=0.0)
                out.append(_shown(ratio(here, there, "goodput_mbps", c)))
            case "goodput_to_30ms":
                there = of(found, "7", one, rtt_ms=30.0, loss_rate=at["loss_rate"])
                out.append(_shown(ratio(of(found, "7", one, **at), there, "goodput_mbps", c)))
            case "goodput_to_veno":
                out.append(" , ".join(_over_veno(found, one, c)))
            case _:
                means = [m.value for s in SENDERS if (m := mean(of(found, "9", s, **at), "goodput_mbps", c))]
                out.append(f"{min(means):.2f} to {max(means):.2f}" if means else "–")
    return out if len(out) == 2 else [*out, ""]


def _over_veno(found: Sequence[Point], sender: str, c: float) -> Iterator[str]:
    for share in (0.0, 0.2, 0.6):
        here = of(found, "9", sender, udp_share=share, loss_rate=1e-2)
        veno = of(found, "9", "veno-5", udp_share=share, loss_rate=1e-2)
        yield f"{share:g}: {_shown(ratio(here, veno, 'goodput_mbps', c))}"


def _harm(found: Sequence[Point], c: float) -> Iterator[str]:
    here = [p for p in found if p.scenario == "harm"]
    alone = [p for p in here if p.short["beside"] == 0]
    beside = [p for p in here if p.short["beside"] == 1]
    rows = list(_alone(alone, c))
    if rows:
        yield (
            "Alone on the path: goodput, and packets dropped by the queue and mean RTT over those of the "
            "plain sender in the same condition."
        )
        yield table_of(("condition", "sender", "goodput, Mbit/s", "drops × plain", "RTT × plain"), rows)
    rows = list(_beside(beside, c))
    if rows:
        yield (
            "With a plain NewReno (or CUBIC) transfer beside it: what each gets, Jain's index, and the "
            "neighbour's goodput over what it has beside the oracle and beside BBR."
        )
        head = ("condition", "sender", "own, Mbit/s", "neighbour's", "Jain's index")
        yield table_of((*head, "neighbour × beside oracle", "× beside BBR"), rows)


def _alone(found: Sequence[Point], c: float) -> Iterator[list[str]]:
    for condition, here in by_condition(found):
        plain = [p for p in here if p.sender in ("newreno", "cubic")]  # one of them in a condition
        for sender in [s for s in SENDERS if any(p.sender == s for p in here)]:
            own = [p for p in here if p.sender == sender]
            yield [
                bars.words(condition),
                SENDERS[sender],
                _shown(mean(own, "goodput_mbps", c)),
                _shown(ratio(own, plain, "queue_dropped_packets", c)),
                _shown(ratio(own, plain, "mean_rtt_ms", c)),
            ]


def _beside(found: Sequence[Point], c: float) -> Iterator[list[str]]:
    for condition, here in by_condition(found):
        oracle = [p for p in here if p.sender in ("oracle", "cubic-oracle")]
        bbr = [p for p in here if p.sender == "bbr"]
        for sender in [s for s in SENDERS if any(p.sender == s for p in here)]:
            own = [p for p in here if p.sender == sender]
            yield [
                bars.words(condition),
                SENDERS[sender],
                _shown(mean(own, "goodput_mbps", c)),
                _shown(mean(own, "beside_goodput_mbps", c)),
                _shown(mean(own, "jain_index", c)),
                _shown(ratio(own, oracle, "beside_goodput_mbps", c)),
                _shown(ratio(own, bbr, "beside_goodput_mbps", c)),
            ]
