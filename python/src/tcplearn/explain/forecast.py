# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Forecast the response times that each candidate setting of the retransmission timer would give, from the
requests and losses in captures. A stall is a wait in which no data moved. For each stall and candidate k, the
native code gives two durations, both from the lost transmission on: `same_k`, until the candidate has sent as
many retransmissions as the sender did, and `repaired_k`, until its first retransmission after the path works
again."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from tcplearn.explain.answers import SIDES, Figure, Forecast, Outlook
from tcplearn.explain.candidates import ALL, SEEN, Candidate
from tcplearn.explain.causes import PATH_SILENT, RESENT
from tcplearn.explain.model import KEY, Explained, address, held_up

#: The number of draws of what a capture cannot show, and of bootstrap samples for each draw.
DRAWS, BOOTSTRAP = 16, 64
#: The number of points of the curve of response times.
CURVE = 60
#: The figure "slowest" is the mean response time of this share of requests, the slowest ones.
SLOWEST = 0.02
#: The percentiles that have an interval.
PERCENTILES = {"median": 0.5, "p99": 0.99, "p999": 0.999}

#: A candidate is taken to be in force if its first wait is within this share of the sender's.
NEAR = 0.1

#: Causes whose stalls a timer may end sooner, even those that a probe or fast retransmit ended.
_TIMED = (*RESENT, "lost_fast")


def of_each(found: Explained, seed: int = 0) -> Iterator[Forecast]:
    """Yield a forecast for settings at the end (client or server) whose stalls cost requests the most time,
    then one for the other end, then one for both. Yield nothing if no timer held a request up. `seed` is that
    of all random draws."""
    if not found.requests.height:
        return
    stalls = found.stalls.filter(pl.col("cause").cast(pl.String).is_in(_TIMED))
    pairs = held_up(found.requests, stalls.filter(pl.col("repaired_0").is_not_null()))
    costly = pairs.filter(pl.col("cause").cast(pl.String).is_in(RESENT))
    spent = {by: float(costly.filter(pl.col("by") == by)["overlap_ms"].sum()) for by in SIDES}
    sides = sorted((by for by in SIDES if spent[by] > 0), key=lambda by: -spent[by])
    alone = []
    for by in sides:
        mine = pl.col("by") == by
        alone.append(_forecast(found, (by,), pairs.filter(mine), stalls.filter(mine), seed))
        yield alone[-1]
    if len(alone) > 1 and alone[0].in_force == alone[1].in_force:
        yield _forecast(found, SIDES, pairs, stalls, seed)


def _forecast(
    found: Explained, by: Sequence[str], pairs: pl.DataFrame, stalls: pl.DataFrame, seed: int
) -> Forecast:
    times_ms = found.requests["response_ms"].to_numpy()
    timed = stalls.filter(pl.col("cause").cast(pl.String).is_in(RESENT))
    held = found.connections.join(timed, on=KEY, how="semi")
    hosts = {side: held.select(address(side).unique().sort()).to_series().to_list() for side in SIDES}
    # all connections of the hosts at which the setting would be made
    of = {side: found.connections.filter(address(side).is_in(hosts[side])) for side in by}
    segments = sum(int(of[side][f"{side}_segments"].sum()) for side in by)
    needless = sum(int(of[side].select(_needless(side)).sum().item()) for side in by)
    rng = np.random.default_rng((seed, len(times_ms), pairs.height))
    out = Forecast(
        hosts,
        by,
        int(timed["repaired_0"].is_not_null().sum()),
        int(timed["repaired_0"].is_null().sum()),
        segments,
        outlook(SEEN, [times_ms], needless, segments, rng),
    )
    _fit(out, timed)
    theirs = pl.concat(stalls.filter(pl.col("by") == side).join(of[side], on=KEY, how="semi") for side in by)
    alone = independent(timed, theirs, segments)
    waited = found.requests.select(pl.sum_horizontal(f"{cause}_ms" for cause in _TIMED)).to_series()
    # both ends may hold up the same request at once, so the gain is at most the time in stalls
    most_ms = waited.to_numpy() if len(by) > 1 else np.inf
    for k, candidate in enumerate(ALL):
        saved = (_saved(pairs, k, alone, len(times_ms), rng) for _ in range(DRAWS))
        drawn = [times_ms - np.minimum(of_one, most_ms) for of_one in saved]
        spurious = sum(int(of[side][f"{side}_spurious_{k}"].sum()) for side in by)
        # the setting sends its own spurious retransmissions in place of those that were captured
        out.outlooks.append(outlook(candidate, drawn, spurious, segments - needless + spurious, rng))
    return out


def _needless(side: str) -> pl.Expr:
    """Return the number of spurious retransmissions that the end `side` of a connection has sent."""
    of_client = pl.col("client_needless_segments").cast(pl.Int64)
    return of_client if side == "client" else pl.col("needless_segments").cast(pl.Int64) - of_client


def _fit(out: Forecast, timed: pl.DataFrame) -> None:
    """Store in `out` which candidate setting the sender seems to have (`in_force`), and how well it fits: the
    median, over stalls with one retransmission, of the first wait under this setting divided by that in the
    capture. The setting is stock Linux, unless its median is far from 1 and that of another is near."""
    once = timed.filter((pl.col("waited_ms") > 0) & (pl.col("resends") == 1) & pl.col("same_0").is_not_null())
    if not once.height:
        return
    ratios = [once[f"same_{k}"].to_numpy() / once["waited_ms"].to_numpy() for k in range(len(ALL))]
    fits = [(float(np.median(ratio)), float(np.median(np.abs(ratio - 1)))) for ratio in ratios]
    out.fitted = once.height
    if abs(fits[0][0] - 1) > NEAR:
        nearest = min(range(len(ALL)), key=lambda k: abs(fits[k][0] - 1))
        if abs(fits[nearest][0] - 1) <= NEAR:
            out.in_force = ALL[nearest].name
    out.stock_fit = fits[0][0]
    out.fit, out.fit_error = next(fit for fit, one in zip(fits, ALL, strict=True) if one.name == out.in_force)


def independent(timed: pl.DataFrame, stalls: pl.DataFrame, segments: int) -> float:
    """Return the probability that a lost retransmission was lost by chance, not because the path was down: E
    / (O - s), at most 1. O is the number of the stalls `timed` in which a retransmission was lost, and s its
    standard deviation. E is the number expected by chance: the retransmissions in `stalls` times the share of
    the `segments` that were lost."""
    again = timed.filter(pl.col("resends") > 1).height
    beyond = again - math.sqrt(again)
    # the share of segments lost, times the number of retransmissions
    by_chance = stalls.height * int(stalls["resends"].sum()) / segments if segments else 0.0
    return by_chance / beyond if beyond > by_chance else 1.0


def _saved(
    pairs: pl.DataFrame, k: int, alone: float, requests: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return by how many ms candidate `k` would have shortened each request, in one random draw. `pairs` is
    what `held_up` returns. `alone` is the probability, from `independent`, that a lost retransmission was
    lost by chance."""
    out = np.zeros(requests)
    if not pairs.height:
        return out
    stall = pairs["stall"].to_numpy()
    same, repaired = (pairs[f"{name}_{k}"].to_numpy().astype(float) for name in ("same", "repaired"))
    own, overlap = pairs["head_ms"].to_numpy(), pairs["overlap_ms"].to_numpy()
    several = pairs["resends"].to_numpy() > 1
    silent = (pairs["cause"].cast(pl.String) == PATH_SILENT).to_numpy()
    # all requests that a stall holds up share one draw
    by_chance = rng.random(int(stall.max()) + 1)[stall] < alone
    wait = np.where(several & ~silent & by_chance, same, repaired)
    wait = _after(pairs["fade_ms"].to_numpy(), wait, linear=ALL[k].spec == "linear")
    # the time after the oldest segment's repair stays as it was
    np.add.at(out, pairs["request"].to_numpy(), np.minimum(own - wait, overlap))
    return out


def _after(
    fade_ms: npt.NDArray[np.float64], wait_ms: npt.NDArray[np.float64], *, linear: bool
) -> npt.NDArray[np.float64]:
    """Return, for each loss, the wait in ms until the first retransmission after a recurring fade, which ends
    `fade_ms` after the loss. The timer first expires after `wait_ms`. Under most settings the second wait is
    as long as the first, because the first retransmission is a probe, and each later wait twice as long as
    the one before. With `linear` all waits are equal."""
    times = np.maximum(fade_ms / np.maximum(wait_ms, 1e-3), 1.0)
    return np.asarray(wait_ms * (np.ceil(times) if linear else 2.0 ** np.ceil(np.log2(times))))


def outlook(
    candidate: Candidate,
    drawn: list[npt.NDArray[np.float64]] | npt.NDArray[np.float64],
    spurious: int,
    segments: int,
    rng: np.random.Generator,
    what: str = "response",
) -> Outlook:
    """Return the forecast for the setting `candidate`. `drawn` has a row of times for each random draw;
    `spurious` is the number of spurious retransmissions in `segments` segments (or of SYNs in as many
    handshakes). The 95 % intervals are for a new measurement of as many requests. For percentiles nothing is
    resampled, because the rank of the k-th of n resampled times follows a beta distribution."""
    ordered = np.sort(drawn, axis=1)
    n = ordered.shape[1]
    figures = {f"{key}_{what}_ms": figure(ordered, q, rng) for key, q in PERCENTILES.items()}
    slower = np.geomspace(1, max(1 / n, 1e-4), CURVE) if n > 1 else np.ones(1)
    points = ((float(share), figure(ordered, 1 - share, rng)) for share in slower)
    curve = _rising(points)
    figures[f"slowest_{what}_ms"] = _slowest(ordered, rng)
    return Outlook(candidate, figures, 1000 * spurious / segments if segments else 0.0, curve, what)


def _rising(points: Iterator[tuple[float, Figure]]) -> list[tuple[float, float, float, float]]:
    """Return the curve through `points` as (share of slower requests, ms, limits of the interval). The
    smaller the share, the longer the time: a limit that is by chance below that at a larger share is raised
    to it."""
    shares, found = zip(*points, strict=True)
    limits = np.maximum.accumulate([(one.low, one.high) for one in found], axis=0)
    values = (one.value for one in found)
    return [(s, v, float(a), float(b)) for s, v, (a, b) in zip(shares, values, limits, strict=True)]


def figure(ordered: npt.NDArray[np.float64], q: float, rng: np.random.Generator) -> Figure:
    """Return the quantile `q` over all random draws, each an ascending row of `ordered`, with its
    interval."""
    n = ordered.shape[1]
    k = min(max(math.ceil(q * n), 1), n)
    ranks = np.clip(n * rng.beta(k, n - k + 1, (len(ordered), BOOTSTRAP)), 1e-3, n)
    places = np.minimum((n * rng.beta(ranks, n - ranks + 1)).astype(int), n - 1)
    drawn = np.sort(np.take_along_axis(ordered, places, axis=1), axis=None)
    low, high = (float(_quantile(drawn, at)) for at in (0.025, 0.975))
    return Figure(float(np.mean(_quantile(ordered, q))), low, high)


def _quantile(ordered: npt.NDArray[np.float64], q: float) -> npt.NDArray[np.float64]:
    """Return the quantile `q` along the last, ascending axis of `ordered`, as numpy.quantile does."""
    n = ordered.shape[-1]
    below, part = divmod(q * (n - 1), 1)
    above = ordered[..., min(int(below) + 1, n - 1)]
    return np.asarray((1 - part) * ordered[..., int(below)] + part * above)


def _slowest(ordered: npt.NDArray[np.float64], rng: np.random.Generator) -> Figure:
    """Return the mean of the slowest 2 % over all random draws, each an ascending row of `ordered`, with its
    interval by a Poisson bootstrap."""
    tail = max(1, math.ceil(ordered.shape[1] * SLOWEST))
    means = []
    for times in ordered:
        slower = times[::-1][: 4 * tail]
        times_drawn = rng.poisson(rng.poisson(1.0, (BOOTSTRAP, len(slower))))
        reached = times_drawn.cumsum(axis=1).clip(max=tail)
        taken = np.diff(reached, axis=1, prepend=0)
        means.append(taken @ slower / np.maximum(reached[:, -1], 1))
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return Figure(float(np.mean([times[-tail:].mean() for times in ordered])), float(low), float(high))
