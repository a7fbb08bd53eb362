# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Search the times of lost and of delivered packets for recurring fades: times in which nothing arrives, and
which come again after the same number of seconds."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: The shortest and the longest period that is searched for, in s.
SHORTEST_S, LONGEST_S = 5, 120
#: The most peaks of the periodogram that are tried, periods near each, and recurring fades that are sought.
PEAKS, NEAR, FADES = 16, 40, 4
#: If the scores of the first periods near a peak are all below half the needed score, the rest are not tried.
FIRST_FEW = 3
#: The most losses in the periodogram, and the most losses, at least a second apart, that are compared.
MOST, MOST_APART = 1000, 300
#: The most time that is added to a fade after its last loss, in s.
MOST_ADDED_S = 0.1
#: Times are counted in slots of this many ms.
SLOT_MS = 50
#: The longest fade that is searched for, in slots.
MOST_SLOTS = 1000 // SLOT_MS
#: The least number of fades with a loss, and the least share of slots with a loss among those slots of fades
#: in which data were sent.
FEWEST, LEAST_SHARE = 8, 0.8
#: The limit for the probability with which chance gives as many losses at one of the times that are compared.
CHANCE = 1e-6
#: If this share of the losses is in every second fade (or third, fifth), only these fades count.
ALL_BUT_FEW = 0.95
#: What is added to a fade at both ends, as times are whole microseconds.
ROUNDING_S = 1e-6

Times = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sendings:
    """The times, in s, of what one end of a path sent. `lost_s` has the transmissions that were lost, in
    ascending order; `until_s`, for each of these, the last retransmission that was lost too (at most `lost_s`
    if there was none); `all_s` the starts of all requests or answers; `arrived_s` the starts of undisturbed
    requests or answers, and the retransmissions that ended stalls. `connection` has the number of the
    connection of each loss; `several` says whether the path has several connections."""

    lost_s: Times
    until_s: Times
    all_s: Times
    arrived_s: Times
    connection: npt.NDArray[np.uint32]
    several: bool = False


def fades(of: Sendings) -> Iterator[tuple[float, float, float, int]]:
    """Yield the period, start and length in s, and the number of losses, of each recurring fade of a path.
    The fade that chance is least likely to explain comes first."""
    left = np.ones(len(of.lost_s), dtype=bool)
    for _ in range(FADES):
        best = _surest(of.lost_s[left], of.all_s) if left.sum() >= FEWEST else None
        if best is None:
            return
        every_s, begins_s, lasts_s = _bounded(best, of)
        inside = left & ((of.lost_s - begins_s) % every_s <= lasts_s)
        left &= ~inside
        if of.several and len(np.unique(of.connection[inside])) < 2:
            continue  # this may be the fault of the connection
        every_s, begins_s = _multiple(every_s, begins_s, of.lost_s[inside])
        yield every_s, begins_s % every_s, lasts_s, int(inside.sum())


def _bounded(fade: tuple[float, float, float], of: Sendings) -> tuple[float, float, float]:
    """Return the period, start and length of `fade`, in s, from its first loss to its end. Losses before and
    after it are added, up to the next transmission that arrived. The end is in the middle between the last
    loss, which may be that of a retransmission, and this arrival, but at most `MOST_ADDED_S` after the
    loss."""
    every_s, begins_s, lasts_s = fade
    middle_s = begins_s + lasts_s / 2
    # times relative to the middle of the fade
    lost_s, arrived_s = (
        (at_s - middle_s + every_s / 2) % every_s - every_s / 2 for at_s in (of.lost_s, of.arrived_s)
    )
    outside_s = arrived_s[np.abs(arrived_s) > lasts_s / 2]
    from_s = outside_s[outside_s < 0].max(initial=-every_s / 2)
    to_s = outside_s[outside_s > 0].min(initial=every_s / 2)
    mine = (lost_s > from_s) & (lost_s < to_s)
    last_s = lost_s[mine] + np.maximum(of.until_s - of.lost_s, 0.0)[mine]
    ends_s = float(last_s[last_s < to_s].max())
    ends_s += min((float(to_s) - ends_s) / 2, MOST_ADDED_S)
    first_s = float(lost_s[mine].min()) - ROUNDING_S
    return every_s, middle_s + first_s, ends_s - first_s + ROUNDING_S


def _multiple(every_s: float, begins_s: float, lost_s: Times) -> tuple[float, float]:
    """Return the period and the start, in s, of fades with the losses `lost_s`: the given ones, or a multiple
    of `every_s` and its start if nearly all losses are in every second, third or fifth fade."""
    periods = np.floor((lost_s - begins_s) / every_s).astype(np.int64)
    for times in (2, 3, 5):
        counts = np.bincount(periods % times, minlength=times)
        if counts.max() >= ALL_BUT_FEW * len(periods) and every_s * times <= LONGEST_S:
            return _multiple(every_s * times, begins_s + int(counts.argmax()) * every_s, lost_s)
    return every_s, begins_s


def _surest(lost_s: Times, sent_s: Times) -> tuple[float, float, float] | None:
    """Return the period, start and length, in s, of the recurring fade in which chance is least likely to
    give as many losses, or None if chance may explain every one. Losses less than a second after one that
    counted are left out, because a single outage may lose several segments."""
    apart_s = _thinned(lost_s)
    if len(apart_s) < FEWEST:
        return None
    # many requests in half a slot count as one
    halves = np.unique(np.floor(np.concatenate((sent_s, lost_s)) * (2000 / SLOT_MS)))
    busy_s = (halves + 0.5) * (SLOT_MS / 2000)
    by_chance = _slots(lost_s) / _slots(busy_s)
    best, found = math.log(PEAKS * MOST_SLOTS * len(busy_s) / CHANCE), None
    for near_s in _periods_s(lost_s, apart_s):
        first_best, needed = 0.0, best / 2
        for k, every_s in enumerate(near_s.tolist()):
            if k == FIRST_FEW and first_best <= needed:
                break
            score, fade = _surest_of(every_s, apart_s, lost_s, busy_s, by_chance)
            first_best = max(first_best, score)
            if score > best:
                best, found = score, fade
    return found


def _surest_of(
    every_s: float, apart_s: Times, lost_s: Times, busy_s: Times, by_chance: float
) -> tuple[float, tuple[float, float, float] | None]:
    """Return a score, and the period (`every_s`), start and length, in s, of the fade with the highest score,
    or None. The score is minus the logarithm of an upper bound of the probability that chance gives as many
    losses. `apart_s` are losses at least a second apart, `busy_s` when something was sent, and `by_chance` is
    the share of busy slots that have a loss."""
    best, found = 0.0, None
    span_s = float(busy_s.max() - busy_s.min())
    counts = _folded(apart_s, every_s)
    if (counts[MOST_SLOTS:] - counts[:-MOST_SLOTS]).max() < FEWEST:
        return best, found
    sums = counts, _folded(lost_s, every_s), _folded(busy_s, every_s)
    for wide in range(1, MOST_SLOTS + 1):
        once, lost, there = (of[wide:] - of[:-wide] for of in sums)
        at = np.flatnonzero((once >= FEWEST) & (lost >= LEAST_SHARE * there))
        if not len(at):
            continue
        # periods in which something was sent in this time, and the probability of a loss in one of them
        periods = np.minimum(there[at], math.ceil(span_s / every_s))
        chance = 1 - (1 - by_chance) ** (there[at] / periods)
        share = np.minimum(once[at] / periods, 1.0)
        scores = np.where(share > chance, periods * _divergence(share, chance), 0.0)
        k = int(np.argmax(scores))
        if scores[k] > best:
            best = float(scores[k])
            found = every_s, float(at[k]) * SLOT_MS / 1e3, wide * SLOT_MS / 1e3
    return best, found


def _periods_s(lost_s: Times, apart_s: Times) -> list[Times]:
    """Return the periods, in s, that the losses may have: near the highest peaks of their periodogram
    (Bartlett's, of a point process), those at which the most pairs of the losses `apart_s` coincide. In the
    periodogram, a fade with many losses has more weight than a single loss."""
    lost_s, apart_s = lost_s[:MOST], apart_s[:MOST_APART]
    step = 1 / (4 * max(lost_s[-1] - lost_s[0], apart_s[-1] - apart_s[0]))
    frequencies = np.arange(1 / LONGEST_S, 1 / SHORTEST_S, step)
    power = np.abs(np.exp(2j * np.pi * np.outer(frequencies, lost_s)).sum(axis=1))
    peaks = np.flatnonzero((power >= np.roll(power, 1)) & (power >= np.roll(power, -1)))
    peaks = peaks[np.argsort(-power[peaks], kind="stable")][:PEAKS]
    return [_near_s(apart_s, f, step) for f in frequencies[peaks].tolist()]


def _near_s(apart_s: Times, frequency: float, step: float) -> Times:
    """Return the periods, in s, near 1 / `frequency` at which the most pairs of `apart_s` are, modulo the
    period, less than a slot apart, those with the most pairs first."""
    # from one of these periods to the next, the last event moves by half a slot; two steps are a peak's width
    lowest = max(frequency - 2 * step, 1 / LONGEST_S)
    periods_s = 1 / np.arange(lowest, frequency + 2 * step, 2 * frequency * step * SLOT_MS / 1e3)
    phases_s = np.sort(apart_s % periods_s[:, None], axis=1)
    pairs = np.zeros(len(periods_s), dtype=np.int64)
    for k in range(1, phases_s.shape[1]):
        near = (phases_s[:, k:] - phases_s[:, :-k] < SLOT_MS / 1e3).sum(axis=1)
        pairs += near
        if not near.any():
            break
    most = np.argsort(-pairs, kind="stable")[:NEAR]
    return np.asarray(periods_s[most[pairs[most] >= 0.8 * pairs.max()]])


def _thinned(at_s: Times) -> Times:
    """Return those of the ascending times `at_s` that are at least a second after the last one returned."""
    kept = [float(at_s[0])]
    for one in at_s.tolist():
        if one >= kept[-1] + 1:
            kept.append(one)
    return np.array(kept)


def _slots(at_s: Times) -> int:
    return len(np.unique(np.floor(at_s * (1000 / SLOT_MS))))


def _folded(at_s: Times, every_s: float) -> npt.NDArray[np.int64]:
    """Return cumulative counts along the period `every_s`: element i is the sum over all periods of the slots
    among the period's first i in which one of the times `at_s` is. The first second of the period is repeated
    at its end, so that a fade may begin in one period and end in the next."""
    length = int(every_s * 1000 / SLOT_MS) + 1
    period, since_s = np.divmod(at_s, every_s)
    slots = np.unique((period * length + since_s * (1000 / SLOT_MS)).astype(np.int64))
    counts = np.bincount(slots % length, minlength=length)
    return np.concatenate(([0], np.cumsum(np.concatenate((counts, counts[:MOST_SLOTS])))))


def _divergence(share: Times, chance: Times) -> Times:
    """Return the Kullback-Leibler divergence, in nats, of coins that show heads with the probabilities
    `share` and `chance`. Of n coins with `chance`, at least the share `share` shows heads with a probability
    of at most exp(-n times the divergence) (Chernoff)."""
    rest = 1 - share
    with np.errstate(divide="ignore", invalid="ignore"):
        tails = np.where(rest > 0, rest * np.log(rest / (1 - chance)), 0.0)
    return np.asarray(share * np.log(share / chance) + tails)
