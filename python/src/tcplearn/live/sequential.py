# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test hypotheses sequentially: results may be looked at at any time and as often as wanted while data are
added. A test returns the logarithm of an e-value. If the hypothesis holds, the probability that this
logarithm ever exceeds log(1/a) is at most a (Ville's inequality).

Sources: Lindon and Malek, "Anytime-Valid Inference for Multinomial Count Data" (NeurIPS 2022), for
log_more(); the mixture of Robbins ("Statistical Methods Related to the Law of the Iterated Logarithm", 1970)
with a gamma weight for rate_limits(). docs/live-guard.md has the equations."""

from __future__ import annotations

from math import exp, inf, lgamma, log, log1p

#: Alternatives in log_more(), of equal weight: logarithms of the odds ratio to the control group.
_MORE = (0.25, 0.5, 1.0, 2.0, 3.0, 5.0)
#: Alternatives in log_rate(), of equal weight: multiples of the rate that is tested.
_TIMES = (1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 40.0)
#: Shape of the gamma weight in rate_limits().
_SHAPE = 0.5


def log_more(ours: int, control: int, share: float, tolerated: float = 0.0) -> float:
    """Return the logarithm of an e-value against the hypothesis that an event is no more frequent in
    connections with learned minimum RTOs than in the control group. `ours` and `control` are the numbers of
    connections with an event in the two groups, `share` is the probability, between 0 and 1, with which a
    connection was drawn to get a learned minimum RTO, and `tolerated` the logarithm of the factor by which
    the odds that an event is one of `ours` may exceed those of the draw. The test makes no assumption about
    the connections: only the draw is random."""
    allowed = _tilted(share, tolerated)
    parts = []
    for more in _MORE:
        tilted = _tilted(allowed, more)
        parts.append(ours * log(tilted / allowed) + control * log((1 - tilted) / (1 - allowed)))
    return _log_mean(parts)


def log_less(ours: int, control: int, share: float, more: float) -> float:
    """Return the logarithm of an e-value against the hypothesis that the odds that an event is one of `ours`
    are at least exp(`more`) times the odds with which a connection was drawn to get a learned minimum RTO.
    The other arguments are those of log_more()."""
    return log_more(control, ours, 1 - _tilted(share, more))


def _tilted(share: float, by: float) -> float:
    odds = share / (1 - share) * exp(by)
    return odds / (1 + odds)


def _log_mean(logs: list[float]) -> float:
    most = max(logs)
    return most + log(sum(exp(one - most) for one in logs) / len(logs))


def log_rate(events: int, expected: float) -> float:
    """Return the logarithm of an e-value against the hypothesis that the mean number of independent events is
    at most `expected`, which is more than 0."""
    return _log_mean([events * log(times) - (times - 1) * expected for times in _TIMES])


def log_harm(ours: int, control: int, share: float, allowed: float, tolerated: float = 0.0) -> float:
    """Return the logarithm of an e-value as log_more() does, but tolerate that learned minimum RTOs cause
    `allowed` events on average, in addition to those that the draw divides between the two groups. How many
    of the events `ours` are such tolerated ones is not known, so the number with the least evidence of harm
    is taken. The e-value is the product of two independent ones: for the tolerated events and for the
    others."""
    if allowed <= 0:
        return log_more(ours, control, share, tolerated)

    def at(others: int) -> float:
        return log_more(ours - others, control, share, tolerated) + log_rate(others, allowed)

    low, high = 0, ours  # at() is convex
    while low < high:
        middle = (low + high) // 2
        if at(middle) <= at(middle + 1):
            high = middle
        else:
            low = middle + 1
    return at(low)


def rate_limits(events: int, trials: int, risk: float) -> tuple[float, float]:
    """Return the lower and the upper limit of the rate at which `events` occurred in `trials`. For each
    limit, the probability that it is ever wrong, however often it is computed while trials are added, is at
    most `risk` / 2."""
    if not trials:
        return 0.0, inf
    wall = log(2 / risk)
    return (
        _limit(events, wall, 0.0, float(events)) / trials,
        _limit(events, wall, 2 * events + 4 * wall + 8, float(events)) / trials,
    )


def clustered_rate_limits(events: int, trials: int, squares: int, risk: float) -> tuple[float, float]:
    """Return limits of a rate as rate_limits() does, for events that cluster in connections: the numbers of
    events and of trials are first divided by the mean size of a cluster. `squares` is the sum, over
    connections, of the square of the number of their events."""
    together = max(1.0, squares / events) if events else 1.0
    return rate_limits(round(events / together), round(trials / together), risk)


def _log_gamma(events: int, expected: float) -> float:
    """Return the logarithm of the ratio of two likelihoods of `events` events: at a rate drawn from a gamma
    distribution with mean 1, and at the rate 1, at which `expected` events are expected."""
    a = _SHAPE
    return a * log(a) + lgamma(a + events) - lgamma(a) + expected - (a + events) * log(a + expected)


def _limit(events: int, wall: float, far: float, near: float) -> float:
    """Return, by bisection, one limit of the mean number of events, given that `events` occurred: the number
    between `near` and `far` that is farthest from `near` and has a _log_gamma() below `wall`."""
    if far < near and events == 0:
        return 0.0
    for _ in range(50):
        middle = (far + near) / 2
        if middle > 0 and _log_gamma(events, middle) < wall:
            near = middle
        else:
            far = middle
    return near


def spent(risk: float, number: int) -> float:
    """Return the part of `risk` for test number `number` (from 1). All parts add up to `risk`."""
    return exp(log(risk) - log(number) - log1p(number))
