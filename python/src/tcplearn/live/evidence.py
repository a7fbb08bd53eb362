# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Say what counts of retransmissions prove about learned minimum RTOs (floors): that they do harm, that there
is a first sign of harm, or that more than a given harm is excluded. The counts are those of an epoch, a time
in which the share of new connections with floors does not change. A round is a request and its answer, or a
flight of segments and its ACK."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log, log1p, sqrt

from .arms import Counts
from .sequential import clustered_rate_limits, log_harm, log_less, log_rate, rate_limits, spent

RISK = 0.05  # probability that floors are stopped for all connections although they do no harm
#: This number of spurious retransmissions in a round, beyond that in the control group, is tolerated.
_TOLERATED = 0.001
#: A first sign of harm: the rate of retransmissions exceeds that of the control group by more than the first
#: number, with an e-value of more than the second.
_DOUBT_RATE, _DOUBT = 0.002, 20.0
#: The factor by which floors may multiply the odds that a connection has a retransmission, as a logarithm:
#: larger factors must be excluded after a first sign of harm, before more connections get floors again.
_DOUBTED_MORE = 1.0
#: The factor, as a logarithm, by which floors may multiply the odds that a connection has retransmissions by
#: timer, spurious or needed, without being called harmful.
_RESENT_MORE = 0.2
_CONTROL_ROUNDS = 500  # with fewer rounds the control group's rate in a single epoch is not used
#: The counts that are tested for harm, and the part of `RISK` for each.
_TESTS = {
    "spurious_1": 0.5,
    "spurious_4": 0.2,
    "spurious_16": 0.1,
    "resent_1": 0.1,
    "resent_4": 0.05,
    "resent_16": 0.05,
}
#: The signs of harm by kind. Each has four parts: the count of the control group that gives the rate, the
#: count of the connections with floors that is compared with it, the count of rounds to which both rates
#: refer, and the words for a message.
_SIGNS = {
    "spurious": ("spurious", "spurious_1", "rounds", "a spurious retransmission"),
    "resent": ("resent_early", "resent_early", "rounds_early", "a retransmission by timer"),
}
_NONE = -700.0  # the logarithm of no evidence, in place of minus infinity
_KINDS = {"spurious": "spurious retransmissions", "resent": "retransmissions by timer"}


def harm(
    control: Counts, ours: Counts, share: float, tests: int, earlier: Mapping[str, float] | None = None
) -> str:
    """Return a sentence that says how learned minimum RTOs (floors) do harm, or "" if no harm is proved. The
    counts are those of the connections with floors (`ours`, the share `share` of new connections) and without
    (`control`) in one epoch, a time in which this share does not change. It is epoch number `tests`, from 1,
    since the share began to rise; `earlier` is the result of carried() at the end of the epoch before."""
    if not 0 < share < 1:
        return ""
    for name, evidence in carried(control, ours, share, tests, earlier or {}).items():
        if evidence >= -log(RISK * _TESTS[name]):
            return _because(name, control, ours)
    return ""


def carried(
    control: Counts, ours: Counts, share: float, tests: int, earlier: Mapping[str, float]
) -> dict[str, float]:
    """Return, by test, the logarithm of the evidence of harm up to now, which counts in the next epoch too.
    An epoch is a time in which the share of new connections with learned minimum RTOs (floors) does not
    change. The evidence is a weighted mean over the epochs so far. An epoch's value in the mean is the
    product of its e-value and those of the later epochs, and epoch number n has the weight 1 / n(n + 1). As
    the weights add up to 1, the mean is an e-value itself. See harm() for the arguments."""
    if not 0 < share < 1:
        return dict(earlier)
    allowed = _TOLERATED * ours["rounds"]
    out = {}
    for name in _TESTS:
        tolerated = _RESENT_MORE if name.startswith("resent") else 0.0
        found = log_harm(ours[name], control[name], share, allowed, tolerated)
        begun, new = earlier.get(name, _NONE), log(spent(1.0, tests))
        out[name] = found + max(begun, new) + log1p(exp(-abs(begun - new)))
    return out


def first_sign(control: Counts, control_before: Counts, ours: Counts) -> str:
    """Return a sentence about the first sign of harm while all connections but the control group have learned
    minimum RTOs (floors), or "" if there is none. The sign is that more of the connections with floors
    (`ours`) have spurious retransmissions, or retransmissions by timer, than the control group's rate plus
    `_DOUBT_RATE` explains. The control group is small then, and its paths may lose or delay more packets than
    before. So its rate is the higher one of two: that of all epochs together (`control`), and that of the
    last epoch with enough rounds (`control_before`) with one standard error added. Of the retransmissions by
    timer only a connection's first counts, and only in its first 32 rounds, because the connections of one
    group may be older than those of the other."""
    for name, (of_control, counted, per, what) in _SIGNS.items():
        rate = _rate(control, of_control, per)
        if control_before[per] >= _CONTROL_ROUNDS:
            rate = max(rate, _rate(control_before, of_control, per, errors=1.0))
        expected = ours[per] * (_DOUBT_RATE + rate)
        if expected and log_rate(ours[counted], expected) > log(_DOUBT):
            return f"{ours[name]} of {ours['rounds']} rounds had {what}"
    return ""


def is_evidence(value: Mapping[str, float]) -> bool:
    """Return whether `value` can be a result of carried()."""
    return value.keys() <= _TESTS.keys()


def has_enough(control: Counts) -> bool:
    """Return whether `control`, the control group's counts in one epoch, has enough rounds for the argument
    `control_before` of first_sign()."""
    return control["rounds_early"] >= _CONTROL_ROUNDS


def is_undecided(control: Counts, ours: Counts, share: float) -> bool:
    """Return whether the comparison that a first sign of harm has begun is not decided yet. It is decided if
    the counts of retransmissions by timer exclude either that connections with learned minimum RTOs (counts
    `ours`, `share` of all) are much more likely to have one, or that many more of them have one."""
    less = log_less(ours["resent_early"], control["resent_early"], share, _DOUBTED_MORE)
    high = rate_limits(ours["resent_early"], ours["rounds_early"], RISK)[1]
    low = rate_limits(control["resent_early"], control["rounds_early"], RISK)[0]
    return less < log(_DOUBT) and high - low > _DOUBT_RATE


def excess(control: Counts, ours: Counts) -> float:
    """Return the upper limit of the rate of spurious retransmissions in round trips with a lowered minimum
    RTO (counts `ours`), less the lower limit of this rate in the control group (counts `control`)."""
    return most_spurious(ours) - _limits(control, control["rounds"])[0]


def most_spurious(ours: Counts) -> float:
    """Return the upper limit of the rate of spurious retransmissions in rounds (round trips) in which a
    learned minimum RTO (floor) was below the kernel's."""
    return _limits(ours, ours["rounds_lowered"])[1]


def spurious_rate(of: Counts) -> float:
    """Return the number of spurious retransmissions per round."""
    return _rate(of, "spurious", "rounds")


def _rate(of: Counts, name: str, per: str, errors: float = 0.0) -> float:
    """Return the count `name` per round counted in `per`, plus `errors` standard errors."""
    return (of[name] + errors * sqrt(of[name])) / of[per] if of[per] else 0.0


def _limits(of: Counts, rounds: int) -> tuple[float, float]:
    return clustered_rate_limits(of["spurious"], rounds, of["spurious_square"], RISK)


def _because(name: str, control: Counts, ours: Counts) -> str:
    kind, times = name.split("_")
    more = "" if times == "1" else f" in {times} rounds or more"
    return (
        f"{ours[name]} of {ours['connections']} connections with learned floors had {_KINDS[kind]}{more}, "
        f"and {control[name]} of the {control['connections']} without them"
    )
