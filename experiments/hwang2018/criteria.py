# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Judges senders that keep their window after a loss that a classifier calls random, by criteria for their
goodput and for the harm that they do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from experiments.hwang2018.sample import Sample, name_of
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
# oracle, whose windows are as large as the path allows, and to Westwood+, which classifies nothing. 0.1 drops
# per 1000 delivered packets are added to each, because some runs have none. (At first one packet was added to
# each count; of two runs without drops, the one that delivered less then missed the criterion.)
DROPS, DROPS_ADDED = "drops_per_1000", 0.1

JUDGED = ("ml-hwang2018", "ml-wide", "ml-adaptive", "ml-history", "ml-history-45", "ml-past")
#: For NewReno and CUBIC: the sender without a classifier, with the oracle, and with classifiers.
KINDS = (
    ("newreno", "oracle", JUDGED),
    ("cubic", "cubic-oracle", ("cubic-history",)),
)
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
    known = {where: of for where, of in (by if isinstance(by, Mapping) else {"": by}).items() if of}
    row = [what, name_of(sender), f"≤ {most:g}" if least is None else f"≥ {least:g}"]
    if not known:
        return [*row, "–", "", "not run"]
    met = [of.value <= most if least is None else of.value >= least for of in known.values()]
    where = (max if least is None else min)(known, key=lambda name: known[name].value)
    worst = known[where]
    if len(known) > 1:
        return [*row, str(worst), where, f"met in {sum(met)} of {len(met)} conditions"]
    limit = most if least is None else least
    within = "; the limit is within the interval" if worst.low < limit <= worst.high else ""
    return [*row, str(worst), where, ("met" if met[0] else "missed") + within]


def main_result(found: Sample) -> dict[str, Estimate]:
    """Returns the ratios of the goodput with the loss classifier `history` to the goodputs of NewReno, of
    Veno and of the oracle (which knows each loss's cause), at a random loss rate of 0.01 on the path of
    hwang2018's figure 5."""
    at = found.at(scenario="5", loss_rate=1e-2)
    others = {"newreno": "newreno", "veno": "veno-5", "oracle": "oracle"}
    return {name: at.at("ml-history").over(at.at(base), "goodput_mbps") for name, base in others.items()}


def rows(found: Sample) -> Iterator[list[str]]:
    """Yields a table row for each criterion and each sender with a loss classifier, from the runs `found` in
    ns-3."""
    at, lossless = (found.at(scenario="5", loss_rate=rate) for rate in (1e-2, 0.0))
    for sender in JUDGED:
        own = at.at(sender)
        for what, base, least in (
            ("its own without loss", lossless.at(sender), OVER_LOSSLESS),
            ("Veno's (β 5)", at.at("veno-5"), OVER_VENO),
            ("the oracle's", at.at("oracle"), OVER_ORACLE),
        ):
            yield judged(f"goodput at loss 0.01 over {what}", sender, own.over(base, "goodput_mbps"), least)
    for plain, oracle, ours in KINDS:
        for sender in ours:
            yield from no_harm(found.at(scenario="harm"), plain, oracle, sender)


def no_harm(found: Sample, plain: str, oracle: str, sender: str) -> Iterator[list[str]]:
    """Yields a table row for each criterion that limits the harm that `sender` does to the queue and to a
    competing transfer. `found` has the runs of the scenario file harm.toml; `plain` is the sender without a
    loss classifier, `oracle` the sender that knows each loss's cause."""

    def over(runs: Sample, base: str, metric: str, plus: float = 0.0) -> dict[str, Estimate]:
        return {
            where: here.at(sender).over(here.at(base), metric, plus=plus)
            for where, here in runs.conditions().items()
        }

    clean = found.at(loss_rate=0.0)
    shared = clean.at(beside=1)
    for name, runs in (("alone", clean.at(beside=0)), ("shared", shared)):
        for what, metric in (("drops", "queue_dropped_packets"), ("mean RTT", "mean_rtt_ms")):
            text = f"no random loss, {name}: {what} over the plain sender's"
            yield judged(text, sender, over(runs, plain, metric), most=HARM)
    alone, lossy = (found.at(loss_rate=1e-2, beside=beside) for beside in (0, 1))
    for name, runs in (("alone", alone), ("shared", lossy)):
        for whose, base in (("the oracle's", oracle), ("Westwood+'s", "westwood")):
            text = f"random loss, {name}: drops per delivered packet over {whose}"
            yield judged(text, sender, over(runs, base, DROPS, DROPS_ADDED), most=HARM)
    for name, base, least in (("the oracle", oracle, NEIGHBOUR), ("BBR", "bbr", NEIGHBOUR_BBR)):
        text = f"random loss, shared: neighbour's goodput over that beside {name}"
        yield judged(text, sender, over(lossy, base, "beside_goodput_mbps"), least)
    jain = {where: here.at(sender).mean("jain_index") for where, here in shared.conditions().items()}
    yield judged("no random loss, shared: Jain's index", sender, jain, JAIN)
    text = "no random loss, shared: Jain's index over that of two plain senders"
    yield judged(text, sender, over(shared, plain, "jain_index"), JAIN)


def drops(found: Sample) -> Iterator[list[str]]:
    """Yields a table row for each condition with random loss. It has the queue drops per 1000 delivered
    packets of four senders: one without a loss classifier, Westwood+, one with the oracle (which knows each
    loss's cause), and one with the classifier `history`. The last three cells have the drops with `history`
    divided by those of each other sender."""
    for beside, words in ((0, "alone"), (1, "shared")):
        for where, here in found.at(loss_rate=1e-2, beside=beside).conditions().items():
            base = "cubic" if here.at("cubic") else "newreno"
            oracle, ours = ("cubic-oracle", "cubic-history") if base == "cubic" else ("oracle", "ml-history")
            own = here.at(ours)
            means = [f"{here.at(of).mean(DROPS).value:.2f}" for of in (base, "westwood", oracle, ours)]
            ratios = [
                str(own.over(here.at(of), DROPS, plus=DROPS_ADDED)) for of in (base, oracle, "westwood")
            ]
            yield [f"{words}, {where}", *means, *ratios]


def missed_by_others(found: Sample) -> dict[str, Any]:
    """Returns, for two criteria, table rows, the limit, and the number of conditions in which each of three
    senders meets the criterion. "jain" is Jain's index without random loss; "neighbour" is a competing
    transfer's goodput with random loss, relative to its goodput beside BBR. The senders have our loss
    classifier `history`, the oracle (which knows each loss's cause), or no classifier."""
    shared = found.at(scenario="harm", beside=1)
    jain: list[tuple[str, list[Estimate]]] = []
    neighbour: list[tuple[str, list[Estimate]]] = []
    for where, here in shared.conditions().items():
        for names in (("ml-history", "oracle", "newreno"), ("cubic-history", "cubic-oracle", "cubic")):
            seeds = {run.run for run in here.at(names[0])}
            own, oracle, plain = (Sample(r for r in here.at(name) if r.run in seeds) for name in names)
            if not own:
                continue
            if not own[0].labels["loss_rate"]:
                values = [each.mean("jain_index") for each in (own, oracle, plain)]
                jain.append((where, [*values, own.over(plain, "jain_index")]))
            elif bbr := here.at("bbr"):
                values = [each.over(bbr, "beside_goodput_mbps") for each in (own, oracle, plain)]
                neighbour.append((where, values))
    parts = {"jain": (jain, JAIN), "neighbour": (neighbour, NEIGHBOUR_BBR)}
    return {
        name: {
            "rows": [[where, *map(str, values)] for where, values in part],
            "limit": f"{limit:g}",
            "met": [sum(values[i].value >= limit for _, values in part) for i in range(3)],
        }
        for name, (part, limit) in parts.items()
        if jain and neighbour
    }
