# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Judges senders that keep their window after a loss that a classifier calls random, by criteria for their
goodput and for the harm that they do."""

from collections.abc import Iterator, Mapping
from typing import Any

from experiments.hwang2018.sample import DROPS, SHARING, Sample, name_of
from experiments.lib.statistics import Estimate

# Smallest ratios of the goodput at a random loss rate of 0.01 to the goodput of
OVER_LOSSLESS = 0.7  # the same sender without random loss; the paper reports 70 %
OVER_VENO = 1.5  # Veno
OVER_ORACLE = 0.95  # the oracle, which knows the true cause of each loss
OVER_BBR = 0.9  # Linux's BBR; judged in the lab only
# Without random loss, limits of ratios to the sender without a classifier
HARM = 1.05  # at most, for drops at the queue, retransmissions and mean RTT
JAIN = 0.95  # at least, for Jain's fairness index
# With random loss, smallest ratios of a competing transfer's goodput to its goodput
NEIGHBOUR = 0.9  # beside the oracle
NEIGHBOUR_BBR = 1.0  # beside BBR
# With random loss, at most HARM too: drops at the queue per delivered packet, relative to NewReno with the
# oracle, whose windows are as large as the path allows, and to Westwood+, which classifies nothing.

JUDGED = ("ml-hwang2018", "ml-wide", "ml-adaptive", "ml-history", "ml-history-45", "ml-past")
#: Over NewReno and over CUBIC: the plain sender, that with the oracle and that with the classifier `history`.
NEWRENO, CUBIC = ("newreno", "oracle", "ml-history"), ("cubic", "cubic-oracle", "cubic-history")
HEAD = ("criterion", "sender", "limit", "ours, in the worst condition", "worst condition", "verdict")


def judged(
    what: str,
    sender: str,
    by: Estimate | Mapping[str, Estimate],
    least: float | None = None,
    most: float = 0.0,
) -> list[str]:
    """Returns a table row with the criterion `what`, the sender, the limit, the worst ratio and the verdict.
    `by` is a ratio, or has a ratio for each network condition. A ratio must be at least `least` or, if
    `least` is None, at most `most`."""
    sign, limit, sides = (1, most, "≤") if least is None else (-1, least, "≥")
    known = {where: of for where, of in (by if isinstance(by, Mapping) else {"": by}).items() if of}
    row = [what, name_of(sender), f"{sides} {limit:g}"]
    if not known:
        return [*row, "–", "", "not run"]
    met = sum(sign * of.value <= sign * limit for of in known.values())
    where = max(known, key=lambda name: sign * known[name].value)
    worst = known[where]
    if len(known) > 1:
        return [*row, str(worst), where, f"met in {met} of {len(known)} conditions"]
    within = "; the limit is within the interval" if worst.low < limit <= worst.high else ""
    return [*row, str(worst), where, ("met" if met else "missed") + within]


def rows(found: Sample) -> Iterator[list[str]]:
    """Yields a table row for each criterion and each sender with a loss classifier, from runs in ns-3."""
    at, lossless = (found.at(scenario="5", loss_rate=rate) for rate in (1e-2, 0.0))
    for sender in JUDGED:
        own = at.at(sender)
        for what, base, least in (
            ("its own without loss", lossless.at(sender), OVER_LOSSLESS),
            ("Veno's (β 5)", at.at("veno-5"), OVER_VENO),
            ("the oracle's", at.at("oracle"), OVER_ORACLE),
        ):
            yield judged(f"goodput at loss 0.01 over {what}", sender, own.over(base, "goodput_mbps"), least)
    for sender in (*JUDGED, "cubic-history"):
        yield from no_harm(found.at(scenario="harm"), sender)


def no_harm(found: Sample, sender: str) -> Iterator[list[str]]:
    """Yields a table row for each criterion that limits the harm that `sender` does to the queue and to a
    competing transfer, from the runs `found` of the conditions in harm.toml."""
    plain, oracle, _ = CUBIC if sender.startswith("cubic") else NEWRENO

    def over(runs: Sample, base: str, metric: str) -> dict[str, Estimate]:
        return {where: of.compare(sender, base, metric) for where, of in runs.conditions().items()}

    clean, lossy = found.at(loss_rate=0.0), found.at(loss_rate=1e-2)
    for name, beside in SHARING.items():
        for what, metric in (("drops", "queue_dropped_packets"), ("mean RTT", "mean_rtt_ms")):
            text = f"no random loss, {name}: {what} over the plain sender's"
            yield judged(text, sender, over(clean.at(beside=beside), plain, metric), most=HARM)
    for name, beside in SHARING.items():
        for whose, base in (("the oracle's", oracle), ("Westwood+'s", "westwood")):
            text = f"random loss, {name}: drops per delivered packet over {whose}"
            yield judged(text, sender, over(lossy.at(beside=beside), base, DROPS), most=HARM)
    shared_clean, shared_lossy = clean.at(beside=1), lossy.at(beside=1)
    for name, base, least in (("the oracle", oracle, NEIGHBOUR), ("BBR", "bbr", NEIGHBOUR_BBR)):
        text = f"random loss, shared: neighbour's goodput over that beside {name}"
        yield judged(text, sender, over(shared_lossy, base, "beside_goodput_mbps"), least)
    jain = {where: here.at(sender).mean("jain_index") for where, here in shared_clean.conditions().items()}
    yield judged("no random loss, shared: Jain's index", sender, jain, JAIN)
    text = "no random loss, shared: Jain's index over that of two plain senders"
    yield judged(text, sender, over(shared_clean, plain, "jain_index"), JAIN)


def drops(found: Sample) -> Iterator[list[str]]:
    """Yields a table row for each condition with random loss: the queue drops per 1000 delivered packets of
    the plain sender, of Westwood+, with the oracle, and with the classifier `history`; then those with
    `history` divided by those of the plain sender, with the oracle, and of Westwood+."""
    for where, here in found.at(loss_rate=1e-2).shared_or_not():
        plain, oracle, ours = CUBIC if here.at("cubic") else NEWRENO
        means = [f"{here.at(of).mean(DROPS).value:.2f}" for of in (plain, "westwood", oracle, ours)]
        ratios = [str(here.compare(ours, of, DROPS)) for of in (plain, oracle, "westwood")]
        yield [where, *means, *ratios]


def missed_by_others(found: Sample) -> dict[str, Any]:
    """Returns, for two criteria, table rows, the limit, and the number of conditions in which each of three
    senders meets the criterion: with our classifier `history`, with the oracle, and without a classifier.
    "jain" is Jain's index without random loss; "neighbour" is a competing transfer's goodput with random
    loss, relative to its goodput beside BBR. Returns {} if one of the criteria has no runs."""
    parts: dict[str, list[tuple[str, list[Estimate]]]] = {"jain": [], "neighbour": []}
    for where, here in found.at(scenario="harm", beside=1).conditions().items():
        for plain, oracle, ours in (NEWRENO, CUBIC):
            seeds = {run.run for run in here.at(ours)}
            of = [Sample(r for r in here.at(name) if r.run in seeds) for name in (ours, oracle, plain)]
            if seeds and not of[0][0].labels["loss_rate"]:
                ratio = of[0].over(of[2], "jain_index")
                parts["jain"].append((where, [*(each.mean("jain_index") for each in of), ratio]))
            elif seeds and (bbr := here.at("bbr")):
                parts["neighbour"].append((where, [each.over(bbr, "beside_goodput_mbps") for each in of]))
    return {
        name: {
            "rows": [[where, *map(str, values)] for where, values in parts[name]],
            "limit": f"{limit:g}",
            "met": [sum(values[i].value >= limit for _, values in parts[name]) for i in range(3)],
        }
        for name, limit in (("jain", JAIN), ("neighbour", NEIGHBOUR_BBR))
        if all(parts.values())
    }
