# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Advise a setting of the retransmission timer, with its gain and cost; or say why no setting helps."""

from collections.abc import Iterable
from ipaddress import ip_address

import polars as pl

from tcplearn.explain import candidates, unasked
from tcplearn.explain.answers import SIDES, Advice, Forecast, Outlook
from tcplearn.explain.candidates import STOCK
from tcplearn.explain.causes import HANDSHAKE, RESENT, TRANSFER
from tcplearn.explain.model import Explained, Part, Summary
from tcplearn.output.numbers import capitalized, counted, milliseconds, permille

#: The least share by which a gain must shorten the slowest requests' mean or the 99th percentile.
LEAST_GAIN = 0.1
#: The most spurious retransmissions that a setting may add, in 1,000 segments.
MOST_SPURIOUS = 10.0
#: Settings whose scores differ by at most this share count as equal, and the one with fewer spurious
#: retransmissions is advised. Rates within ALIKE_SPURIOUS in 1,000 segments count as equal too.
ALIKE = 0.05
ALIKE_SPURIOUS = 0.1
#: If the median wait of the sender's model differs from that of the sender by more than this share, the
#: sender probably does not run Linux, or has settings that are not modelled, and no setting is advised.
MISFIT = 0.25
#: If a larger share of handshakes than the first value is held up, and at least as many as the second, no
#: first RTO is advised: the path is down, or the server drops SYNs.
MOST_HELD_UP, LEAST_REFUSED = 0.25, 20
#: The least number of stalls (waits in which no data moved) ended by a timer that a forecast needs.
LEAST_STALLS = 5
#: A cause with a larger share of the time of all requests is named beside those of the slowest ones.
MUCH = 0.25
#: The least number of requests: the slowest 2 % of fewer are less than one request.
LEAST_REQUESTS = 50

#: The advice if losses are already repaired as quickly as any timer can.
_FEWER = "what would help is fewer losses"
_LOOK = "look at its program"
#: Why a timer gains nothing, by the cause of most of the slowest requests' time.
_WHY = {
    "server": f"the server itself takes that long; {_LOOK}",
    "client": f"the client itself takes that long; {_LOOK}, unless it waits for a person",
    "window_closed": "{receiver} reads too slowly, or its buffer is small; look at its program and its "
    "SO_RCVBUF",
    "delayed_ack": "a program writes a message in parts (Nagle's rule); write it in one, or set TCP_NODELAY",
    "slow_path": "a queue on the path is long; limit the other traffic there, or let the bottleneck run "
    "fq_codel or CAKE",
    "spurious": "answers are late on the path, not lost: a shorter timer would only send more copies",
    "lost_fast": f"losses are repaired by fast retransmits already; {_FEWER}",
    "unknown": "this capture does not show whether the server or the path held the answers up; capture "
    "at the server too",
    TRANSFER: "the time of requests is round trips and transfer; fewer round trips, less data or a faster "
    "path would help",
}


#: The first reason given if most of the time was not spent in stalls.
_MOSTLY_TRANSFER = (
    "most of the slowest requests' time is round trips and transfer: fewer round trips, less data or a "
    "faster path would help"
)
#: The reason given if a timer repaired losses but the candidate settings could not be run on them.
_UNSEEN = "lost segments did not pass this capture point, so no setting can be judged; capture at the sender"


def best(found: Explained, forecasts: Iterable[Forecast]) -> tuple[Forecast | None, Advice]:
    """Return the forecast on which the advice is based (None if there is none), and the advice. It is the
    first in which a setting shortens the slowest requests enough, else the first with enough stalls to judge
    by, else the first."""
    others = []
    for forecast in forecasts:
        said = of(found, forecast)
        if said.chosen is not None:
            return forecast, said
        others.append((forecast, said))
    if not others:
        return None, of(found, None)
    return next((pair for pair in others if pair[0].stalls >= LEAST_STALLS), others[0])


def of(found: Explained, forecast: Forecast | None) -> Advice:
    """Return the advice on the RTO of data by `forecast`, which is None if no timer held a request up."""
    why = _why(found, forecast)
    if forecast is None:
        return Advice(None, why=why)
    if doubt := unjudged(found, forecast):
        if forecast.stalls < LEAST_STALLS:
            most = most_of_all(found.total)
            if _main(found) not in RESENT:
                doubt += f". {capitalized(why)}"
            elif most and most.share > 0.5 and most.cause in _WHY:
                doubt += f". For most of the time of all requests, {reason(found, most.cause)}"
        return Advice(None, why=doubt)
    now, model = forecast.seen, forecast.of(forecast.in_force)
    least = model.spurious_permille
    others = [one for one in forecast.outlooks if one.candidate.name not in (STOCK, forecast.in_force)]
    # a gain that the forecast for the sender's present setting has too is an error of the model
    able = [one for one in others if _is_gain(one, now, least) and _is_gain(one, model, least)]
    if not able:
        return Advice(None, why=_no_gain(forecast, others, why))
    best = min(_score(one, now) for one in able)
    alike = [one for one in able if _score(one, now) <= best * (1 + ALIKE)]
    # prefer settings of a stock kernel to those of a module, then the fewest spurious retransmissions
    plain = [one for one in alike if not one.candidate.needs] or alike
    fewest = min(one.spurious_permille for one in plain)
    frugal = [one for one in plain if one.spurious_permille <= fewest + ALIKE_SPURIOUS]
    chosen = min(frugal, key=lambda one: _score(one, now))
    more = chosen.spurious_permille - least
    return _chosen(forecast, chosen, f"{_shorter(chosen, now)}.\n{_cost(more, forecast)}")


def unjudged(found: Explained, forecast: Forecast) -> str:
    """Return why the settings of the timer cannot be judged by `forecast`, or "" if they can."""
    if forecast.stalls < LEAST_STALLS:
        few = f"only {counted(forecast.stalls, 'stall')}"
        return f"{few} ended with a retransmission that a setting could have sent sooner, too few to judge by"
    if found.total.requests < LEAST_REQUESTS:
        return f"only {counted(found.total.requests, 'request')}, too few to judge a setting by"
    return _misfit(forecast)


def of_handshakes(forecast: Forecast | None) -> Advice | None:
    """Return the advice on the first RTO of handshakes by `forecast`, or None if no handshake was held up."""
    if forecast is None:
        return None
    now, learned = forecast.seen, forecast.outlooks[0]
    more = learned.spurious_permille - now.spurious_permille
    if why := _no_first_rto(forecast, more):
        return Advice(None, why=why, handshakes=True)
    told = _shorter(learned, now)
    key = "p99_first_answer_ms"  # only connections that were answered have this figure
    if key in now.figures:
        before, after = (milliseconds(one.figures[key].value) for one in (now, learned))
        told += f". 99 of 100 connections would have their first answer after {after} ms, now {before}"
    return _chosen(forecast, learned, f"{told}.\n{_cost(more, forecast)}")


def _no_first_rto(forecast: Forecast, more: float) -> str:
    """Return why no first RTO is advised, or "" if a learned one is. This one would add `more` spurious SYNs
    in 1,000 handshakes."""
    held, now, learned = forecast.stalls + forecast.untold, forecast.seen, forecast.outlooks[0]
    if held > MOST_HELD_UP * forecast.segments and held >= LEAST_REFUSED:
        return (
            f"{counted(held, 'handshake')} of {forecast.segments:,} were held up, which is more than a "
            "working path loses. Either the path was down, or the server drops SYNs because its listen queue "
            "is full: see `nstat -az TcpExtListenDrops` there"
        )
    if forecast.stalls < LEAST_STALLS:
        were = f"{counted(held, 'handshake')} {'was' if held == 1 else 'were'} held up"
        after = "after earlier ones from which a shorter wait is learned"
        if not forecast.stalls:
            few = f", {'not' if held == 1 else 'none'} {after}"
        else:
            some = f", {forecast.stalls} of them {after}" if forecast.untold else ""
            few = f"{some}, too few to judge by"
        return were + few
    if why := _misfit(forecast):
        return why
    if _is_gain(learned, now, now.spurious_permille):
        return ""
    took, takes = milliseconds(now.slowest_ms), milliseconds(learned.slowest_ms)
    if took == takes:
        return f"a shorter first RTO would not shorten the slowest 2 % of handshakes ({took} ms on average)"
    return (
        f"the slowest 2 % of handshakes would take {takes} ms on average, now {took}, with "
        f"{permille(more)} more spurious SYNs in 1,000 handshakes"
    )


def _chosen(forecast: Forecast, chosen: Outlook, why: str) -> Advice:
    typed, effects, where = {}, [], []
    for side, peer in zip(SIDES, reversed(SIDES), strict=True):
        if side in forecast.by:
            hosts, peers = forecast.hosts[side], forecast.hosts[peer]
            to = peers[0] if len(peers) == 1 and _seen_by(peers[0], hosts) else ""
            typed[side] = candidates.lines(chosen.candidate, to, forecast.in_force)
            effects.append(candidates.effects(chosen.candidate, to))
            several = " and others" if len(hosts) > 3 else ""
            where.append(f"the {side}{'s' if len(hosts) > 1 else ''} ({', '.join(hosts[:3])}{several})")
    line, undo = typed[forecast.by[0]]
    if len(set(typed.values())) > 1:
        line, undo = ("\n".join(f"{of[k]}  # on the {side}" for side, of in typed.items()) for k in (0, 1))
    handshakes = chosen.what == "handshake"
    why = "\n".join([why, *filter(None, dict.fromkeys(effects))])
    return Advice(chosen, line, undo, chosen.candidate.needs, " and ".join(where), why, handshakes)


def _seen_by(peer: str, hosts: Iterable[str]) -> bool:
    """Return whether `hosts` probably see `peer` under its own address: if this is private and one of the
    hosts' is public, a NAT between them probably translates it."""
    try:
        return ip_address(peer).is_global or not any(ip_address(host).is_global for host in hosts)
    except ValueError:  # names in place of addresses, with --anonymize
        return True


def _score(one: Outlook, now: Outlook) -> float:
    """Return a score, which is smaller for a larger gain: the average of two ratios of response times,
    forecast to measured (`now`), each at most 1. One is of the mean of the slowest 2 %, one of the 99th
    percentile."""
    p99 = one.figure("p99").value / now.figure("p99").value
    return min(one.slowest_ms / now.slowest_ms, 1.0) * 0.5 + min(p99, 1.0) * 0.5


def _is_gain(one: Outlook, now: Outlook, least: float) -> bool:
    shorter = one.slowest_ms <= (1 - LEAST_GAIN) * now.slowest_ms
    shorter = shorter or one.figure("p99").high < now.figure("p99").low * (1 - LEAST_GAIN)
    return shorter and one.spurious_permille - least <= MOST_SPURIOUS


def _shorter(one: Outlook, now: Outlook) -> str:
    things = {"response": "requests", "handshake": "handshakes"}[one.what]
    p99, its = one.figure("p99"), now.figure("p99")
    slow, slow_now = milliseconds(one.slowest_ms), milliseconds(now.slowest_ms)
    told = (
        f"99 of 100 {things} should take at most {milliseconds(p99.value)} ms (95 % interval: "
        f"{milliseconds(p99.low)} to {milliseconds(p99.high)}), now {milliseconds(its.value)} "
        f"({milliseconds(its.low)} to {milliseconds(its.high)}), and the slowest 2 % {slow} ms on average, "
        f"now {slow_now}"
    )
    if p99.high >= its.low:
        told += ". The intervals overlap, so the gain for 99 of 100 may be chance; the advice rests on the "
        told += "slowest 2 %"
    longer, before = one.figure("p999").value, now.figure("p999").value
    if longer > before * (1 + ALIKE):
        told += f". The 99.9th percentile could grow from {milliseconds(before)} to {milliseconds(longer)} ms"
    return told


def _cost(more: float, forecast: Forecast) -> str:
    """Return a sentence on `more`, the spurious retransmissions in 1,000 segments (or SYNs in 1,000
    handshakes) that a setting adds."""
    thing = "SYN" if forecast.seen.what == "handshake" else "retransmission"
    of = "handshakes" if thing == "SYN" else "segments"
    if more <= 0:
        return f"It costs no spurious {thing}."
    than = "" if thing == "SYN" else f" than {forecast.in_force}"
    near = f"; more than {MOST_SPURIOUS:.0f} are not advised" if more > 0.8 * MOST_SPURIOUS else ""
    return f"It costs {permille(more)} more spurious {thing}s in 1,000 {of}{than}{near}."


def most_of_all(total: Summary) -> Part | None:
    """Return the cause with the largest share of the time of all requests if this is more than a quarter,
    otherwise None. Left out are the main cause of the slowest requests, the cause "transfer" (round trips and
    transfer), and the causes of handshakes."""
    parts = [part for part in total.parts if part.cause not in HANDSHAKE]
    some = [part for part in parts[1:] if part.share > MUCH and part.cause != TRANSFER]
    return max(some, key=lambda part: part.share, default=None)


def _main(found: Explained) -> str:
    parts = [part for part in found.total.parts if part.cause not in HANDSHAKE]
    return max(parts, key=lambda part: part.slow_share).cause if parts else TRANSFER


def _why(found: Explained, forecast: Forecast | None) -> str:
    if not found.total.requests and found.unanswered.height == found.connections.height > 0:
        return "nobody answers; look whether the server runs, and whether a firewall drops SYNs"
    sent = found.connections.select((pl.col("client_segments") + pl.col("server_segments")).sum())
    if not sent.item():
        return "no connection carried data, so there are no requests"
    if not found.total.requests:
        return (
            "there are no requests; a transfer in one direction waits for its window and for repairs, and no "
            "forecast is made for it"
        )
    stalled = [p for p in found.total.parts if p.cause not in HANDSHAKE and p.cause != TRANSFER]
    most = max(stalled, key=lambda part: part.slow_share, default=None)
    if most is None or most.slow_share < LEAST_GAIN:
        return _WHY[TRANSFER]
    other = _UNSEEN if forecast is None else _FEWER
    why = reason(found, most.cause) if most.cause in _WHY else other
    # a window that closes has slowed the transfer down before
    if found.total.slow_share(TRANSFER) > 0.5 and most.cause != "window_closed":
        why = f"{_MOSTLY_TRANSFER}. For the rest, {why}"
    return why


def reason(found: Explained, cause: str) -> str:
    """Return why no timer gains anything where most time went to `cause`, a key of `_WHY`."""
    some = unasked.of(found) if cause in ("server", "unknown") else None
    if some and cause == "server":
        return f"the server itself takes that long, unless {some.unless}; {_LOOK}"
    if some:
        return f"{_WHY[cause]}. If the server sends data without being asked, nobody waited"
    return _WHY[cause].format(receiver=_receiver(found))


def _receiver(found: Explained) -> str:
    """Return which end closed its receive window for longest, or "the receiver" if the table of stalls, which
    has waits of at least 10 ms, does not show it."""
    closed = found.stalls.filter(pl.col("cause").cast(pl.String) == "window_closed")
    by = closed.group_by("by").agg(pl.col("duration_ms").sum()).sort("duration_ms", descending=True)
    if not by.height:
        return "the receiver"
    return "the client" if by["by"][0] == "server" else "the server"


def _misfit(forecast: Forecast) -> str:
    """Return why no forecast holds for the sender, or "" if the model fits it."""
    if forecast.fitted < LEAST_STALLS or abs(forecast.fit - 1) <= MISFIT:
        return ""
    return (
        "the timer that ended the waits is not that of Linux, which in the median would have waited "
        f"{forecast.fit:.2f} times as long. The sender probably does not run Linux, or has settings that are "
        "not modelled here, so no forecast holds for it"
    )


def _no_gain(forecast: Forecast, others: list[Outlook], why: str) -> str:
    now, model = forecast.seen, forecast.of(forecast.in_force)
    has = f"the sender already waits as with {forecast.in_force}; " if forecast.in_force != STOCK else ""
    best = min(others, key=lambda one: one.slowest_ms)
    if best.slowest_ms <= (1 - LEAST_GAIN) * now.slowest_ms:
        shorter = (
            f"{has}{best.candidate.name} would bring the mean of the slowest 2 % from "
            f"{milliseconds(now.slowest_ms)} to {milliseconds(best.slowest_ms)} ms, but "
        )
        more = best.spurious_permille - model.spurious_permille
        if more > MOST_SPURIOUS:
            return f"{shorter}add {permille(more)} spurious retransmissions in 1,000 segments"
        return (
            f"{shorter}the forecast for the present setting is {milliseconds(model.slowest_ms)} ms, so that "
            "gain comes from the model and not from the setting"
        )
    return f"{has}no setting would shorten the slowest 2 % by a tenth; {why}"
