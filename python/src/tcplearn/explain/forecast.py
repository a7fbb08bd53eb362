# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What response times would have been under each candidate, on the very requests and losses of captures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tcplearn.explain.answers import SIDES, Figure, Forecast, Outlook
from tcplearn.explain.candidates import ALL, SEEN, Candidate
from tcplearn.explain.causes import PATH_SILENT, RESENT
from tcplearn.explain.model import held_up

if TYPE_CHECKING:
    import numpy.typing as npt

    from tcplearn.explain.model import Explained

#: Draws of what cannot be known, and of the bootstrap for each of them.
DRAWS, BOOTSTRAP = 16, 64
#: Points of a curve.
CURVE = 60
#: Of the slowest requests whose mean is given.
SLOWEST = 0.02
#: Figures with an interval: percentiles.
PERCENTILES = {"median": 0.5, "p99": 0.99, "p999": 0.999}

#: So near one is the sender's first wait to that of the setting that it has.
NEAR = 0.1

#: Causes whose stalls a timer may end sooner; a probe's and a fast retransmit's among them.
_TIMED = (*RESENT, "lost_fast")


def of(found: Explained, seed: int = 0) -> Forecast | None:
    """Returns the forecast for the side whose stalls cost requests most; None where no timer held one up."""
    return next(of_each(found, seed), None)


def of_each(found: Explained, seed: int = 0) -> Iterator[Forecast]:
    """Yields forecasts for the side whose stalls cost requests most, for the other one, and for a setting on
    both; nothing where no timer held a request up."""
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
    connections = found.connections
    segments = sum(int(connections[f"{side}_segments"].sum()) for side in by)
    needless = int(connections["needless_segments"].sum())
    timed = stalls.filter(pl.col("cause").cast(pl.String).is_in(RESENT))
    rng = np.random.default_rng((seed, len(times_ms), pairs.height))
    out = Forecast(
        {side: sorted(set(_address(connections[side]))) for side in SIDES},
        by,
        int(timed["repaired_0"].is_not_null().sum()),
        int(timed["repaired_0"].is_null().sum()),
        segments,
        outlook(
            SEEN,
            [times_ms],
            needless,
            int(connections["client_segments"].sum()) + int(connections["server_segments"].sum()),
            rng,
        ),
    )
    _fit(out, timed)
    alone = independent(timed, stalls, segments)
    waited = found.requests.select(pl.sum_horizontal(f"{cause}_ms" for cause in _TIMED)).to_series()
    # both ends may hold up the same request at the same time
    most_ms = waited.to_numpy() if len(by) > 1 else np.inf
    for k, candidate in enumerate(ALL):
        saved = (_saved(pairs, k, alone, len(times_ms), rng) for _ in range(DRAWS))
        drawn = [times_ms - np.minimum(of_one, most_ms) for of_one in saved]
        spurious = sum(int(connections[f"{side}_spurious_{k}"].sum()) for side in by)
        out.outlooks.append(outlook(candidate, drawn, spurious, segments, rng))
    return out


def _address(names: pl.Series) -> list[str]:
    return [str(name).rpartition(":")[0].strip("[]") for name in names]


def _fit(out: Forecast, timed: pl.DataFrame) -> None:
    """Adds how near the model is to when the sender did send again, in the middle and in its spread; and what
    the sender has set, where that of stock is not near."""
    once = timed.filter((pl.col("waited_ms") > 0) & (pl.col("resends") == 1) & pl.col("same_0").is_not_null())
    if not once.height:
        return
    ratios = [once[f"same_{k}"].to_numpy() / once["waited_ms"].to_numpy() for k in range(len(ALL))]
    fits = [(float(np.median(ratio)), float(np.median(np.abs(ratio - 1)))) for ratio in ratios]
    if abs(fits[0][0] - 1) > NEAR:
        nearest = min(range(len(ALL)), key=lambda k: abs(fits[k][0] - 1))
        if abs(fits[nearest][0] - 1) <= NEAR:
            out.in_force = ALL[nearest].name
    out.stock_fit = fits[0][0]
    out.fit, out.fit_error = next(fit for fit, one in zip(fits, ALL, strict=True) if one.name == out.in_force)


def independent(timed: pl.DataFrame, stalls: pl.DataFrame, segments: int) -> float:
    """The odds that a retransmission which was lost too was lost by chance of its own. Where more of them are
    lost than chance explains, by their standard deviation at least, the path was down."""
    again = timed.filter(pl.col("resends") > 1).height
    beyond = again - math.sqrt(again)
    # each stall is a loss, and each retransmission follows one
    by_chance = stalls.height * int(stalls["resends"].sum()) / segments if segments else 0.0
    return by_chance / beyond if beyond > by_chance else 1.0


def _saved(
    pairs: pl.DataFrame, k: int, alone: float, requests: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Milliseconds of each request; less than none where the candidate waits longer."""
    out = np.zeros(requests)
    if not pairs.height:
        return out
    stall = pairs["stall"].to_numpy()
    same, repaired = (pairs[f"{name}_{k}"].to_numpy().astype(float) for name in ("same", "repaired"))
    own, overlap = pairs["head_ms"].to_numpy(), pairs["overlap_ms"].to_numpy()
    several = pairs["resends"].to_numpy() > 1
    silent = (pairs["cause"].cast(pl.String) == PATH_SILENT).to_numpy()
    # one draw for all requests that a stall holds up
    by_chance = rng.random(int(stall.max()) + 1)[stall] < alone
    wait = np.where(several & ~silent & by_chance, same, repaired)
    # what came after the oldest segment's repair goes on as it did
    np.add.at(out, pairs["request"].to_numpy(), np.minimum(own - wait, overlap))
    return out


def outlook(
    candidate: Candidate,
    drawn: list[npt.NDArray[np.float64]] | npt.NDArray[np.float64],
    spurious: int,
    segments: int,
    rng: np.random.Generator,
    what: str = "response",
) -> Outlook:
    """Returns the figures over all draws; `spurious` are of `segments`, or of as many handshakes. The
    intervals are those of what as many requests would have, when measured: a bootstrap of a bootstrap. Of its
    n requests the k-th is at a place that a beta distribution gives, so that none need be drawn."""
    ordered = np.sort(drawn, axis=1)
    n = ordered.shape[1]
    figures = {f"{key}_{what}_ms": figure(ordered, q, rng) for key, q in PERCENTILES.items()}
    slower = np.geomspace(1, max(1 / n, 1e-4), CURVE) if n > 1 else np.ones(1)
    points = ((float(share), figure(ordered, 1 - share, rng)) for share in slower)
    curve = [(share, one.value, one.low, one.high) for share, one in points]
    figures[f"slowest_{what}_ms"] = _slowest(ordered, rng)
    return Outlook(candidate, figures, 1000 * spurious / segments if segments else 0.0, curve, what)


def figure(ordered: npt.NDArray[np.float64], q: float, rng: np.random.Generator) -> Figure:
    """Returns the quantile `q` over all draws, each of which is a row of times, the shortest first."""
    n = ordered.shape[1]
    k = min(max(math.ceil(q * n), 1), n)
    ranks = np.clip(n * rng.beta(k, n - k + 1, (len(ordered), BOOTSTRAP)), 1e-3, n)
    places = np.minimum((n * rng.beta(ranks, n - ranks + 1)).astype(int), n - 1)
    drawn = np.sort(np.take_along_axis(ordered, places, axis=1), axis=None)
    low, high = (float(_quantile(drawn, at)) for at in (0.025, 0.975))
    return Figure(float(np.mean(_quantile(ordered, q))), low, high)


def _quantile(ordered: npt.NDArray[np.float64], q: float) -> npt.NDArray[np.float64]:
    """Returns the quantile `q` along the last axis, as numpy.quantile does, of times that are in order."""
    n = ordered.shape[-1]
    below, part = divmod(q * (n - 1), 1)
    above = ordered[..., min(int(below) + 1, n - 1)]
    return np.asarray((1 - part) * ordered[..., int(below)] + part * above)


def _slowest(ordered: npt.NDArray[np.float64], rng: np.random.Generator) -> Figure:
    """Returns the mean of the slowest. A sample has each request as often as Poisson's law gives."""
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
