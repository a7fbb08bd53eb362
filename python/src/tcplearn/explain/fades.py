# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Find recurring fades. A fade is a short time in which a path loses everything, and it recurs if it comes
again after the same number of seconds, as when a terminal changes satellites. How long a fade lasts can be
seen only if it recurs: the losses of many fades together show which part of the period is lost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tcplearn.explain.causes import RESENT

#: The shortest and the longest period that is searched for, and how much of a capture is searched, in s.
SHORTEST_S, LONGEST_S, SEARCHED_S = 5, 120, 3600
#: The most periods of a path that are compared, and the most paths.
PEAKS, PATHS = 16, 20
#: The most time that is added to a fade after its last loss, in s.
MOST_ADDED_S = 0.1
#: The most losses from which the periodogram is made, and the most that are compared, a second apart.
MOST, MOST_APART = 1000, 300
#: Times are counted in slots of this many ms.
SLOT_MS = 50
#: The longest fade, in slots.
LONGEST = 1000 // SLOT_MS
#: The least number of fades with a loss; and the least share with a loss, of slots in fades with a request.
FEWEST, LEAST_SHARE = 8, 0.8
#: The greatest probability with which losses that come by chance are taken for fades, for each path.
CHANCE = 1e-6

_KEY = ("source", "connection")
_PAIR = ("source", "client", "host")
_GROUP = (*_PAIR, "by")
#: The causes of stalls after which a lost segment was sent again.
_LOST = (*RESENT, "lost_fast")


@dataclass(frozen=True, slots=True)
class Fade:
    """A recurring fade on the path from the end `by` (client or server) to the other one: each `every_s`,
    first at `begins_s` after the capture's first packet, everything is lost for `lasts_s`. `losses` is the
    number of stalls whose lost transmission lies in one of these fades."""

    source: int
    client: str  # address
    host: str  # address of the server
    by: str
    every_s: float
    begins_s: float
    lasts_s: float
    losses: int

    def left_ms(self, at_s: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return how much of a fade is left at each of the times `at_s`, in ms: 0 outside of fades."""
        since_s = (at_s - self.begins_s) % self.every_s
        return np.maximum(self.lasts_s - since_s, 0.0) * 1e3


def find(requests: pl.DataFrame, stalls: pl.DataFrame, connections: pl.DataFrame) -> list[Fade]:
    """Return the recurring fades in captures, those with the most losses first, from the tables of requests,
    of stalls (waits in which no data moved) and of connections."""
    stalls = _hosts(stalls.filter(pl.col("cause").cast(pl.String).is_in(_LOST)))
    many = stalls.group_by(_GROUP).len().filter(pl.col("len") >= FEWEST).sort("len", descending=True)[:PATHS]
    if not many.height:
        return []
    chosen = _hosts(requests).join(many.drop("by", "len").unique(), on=_PAIR, how="semi")
    chosen = chosen.join(connections.select(*_KEY, "to_client_ms"), on=_KEY, how="left")
    sent = {key: of for key, of in chosen.group_by(_PAIR)}
    out = []
    for (source, client, host, by), lost in stalls.join(many, on=_GROUP, how="semi").group_by(_GROUP):
        sendings = _sendings(sent.get((source, client, host), chosen.clear()), lost, by == "server")
        path = int(source), str(client), str(host), str(by)
        out += [Fade(*path, *fade) for fade in _of_path(sendings)]
    return sorted(out, key=lambda fade: (-fade.losses, fade.source))


@dataclass(frozen=True, slots=True)
class _Sendings:
    """The times, in s, of what one end of a path sent: transmissions that were lost, in ascending order; for
    each of these the last retransmission that was lost too; all requests or answers; and transmissions that
    arrived."""

    lost_s: npt.NDArray[np.float64]
    until_s: npt.NDArray[np.float64]
    all_s: npt.NDArray[np.float64]
    arrived_s: npt.NDArray[np.float64]


def _sendings(requests: pl.DataFrame, stalls: pl.DataFrame, of_answers: bool) -> _Sendings:
    """Return when an end of one path sent, from the requests and stalls of the path."""
    stalls = stalls.sort("start_s")
    repaired_s = stalls["start_s"] + (stalls["duration_ms"] - stalls["srtt_ms"].fill_null(0.0)) / 1e3
    smooth = requests.select(pl.sum_horizontal(f"{cause}_ms" for cause in _LOST) == 0).to_series()
    sent_s = requests["start_s"]
    if of_answers:
        # when the answer began, taken from the undisturbed requests
        took_ms = pl.col("response_ms")
        usual_ms = pl.when(smooth).then(took_ms).otherwise(took_ms.filter(smooth).median())
        wait_ms = usual_ms - pl.col("to_client_ms").fill_null(0.0)
        sent_s = requests.select(pl.col("start_s") + wait_ms / 1e3)["start_s"]
    arrived_s = np.concatenate((sent_s.filter(smooth).to_numpy(), repaired_s.to_numpy()))
    of_lost = stalls["start_s"].to_numpy(), stalls["silent_until_s"].to_numpy()
    return _Sendings(*of_lost, sent_s.drop_nulls().to_numpy(), arrived_s[np.isfinite(arrived_s)])


def left_ms(stalls: pl.DataFrame, fades: list[Fade]) -> pl.Series:
    """Return how much of a recurring fade was left when the segment of each stall was lost, in ms; 0 if the
    segment was not lost in a fade."""
    out = np.zeros(stalls.height)
    named = _hosts(stalls) if fades else stalls
    at_s = stalls["start_s"].to_numpy()
    for fade in fades:
        mine = named.select(pl.all_horizontal(pl.col(name) == getattr(fade, name) for name in _GROUP))
        out = np.maximum(out, np.where(mine.to_series().to_numpy(), fade.left_ms(at_s), 0.0))
    return pl.Series("fade_ms", out)


def _hosts(rows: pl.DataFrame) -> pl.DataFrame:
    """Return `rows` with addresses as text, and that of the server, without its port, as `host`."""
    host = pl.col("server").cast(pl.String).str.replace(r":\d+$", "").alias("host")
    by = [pl.col("by").cast(pl.String)] if "by" in rows.columns else []
    return rows.with_columns(pl.col("client").cast(pl.String), host, *by)


def _of_path(of: _Sendings) -> Iterator[tuple[float, float, float, int]]:
    """Yield (period, begin, length, number of losses) of the recurring fades of a path, the surest first."""
    left = np.ones(len(of.lost_s), dtype=bool)
    while left.sum() >= FEWEST:
        best = _surest(of.lost_s[left], of.all_s)
        if best is None:
            return
        every_s, begins_s, lasts_s = _widened(best, of)
        since_s = (of.lost_s - begins_s) % every_s
        inside = left & (since_s <= lasts_s)
        # it ends between its last loss and the first transmission after it that arrived
        ends_s = float((since_s + np.maximum(of.until_s - of.lost_s, 0.0))[inside].max())
        after_s = (of.arrived_s - begins_s) % every_s - ends_s
        gap_s = min(float(after_s[after_s > 0].min(initial=np.inf)), 2 * MOST_ADDED_S)
        yield every_s, begins_s, min(ends_s + gap_s / 2, every_s / 2), int(inside.sum())
        left &= ~inside


def _widened(fade: tuple[float, float, float], of: _Sendings) -> tuple[float, float, float]:
    """Return the period, begin and length, in s, of `fade` from its first to its last loss. Losses before and
    after it are added, up to the next transmission that arrived."""
    every_s, begins_s, lasts_s = fade
    middle_s = begins_s + lasts_s / 2
    # times relative to the middle of the fade
    lost_s, arrived_s = (
        np.sort((at_s - middle_s + every_s / 2) % every_s - every_s / 2) for at_s in (of.lost_s, of.arrived_s)
    )
    outside_s = arrived_s[np.abs(arrived_s) > lasts_s / 2]
    first_s = outside_s[outside_s < 0].max(initial=-every_s / 2)
    last_s = outside_s[outside_s > 0].min(initial=every_s / 2)
    mine_s = lost_s[(lost_s > first_s) & (lost_s < last_s)]
    return every_s, middle_s + float(mine_s[0]), float(mine_s[-1] - mine_s[0])


def _surest(
    lost_s: npt.NDArray[np.float64], started_s: npt.NDArray[np.float64]
) -> tuple[float, float, float] | None:
    """Return the period, begin and length, in s, of those recurring times in which chance is least likely to
    give so many losses, or None if chance may explain them. Losses within one second count once."""
    begin_s = float(lost_s[0])
    lost_s, started_s = (of[(of >= begin_s) & (of < begin_s + SEARCHED_S)] for of in (lost_s, started_s))
    apart_s, busy_s = _thinned(lost_s), np.concatenate((started_s, lost_s))
    if len(apart_s) < FEWEST:
        return None
    by_chance = _folded(lost_s, SEARCHED_S)[-1] / _folded(busy_s, SEARCHED_S)[-1]
    needed = math.log(PEAKS * LONGEST * len(busy_s) / CHANCE)
    best, found = needed, None
    for near_s in _periods_s(lost_s, apart_s):
        score, _ = _surest_of(near_s[len(near_s) // 2], apart_s, lost_s, busy_s, by_chance)
        if score > best:
            scored = (_surest_of(every_s, apart_s, lost_s, busy_s, by_chance) for every_s in near_s.tolist())
            best, found = max(scored, key=lambda one: one[0])
    return found


def _surest_of(
    every_s: float,
    apart_s: npt.NDArray[np.float64],
    lost_s: npt.NDArray[np.float64],
    busy_s: npt.NDArray[np.float64],
    by_chance: float,
) -> tuple[float, tuple[float, float, float] | None]:
    """Return how sure the surest fades with the period `every_s` are, and these fades. How sure is minus the
    logarithm of a bound of the probability that chance gives so many losses in them. `apart_s` are the times
    of losses that are at least a second apart, `lost_s` those of all losses, `busy_s` those of requests or
    answers. `by_chance` is the share of slots with a request or answer that have a loss."""
    best, found = 0.0, None
    span_s = float(busy_s.max() - busy_s.min())
    counts = _folded(apart_s, every_s)
    if (counts[LONGEST:] - counts[:-LONGEST]).max() < FEWEST:
        return best, found
    sums = counts, _folded(lost_s, every_s), _folded(busy_s, every_s)
    for wide in range(1, LONGEST + 1):
        once, lost, there = (of[wide:] - of[:-wide] for of in sums)
        at = np.flatnonzero((once >= FEWEST) & (lost >= LEAST_SHARE * there))
        # periods in which something was sent in this time, and the probability of a loss in one of them
        periods = np.minimum(there[at], math.ceil(span_s / every_s))
        chance = 1 - (1 - by_chance) ** (there[at] / periods)
        share = np.minimum(once[at] / periods, 1.0)
        scores = np.where(share > chance, periods * _divergence(share, chance), 0.0)
        if not len(at):
            continue
        k = int(np.argmax(scores))
        if scores[k] > best:
            best = float(scores[k])
            found = every_s, float(at[k]) * SLOT_MS / 1e3, wide * SLOT_MS / 1e3
    return best, found


def _periods_s(
    lost_s: npt.NDArray[np.float64], apart_s: npt.NDArray[np.float64]
) -> list[npt.NDArray[np.float64]]:
    """Return the periods, in s, that the losses at the times `lost_s` may have: for each of the highest
    peaks of their periodogram (Bartlett's, of a point process) the periods near it at which most of the
    losses `apart_s`, which are at least a second apart, coincide. In the periodogram, a fade with many losses
    has more weight than a single loss."""
    lost_s, apart_s = lost_s[:MOST], apart_s[:MOST_APART]
    step = 1 / (4 * max(lost_s[-1] - lost_s[0], apart_s[-1] - apart_s[0]))
    frequencies = np.arange(1 / LONGEST_S, 1 / SHORTEST_S, step)
    power = np.abs(np.exp(2j * np.pi * np.outer(frequencies, lost_s)).sum(axis=1))
    peaks = np.flatnonzero((power >= np.roll(power, 1)) & (power >= np.roll(power, -1)))
    peaks = peaks[np.argsort(-power[peaks])][:PEAKS]
    return [_near_s(apart_s, f, step) for f in frequencies[peaks].tolist()]


def _near_s(apart_s: npt.NDArray[np.float64], frequency: float, step: float) -> npt.NDArray[np.float64]:
    """Return the periods, in s, near 1 / `frequency` with the most pairs of events that are, modulo the
    period, at most four slots apart."""
    # from one of these periods to the next, the last event moves by half a slot
    periods_s = 1 / np.arange(frequency - step, frequency + step, 2 * frequency * step * SLOT_MS / 1e3)
    phases_s = np.sort(apart_s % periods_s[:, None], axis=1)
    pairs = np.zeros(len(periods_s), dtype=np.int64)
    for k in range(1, phases_s.shape[1]):
        near = (phases_s[:, k:] - phases_s[:, :-k] < 4 * SLOT_MS / 1e3).sum(axis=1)
        pairs += near
        if not near.any():
            break
    return np.asarray(periods_s[pairs >= 0.95 * pairs.max()])


def _thinned(at_s: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return those of the ascending times that are at least a second after the last one returned."""
    kept = [float(at_s[0])]
    for one in at_s.tolist():
        if one >= kept[-1] + 1:
            kept.append(one)
    return np.array(kept)


def _folded(at_s: npt.NDArray[np.float64], every_s: float) -> npt.NDArray[np.int64]:
    """Return the number of slots with at least one of the times `at_s`, in all periods of `every_s` together,
    summed from the beginning of the period to each of its slots. The first second is repeated at the end, so
    that a fade may begin in one period and end in the next."""
    length = int(every_s * 1000 / SLOT_MS) + 1
    period, since_s = np.divmod(at_s, every_s)
    slots = np.unique((period * length + since_s * (1000 / SLOT_MS)).astype(np.int64))
    counts = np.bincount(slots % length, minlength=length)
    return np.concatenate(([0], np.cumsum(np.concatenate((counts, counts[:LONGEST])))))


def _divergence(share: npt.NDArray[np.float64], chance: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the Kullback-Leibler divergence, in nats, of coins that show heads with the probabilities
    `share` and `chance`. If n coins with the probability `chance` are thrown, the probability that at least
    `share` of them show heads is at most exp(-n times this) (Chernoff)."""
    rest = 1 - share
    with np.errstate(divide="ignore", invalid="ignore"):
        tails = np.where(rest > 0, rest * np.log(rest / (1 - chance)), 0.0)
    return np.asarray(share * np.log(share / chance) + tails)
