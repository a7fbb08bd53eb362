# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Find recurring fades in captures. A fade is a short time in which a path loses everything, and it recurs if
it comes again after the same number of seconds, as when a terminal changes satellites. How long a fade lasts
can be seen only if it recurs: the losses of many fades together show which part of the period is lost."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from tcplearn.explain.answers import Fade
from tcplearn.explain.causes import RESENT
from tcplearn.explain.model import KEY, address
from tcplearn.explain.recurring import FEWEST, Sendings
from tcplearn.explain.recurring import fades as recurring

#: How much of a capture is searched at once, in s, and the most paths that are searched.
SEARCHED_S, PATHS = 3600, 20
#: A transmission that is lost within this time of one that arrived was not lost in a fade.
APART_S = 0.01

_PAIR = ("source", "client", "host")
_GROUP = (*_PAIR, "by")


def find(requests: pl.DataFrame, stalls: pl.DataFrame, connections: pl.DataFrame) -> list[Fade]:
    """Return the recurring fades in captures, those with the most losses first."""
    # a segment is not taken as lost in a fade if segments sent just before or after it arrived
    alone = pl.col("cause").cast(pl.String).is_in(RESENT) & (pl.col("out_segments") <= 1)
    stalls = _hosts(stalls.filter(alone))
    many = stalls.group_by(_GROUP).len().filter(pl.col("len") >= FEWEST)
    many = many.sort("len", *_GROUP, descending=[True, *(False for _ in _GROUP)])[:PATHS]
    if not many.height:
        return []
    chosen = _hosts(requests).join(many.drop("by", "len").unique(), on=_PAIR, how="semi")
    chosen = chosen.join(connections.select(*KEY, "to_client_ms"), on=KEY, how="left")
    sent = {key: of for key, of in chosen.group_by(_PAIR)}
    lost = {key: of for key, of in stalls.join(many, on=_GROUP, how="semi").group_by(_GROUP)}
    out = []
    for source, client, host, by in many.select(_GROUP).iter_rows():
        requested = sent.get((source, client, host), chosen.clear())
        whole = _sendings(requested, lost[source, client, host, by], by == "server")
        for from_s, of in _by_hour(whole):
            path = int(source), str(client), str(host), str(by), from_s, from_s + SEARCHED_S
            out += [Fade(*path, *fade) for fade in recurring(of)]
    return sorted(out, key=lambda fade: -fade.losses)


def _sendings(requests: pl.DataFrame, stalls: pl.DataFrame, of_answers: bool) -> Sendings:
    """Return when the client of a path (or the server, if `of_answers`) sent data that were lost or
    delivered."""
    stalls = stalls.sort("start_s")
    repaired_s = stalls["start_s"] + (stalls["duration_ms"] - stalls["srtt_ms"].fill_null(0.0)) / 1e3
    smooth = requests.select(pl.sum_horizontal(f"{cause}_ms" for cause in RESENT) == 0).to_series()
    sent_s = requests["start_s"]
    if of_answers:
        # when the server began to send an answer: of an undisturbed request by its own response time, of
        # another by the median response time of the undisturbed ones
        took_ms = pl.col("response_ms")
        usual_ms = pl.when(smooth).then(took_ms).otherwise(took_ms.filter(smooth).median())
        wait_ms = usual_ms - pl.col("to_client_ms").fill_null(0.0)
        sent_s = requests.select(pl.col("start_s") + wait_ms / 1e3)["start_s"]
    arrived_s = np.concatenate((sent_s.filter(smooth).to_numpy(), repaired_s.to_numpy()))
    arrived_s = np.sort(arrived_s[np.isfinite(arrived_s)])
    lost_s = stalls["start_s"].to_numpy()
    # whether nothing arrived within APART_S
    apart = np.searchsorted(arrived_s, lost_s - APART_S) >= np.searchsorted(arrived_s, lost_s + APART_S)
    return Sendings(
        lost_s[apart],
        stalls["silent_until_s"].to_numpy()[apart],
        sent_s.drop_nulls().to_numpy(),
        arrived_s,
        stalls["connection"].to_numpy()[apart],
        requests["connection"].n_unique() > 1,
    )


def _by_hour(of: Sendings) -> Iterator[tuple[float, Sendings]]:
    """Yield the start, in s, of each hour with enough losses to search for fades, and the hour's part of
    `of`."""
    hours, counts = np.unique(np.floor(of.lost_s / SEARCHED_S), return_counts=True)
    for from_s in (hours[counts >= FEWEST] * SEARCHED_S).tolist():
        lost, sent, arrived = (
            (at_s >= from_s) & (at_s < from_s + SEARCHED_S) for at_s in (of.lost_s, of.all_s, of.arrived_s)
        )
        losses, others = (of.lost_s[lost], of.until_s[lost]), (of.all_s[sent], of.arrived_s[arrived])
        yield from_s, Sendings(*losses, *others, of.connection[lost], of.several)


def left_ms(stalls: pl.DataFrame, fades: list[Fade]) -> pl.Series:
    """Return how much of one of `fades` was left when the segment of each of `stalls` was lost, in ms (0: not
    lost in a fade). It is at most the time until the retransmission that arrived was sent."""
    out = np.zeros(stalls.height)
    named = _hosts(stalls) if fades else stalls
    at_s = stalls["start_s"].to_numpy()
    for fade in fades:
        mine = named.select(pl.all_horizontal(pl.col(name) == getattr(fade, name) for name in _GROUP))
        out = np.maximum(out, np.where(mine.to_series().to_numpy(), fade.left_ms(at_s), 0.0))
    arrived_ms = (stalls["head_ms"] - stalls["srtt_ms"].fill_null(0.0)).fill_null(np.inf).to_numpy()
    return pl.Series("fade_ms", np.minimum(out, np.maximum(arrived_ms, 0.0)).round(3))


def _hosts(rows: pl.DataFrame) -> pl.DataFrame:
    """Return `rows` with the addresses of the client and (as `host`) the server, and any column `by`, as
    text."""
    by = [pl.col("by").cast(pl.String)] if "by" in rows.columns else []
    return rows.with_columns(address("client"), address("server").alias("host"), *by)
