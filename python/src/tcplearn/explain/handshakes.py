# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Forecast how long handshakes take if the first RTO is learned from earlier handshakes of the same hosts."""

import heapq
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tcplearn import _native
from tcplearn.explain import forecast
from tcplearn.explain.answers import SIDES, Forecast, Outlook
from tcplearn.explain.candidates import FIRST_RTO, SEEN, Candidate
from tcplearn.explain.causes import HANDSHAKE
from tcplearn.explain.model import KEY, STAMPED, SYN_SEEN, Explained

Floats = npt.NDArray[np.float64]

#: The first RTO of stock Linux in µs (RFC 6298, section 2.1). No learned first RTO is larger.
_STOCK_US = 1_000_000
#: Linux answers retransmissions of a SYN at most once in this time (tcp_oow_rate_limited).
_ANSWERED_EVERY_MS = 500.0
#: The largest number of retransmissions of a SYN that are considered.
_COPIES = 12
#: From Linux 6.5 on, this many waits for a SYN-ACK are equal: the first and tcp_syn_linear_timeouts (4).
_LINEAR = 5


def of(found: Explained, seed: int = 0) -> Forecast | None:
    """Return the forecast of the durations of all handshakes, or None if none was held up."""
    held = found.stalls.filter(pl.col("cause").cast(pl.String).is_in(HANDSHAKE))
    if not held.height:
        return None
    all_ = _table(found, held)
    held = all_.filter(pl.col("resends").is_not_null())
    if not held.height:
        return None
    times_ms = all_["handshake_ms"].to_numpy()
    rtts_us = np.maximum((times_ms - all_["duration_ms"].fill_null(0).to_numpy()) * 1e3, 1).astype(np.int64)
    waits_us = _waits_us(all_, rtts_us)
    rng = np.random.default_rng((seed, all_.height, held.height))
    rows = np.flatnonzero(all_["resends"].is_not_null().to_numpy())
    alone = forecast.independent(held, held, all_.height)
    saved = [_saved_ms(held, waits_us[rows] / 1e3, alone, rng) for _ in range(forecast.DRAWS)]
    firsts_ms = (all_["answered_s"] - all_["first_s"]).to_numpy() * 1e3
    answered = ~np.isnan(firsts_ms)

    def outlook(candidate: Candidate, less: list[Floats], waits: npt.NDArray[np.int64]) -> Outlook:
        spurious = int(np.log2(rtts_us / waits + 1).astype(int).sum())  # each wait is twice the previous wait
        drawn = _shorter(times_ms, rows, less)
        out = forecast.outlook(candidate, drawn, spurious, all_.height, rng, "handshake")
        if answered.any():
            drawn = _shorter(firsts_ms, rows, less)[:, answered]
            drawn.sort(axis=1)
            out.figures["p99_first_answer_ms"] = forecast.figure(drawn, 0.99, rng)
        return out

    known = held.filter(waits_us[rows] / 1e3 < held["waited_ms"].to_numpy())
    return Forecast(
        {side: sorted(set(known[side])) for side in SIDES},
        ("client",),
        known.height,
        held.height - known.height,
        all_.height,
        outlook(SEEN, [np.zeros(len(rows))], np.full(all_.height, _STOCK_US)),
        [outlook(FIRST_RTO, saved, waits_us)],
        **_fit(held),
    )


def _fit(held: pl.DataFrame) -> dict[str, Any]:
    """Return the fields of Forecast that say how well stock Linux's first RTO fits the clients' waits."""
    waits_ms = held.filter((pl.col("by") == "client") & (pl.col("waited_ms") > 0))["waited_ms"].to_numpy()
    if not len(waits_ms):
        return {}
    fits = _STOCK_US / 1e3 / waits_ms
    fit = float(np.median(fits))
    return {"fit": fit, "stock_fit": fit, "fit_error": float(np.median(abs(fits - 1))), "fitted": len(fits)}


def _table(found: Explained, held: pl.DataFrame) -> pl.DataFrame:
    """Return the handshakes whose first SYN and last ACK were captured, sorted by hosts and time. `held` are
    the stalls of handshakes. A handshake whose last ACK was lost counts as not held up: only the server
    waited."""
    mine = held.filter((pl.col("cause").cast(pl.String) != "handshake_lost") | (pl.col("by") == "client"))
    columns = ("cause", "by", "duration_ms", "waited_ms", "resends", "silent_until_s")
    stalls = mine.select(*KEY, *columns, pl.col("start_s").alias("held_s")).unique(KEY, keep="first")
    answered_s = pl.col("start_s") + pl.col("response_ms") / 1e3
    firsts = found.requests.group_by(KEY).agg(answered_s.sort_by("start_s").first().alias("answered_s"))
    hosts = (pl.col(end).cast(pl.String).str.replace(r":\d+$", "") for end in ("client", "server"))
    return (
        found.connections.filter(pl.col("handshake_ms").is_not_null() & ((pl.col("options") & SYN_SEEN) > 0))
        .select(*KEY, *hosts, "first_s", "handshake_ms", "options")
        .join(stalls, on=KEY, how="left")
        .join(firsts, on=KEY, how="left")
        .sort("source", "client", "server", "first_s")
    )


def _waits_us(all_: pl.DataFrame, rtts_us: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return a first RTO in µs for each handshake in `all_`, learned from the earlier handshakes between the
    same two hosts that had ended before it began."""
    out = np.full(all_.height, _STOCK_US)
    pairs = all_.select(pl.struct("source", "client", "server").rle_id()).to_series().to_numpy()
    ends = [*(np.flatnonzero(np.diff(pairs)) + 1).tolist(), all_.height]
    starts_us = (all_["first_s"].to_numpy() * 1e6).astype(np.int64)
    lost = all_["resends"].is_not_null().to_numpy()
    answers = (all_["cause"].cast(pl.String) == "syn_ack_lost").fill_null(False).to_numpy()
    stamped = ((all_["options"] & STAMPED) > 0).to_numpy()
    begin = 0
    for end in ends:
        if end - begin > 1:
            columns = (starts_us, rtts_us, lost, answers, stamped)
            out[begin:end] = _learned_us(*(column[begin:end].tolist() for column in columns))
        begin = end
    return out


def _learned_us(
    starts_us: list[int], rtts_us: list[int], lost: list[bool], answers: list[bool], stamped: list[bool]
) -> list[int]:
    """Return the first RTO, in µs, of each handshake between two hosts, learned from those that ended before
    it began. `lost` says whether a packet of it was lost, `answers` whether that was the SYN-ACK, and
    `stamped` whether the connection has TCP timestamps."""
    place, nothing = _native.FirstRtoPlace(FIRST_RTO.spec), _native.FirstRtoPlace(FIRST_RTO.spec)
    # (end of the handshake, RTT as the kernel knows it, wait, resent)
    ended: list[tuple[int, int, int, bool]] = []
    out = []
    for start_us, rtt_us, is_lost, answer, has_time in zip(
        starts_us, rtts_us, lost, answers, stamped, strict=True
    ):
        while ended and ended[0][0] <= start_us:
            at_us, known_us, waited_us, again = heapq.heappop(ended)
            if again:
                place.resent(known_us, waited_us, at_us)
            else:
                place.report(known_us, at_us)
        wait_us = place.rto_us(nothing, start_us)
        out.append(wait_us)
        again = is_lost or rtt_us > wait_us
        # a lost SYN-ACK had answered the first SYN, so the first SYN's timestamp comes back
        known_us = rtt_us + (wait_us if answer else 0) if has_time or not again else 0
        heapq.heappush(ended, (start_us + rtt_us + (wait_us if is_lost else 0), known_us, wait_us, again))
    return out


def _shorter(times_ms: Floats, rows: npt.NDArray[np.int64], less: list[Floats]) -> Floats:
    """Return a row of durations for each random draw in `less`: `times_ms`, reduced at `rows` by the draw's
    values."""
    out = np.tile(times_ms, (len(less), 1))
    for drawn, one in zip(out, less, strict=True):
        drawn[rows] -= one
    return out


def _saved_ms(held: pl.DataFrame, waits_ms: Floats, alone: float, rng: np.random.Generator) -> Floats:
    """Return by how many ms the first RTOs `waits_ms` would have shortened each of the handshakes `held`, in
    one random draw. `alone` is the probability that a lost retransmission was lost by chance."""
    took_ms, resends = held["duration_ms"].to_numpy(), held["resends"].to_numpy().astype(int)
    copies = np.array(
        [
            _copies_ms(wait, n, took / waited if waited else 1, twice)
            for wait, n, took, waited, twice in zip(
                waits_ms.tolist(),
                resends.tolist(),
                took_ms.tolist(),
                held["waited_ms"].to_list(),
                (held["cause"].cast(pl.String) != "syn_lost").to_list(),
                strict=True,
            )
        ]
    )
    silent_ms = (held["silent_until_s"] - held["held_s"]).to_numpy() * 1e3
    back_ms = np.where(resends > 1, silent_ms + rng.random(len(took_ms)) * (took_ms - silent_ms), 0)
    first = np.minimum((copies <= back_ms[:, None]).sum(axis=1), _COPIES - 1)
    same = np.minimum(resends, _COPIES) - 1
    chosen = np.where(rng.random(len(took_ms)) < alone, same, first)
    after_ms = copies[np.arange(len(took_ms)), chosen]
    # the server may send its SYN-ACK again by itself; without a learned RTO nothing changes
    after_ms = np.where(held["by"] == "server", np.minimum(after_ms, took_ms), after_ms)
    return np.where(waits_ms * 1e3 < _STOCK_US, took_ms - after_ms, 0.0)


def _copies_ms(wait_ms: float, resends: int, waits: float, answers: bool) -> list[float]:
    """Return the times of a SYN's retransmissions, in ms after it, if the first wait is `wait_ms`. Each wait
    is twice the previous one, unless the captured sender began with equal waits (Linux 6.5 and later); its
    `resends` retransmissions, which took `waits` times its first wait, show whether it did. With `answers`,
    return only those that a Linux server answers."""
    linear = resends > 1 and waits < (resends + 2**resends - 1) / 2
    out: list[float] = []
    at = wait = wait_ms
    while len(out) < _COPIES:
        if not answers or not out or at - out[-1] >= _ANSWERED_EVERY_MS:
            out.append(at)
        if not linear or at >= _LINEAR * wait_ms:
            wait *= 2
        at += wait
    return out
