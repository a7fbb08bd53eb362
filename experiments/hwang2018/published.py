# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares each number and each comparison that the paper hwang2018 prints with our result, and says whether
it is reproduced. Computes what tables 1 and 2 of the paper (decisions of loss classifiers by true cause)
imply about its runs, and the same tables from our runs with the queue and the rate that the paper's counts
suggest."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from experiments.hwang2018 import training
from experiments.hwang2018.sample import CALLS, Sample, name_of
from experiments.lib.pages import csv_rows
from experiments.lib.statistics import Estimate

HEAD = ("where", "what", "the paper", "ours", "verdict", "runs")
#: A number is reproduced if ours differs from it by at most this share of it.
TOLERANCE = 0.1
#: The scenarios of our runs, by the column `runs` of published.csv.
SCENARIOS = {"figure-5": "5", "figure-7": "7", "figure-9": "9"}
#: The scenario of our runs for tables 1 and 2.
TABLES = "tables"
#: Numbers of fast retransmits in the order of `CALLS`, by sender and random loss rate.
Counts = Mapping[tuple[str, float], Sequence[int]]


def verdict(printed: str, ours: Estimate) -> str:
    """Returns "reproduced", "not reproduced" or "cannot be told". `printed` is what the paper prints: a
    number, a range ("1 to 2") or a comparison (">1"). A number or a range is reproduced if the value of
    `ours` differs from it by at most the share `TOLERANCE`. If `ours` differs by more, but its interval
    reaches the number or range, the verdict is "cannot be told". A comparison is reproduced if the whole
    interval of `ours` is above its limit, and cannot be told if the limit is within the interval."""
    if not ours:
        return "cannot be told"
    numbers = [float(number) for number in re.findall(r"\d+\.?\d*", printed)]
    low, high = (ours.value if math.isnan(end) else end for end in (ours.low, ours.high))
    if printed.startswith(">"):
        met, open_ = low > numbers[0], high > numbers[0]
    else:
        target = min(max(ours.value, min(numbers)), max(numbers))
        met, open_ = abs(ours.value - target) <= TOLERANCE * target, low <= target <= high
    return "reproduced" if met else "cannot be told" if open_ else "not reproduced"


def rows(found: Sample, trained: Sequence[Sequence[str]], folder: Path) -> Iterator[list[str]]:
    """Yields a table row for each number or comparison in hwang2018: the paper's value, ours and the verdict.
    `trained` are the rows of the table of the classifier's accuracy in training and in the test."""
    for row in csv_rows(folder / "published.csv"):
        ours, paper = _ours(found, trained, row), row["printed"]
        shown = [paper.replace(">", "more than "), str(ours), verdict(paper, ours)]
        yield [row["where"], row["what"], *shown, f"`{row['runs']}/quick`"]
    for row in csv_rows(folder / "published-tables.csv"):
        sender, rate, calls = row["sender"], float(row["loss_rate"]), [int(row[name]) for name in CALLS]
        right = (calls[0] + calls[3]) / sum(calls)
        ours = found.at(sender, scenario="5", loss_rate=rate).accuracy()
        where = "tables 1, 2" if sender == "veno-5" else f"table {row['table']}"
        what = f"share of correct decisions at {rate:g}, {name_of(sender)}"
        yield [where, what, f"{right:.2f}", str(ours), verdict(f"{right:.6f}", ours), "`figure-5/quick`"]


def counted(judged: Sequence[Sequence[str]]) -> dict[str, int]:
    """Returns the number of rows with each verdict."""
    names = [row[HEAD.index("verdict")] for row in judged]
    return {name: names.count(name) for name in ("reproduced", "not reproduced", "cannot be told")}


def at(words: str) -> dict[str, float]:
    """Returns the values of the labels, by name, that a text such as "loss_rate=0.01 rtt_ms=30" gives."""
    return {key: float(value) for key, _, value in (word.partition("=") for word in words.split())}


def _ours(found: Sample, trained: Sequence[Sequence[str]], row: Mapping[str, str]) -> Estimate:
    if row["runs"] == "training":
        column = 3 if row["metric"] == "training" else 4
        return Estimate(*map(float, re.findall(r"\d\.\d+", trained[-1][column]))) if trained else Estimate()
    runs = found.at(scenario=SCENARIOS[row["runs"]])
    own = runs.at(row["sender"], **at(row["at"]))
    if not row["base"]:
        return own.mean(row["metric"])
    return own.over(runs.at(row["base"], **at(row["base_at"])), row["metric"])


def counts(rows: Sequence[Mapping[str, str]]) -> Counts:
    """Returns what tables 1 and 2 of hwang2018 print, from the rows of published-tables.csv."""
    return {(row["sender"], float(row["loss_rate"])): [int(row[name]) for name in CALLS] for row in rows}


def packets_needed(paper: Counts) -> list[list[str]]:
    """Returns a table row for each sender: for each random loss rate but the smallest, how many thousand
    packets would on average have as many random losses as hwang2018 counts (`paper`), ± the standard
    deviation of this estimate."""

    def shown(sender: str, rate: float) -> str:
        if (sender, rate) not in paper:
            return "not printed"
        random = sum(paper[sender, rate][:2])
        return f"{random / rate / 1e3:.0f} ± {math.sqrt(random) / rate / 1e3:.0f}"

    senders = dict.fromkeys(sender for sender, _ in paper)
    return [[name_of(sender), *(shown(sender, rate) for rate in training.TABLES[1:])] for sender in senders]


def tables(found: Sample) -> list[list[str]]:
    """Returns a table row for each RTT and sender: for each random loss rate, the counts of `found`, our
    runs, as in the paper's tables 1 and 2."""
    rows = []
    for rtt in sorted({run.labels["rtt_ms"] for run in found}, reverse=True):
        of_rtt = found.at(rtt_ms=rtt)
        rates = sorted({run.labels["loss_rate"] for run in of_rtt})
        for sender, own in of_rtt.senders().items():
            calls = (" / ".join(map(str, own.at(loss_rate=rate).calls())) for rate in rates)
            rows.append([f"{rtt:g}", name_of(sender), *calls])
    return rows


def ratio_to_veno(found: Sample) -> dict[str, str]:
    """Returns, as text, the "goodput" and the number of fast "retransmits" of ML-TCP (the sender of
    hwang2018), divided by those of Veno with β = 5, in runs under one condition. Returns {} if one of the two
    has none."""
    own, veno = found.at("ml-hwang2018"), found.at("veno-5")
    if not own or not veno or not sum(veno.calls()):
        return {}
    ratio = sum(own.calls()) / len(own) / (sum(veno.calls()) / len(veno))
    return {"goodput": f"{own.over(veno, 'goodput_mbps').value:.2f}", "retransmits": f"{ratio:.2f}"}
