# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Say in sentences where the time of requests went."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import polars as pl

from tcplearn.explain import unasked
from tcplearn.explain.advice import most_of_all, reason
from tcplearn.explain.answers import Fade
from tcplearn.explain.causes import HANDSHAKE, RESENT, TRANSFER, WORDS
from tcplearn.explain.model import ENDS_GUESSED, KEY, Explained, Summary, slowest_requests
from tcplearn.output.numbers import byte_count, counted, listed, milliseconds, two_digits

#: A cause is named only if it took at least this share of the slowest requests' time.
NAMED_SHARE = 0.1
#: The largest number of causes that are named.
_MOST_NAMED = 3
#: Causes for which the first lines say what to do, if they have much of the time of all requests.
_MENDABLE = ("delayed_ack", "window_closed", "slow_path")
#: The least share that is shown as 100 %.
_ALL = 0.995
#: A capture was taken near the server if the round trip to it is this share of that to the client, or less.
_NEAR = 0.1
#: If lost segments held data up outside of requests for longer than this, a sentence names the time.
_LEAST_OUTSIDE_S = 1.0
_NO_WAITING = "If the server sends data without being asked (events, pushes), nobody waited."


def of(found: Explained) -> list[str]:
    """Return the first lines of `tcplearn explain`: response times, why the slowest requests were slow, and
    losses."""
    total = found.total
    begin = [_times(total), *_spent(found)] if total.requests else list(_without_requests(found))
    return [*begin, *_losses(found), *_outside(found), *_fades(found), *_handshakes(found)]


def advice(found: Explained) -> list[list[str]]:
    """Return the lines of the advice on the RTO of data, and of that on the first RTO of handshakes. Advice
    that names a setting comes first."""
    given = [one for one in (found.advice, found.handshake_advice) if one]
    lines = {id(one): one.sentences for one in sorted(given, key=lambda one: one.chosen is None)}
    if found.advice and not found.advice.chosen and any(one.chosen for one in given):
        first, *more = found.advice.sentences
        lines[id(found.advice)] = [f"For requests, {first[0].lower()}{first[1:]}", *more]
    if servers := found.advised_alone:
        add = f"add --host {servers[0]}."
        if found.anonymized:
            add = f"leave --anonymize out, and add --host with the address that {servers[0]} stands for."
        alone = f"But for {listed(servers)} alone a setting is advised: {add}"
        lines[id(found.advice)].append(alone)
    for one in given:
        if found.repeats_traffic and one.chosen:
            lines[id(one)].insert(0, _in_several(found.in_several))
    return list(lines.values())


def _in_several(connections: int) -> str:
    what = f"{counted(connections, 'connection')} {'is' if connections == 1 else 'are'} in more than one file"
    return (
        f"Explain one file alone before you set this: {what}, so the same waits count more than once, and "
        "the intervals are too narrow."
    )


def _times(total: Summary) -> str:
    ms = {key: f"{milliseconds(value)} ms" for key, value in total.response_ms.items()}
    what = f"{counted(total.requests, 'request')} in {counted(total.connections, 'connection')}"
    if total.requests < 3:
        return (
            f"{what}: {'it took' if total.requests == 1 else 'the longer took'} {ms['longest_response_ms']}."
        )
    parts = [f"half are answered within {ms['median_response_ms']}"]
    if total.requests >= 100:
        parts.append(f"99 of 100 within {ms['p99_response_ms']}")
    parts.append(f"the slowest takes {ms['longest_response_ms']}")
    return f"{what}: {', '.join(parts)}."


def _spent(found: Explained) -> Iterator[str]:
    total = found.total
    yield _slowest(total)
    yield from _unasked(found)
    yield from _guessed(found)
    if total.slow_share(TRANSFER) > 0.5:
        yield _moved(found)
    if most := most_of_all(total):
        mend = f": {reason(found, most.cause)}" if most.cause in _MENDABLE else ""
        yield f"Of the time of all requests, {_percent(most.share)} went to {WORDS[most.cause].spent}{mend}."


def _slowest(total: Summary) -> str:
    named = [p for p in total.parts if p.slow_share >= NAMED_SHARE and p.cause not in HANDSHAKE][:_MOST_NAMED]
    whose = "the slowest request" if total.slowest == 1 else f"the {total.slowest:,} slowest requests"
    if not named:
        return f"No single cause took a tenth of the time of {whose}."
    first = named[0]
    if first.cause == TRANSFER and first.slow_share >= 1 - NAMED_SHARE:
        spent = f"{_percent(first.slow_share)} of the time of {whose} went to {WORDS[TRANSFER].spent}"
        what = "nothing" if first.slow_share >= _ALL else "little"
        return f"{spent}: {what} held {'it' if total.slowest == 1 else 'them'} up."
    parts = [f"{_percent(part.slow_share)} to {WORDS[part.cause].spent}" for part in named]
    parts[0] = parts[0].replace(" to ", " went to ", 1)
    return f"Of the time of {whose}, {listed(parts)}."


def _moved(found: Explained) -> str:
    """Return a sentence with medians over the slowest requests: the bytes of request and answer, their rate,
    and the connection's shortest round trip."""
    slow = slowest_requests(found.requests)
    legs = pl.col("to_client_ms") + pl.col("to_server_ms")
    # only the few connections that are needed, because a join keeps a copy of its right table
    theirs = found.connections.select(*KEY, rtt_ms=legs).join(slow, on=KEY, how="semi")
    slow = slow.join(theirs, on=KEY, how="left")
    moved = slow["request_bytes"].cast(pl.Float64) + slow["answer_bytes"]
    mbps = moved * 8 / 1000 / slow["response_ms"]
    parts = [byte_count(float(np.median(moved)))]
    rtts_ms = slow["rtt_ms"].drop_nulls()
    rtt_ms = float(np.median(rtts_ms)) if len(rtts_ms) else 0.0
    # for a request of one or two round trips a rate says nothing
    if float(np.median(slow["response_ms"])) > 2 * rtt_ms:
        parts.append(f"{two_digits(float(np.median(mbps)))} Mbit/s")
    if slow.height == 1:
        rtt = f"; the shortest round trip of its connection took {milliseconds(rtt_ms)} ms" if rtt_ms else ""
        return f"This request moved {' at '.join(parts)}{rtt}."
    if rtt_ms:
        parts.append(f"{milliseconds(rtt_ms)} ms for the shortest round trip")
    return f"{'Medians' if len(parts) > 1 else 'Median'} of these requests: {listed(parts)}."


def _unasked(found: Explained) -> Iterator[str]:
    """Yield a sentence if the server may have sent data without being asked in most of the time that the
    slowest requests waited for the server or for an unknown cause."""
    total = found.total
    some = unasked.of(found)
    if not some or total.slow_share("server") + total.slow_share("unknown") < NAMED_SHARE:
        return
    if some.kind == unasked.PAUSED:
        within = f"In {some.count:,} of them" if some.count < total.slowest else "In each of them"
        within = "In it" if total.slowest == 1 else within
        yield f"{within} the server had begun to answer, and then paused. {_NO_WAITING}"
    elif some.kind == unasked.ALIVE:
        yield (
            f"{_of_slowest(some.count, total)}, which the server answered with few bytes after five seconds "
            "or more. Between keep-alives of the programs, or events, nobody waits."
        )
    elif some.kind == unasked.RECEIPT:
        what = _of_slowest(some.count, total)
        yield f"{what}, which the client sent as soon as data of the server had arrived. {_NO_WAITING}"
    elif some.kind == unasked.POLL:
        of = "It was" if total.slowest == 1 else f"{some.count:,} of them were"
        of = "One of them was" if some.count == 1 < total.slowest else of
        yield (
            f"{of} answered with few bytes after ten seconds or more, and after such an answer a client "
            "asked the same server again at once. If the server answers when there is news (long polling), "
            "nobody waited."
        )
    else:
        of = "it" if total.slowest == 1 else f"{some.count:,} of them"
        yield (
            f"In {of} the server had begun to answer, and then paused, or the client had sent only a small "
            f"message. {_NO_WAITING}"
        )


def _guessed(found: Explained) -> Iterator[str]:
    """Yield a sentence if, for most of the slowest requests, only the ports' order shows which end is the
    client."""
    slow = slowest_requests(found.requests)
    guessed = found.connections.filter(pl.col("options") & ENDS_GUESSED > 0)
    count = slow.join(guessed, on=KEY, how="semi").height
    if count > slow.height / 2:
        whose = "its connection" if slow.height == 1 else "the connections of most of them"
        yield (
            f"The beginning of {whose} was not captured. The end with the higher port was taken for the "
            "client; if it is the server, these times are wrong."
        )


def _of_slowest(count: int, total: Summary) -> str:
    """Return the beginning of a sentence: `count` of the slowest requests were small messages."""
    if total.slowest == 1:
        return "It was a small message"
    if count == total.slowest:
        return "All of them were small messages"
    return f"{count:,} of them were small messages" if count > 1 else "One of them was a small message"


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _losses(found: Explained) -> Iterator[str]:
    connections = found.connections
    sent = int(connections["client_segments"].sum()) + int(connections["server_segments"].sum())
    again, needless = int(connections["resent_segments"].sum()), int(connections["needless_segments"].sum())
    were = "were retransmissions" if again > 1 else "was a retransmission"
    count = f"{again:,}" if again else "None"
    words = f"{count} of {counted(sent, 'segment')} with data {were}"
    if needless:
        some = "all" if again == needless else f"{needless:,}"
        of = "a spurious one" if again == 1 else f"{some} of them spurious"
        words += f", {of}: an earlier copy had arrived"
    lost = found.stalls.filter(pl.col("cause").cast(pl.String).is_in((*RESENT, "lost_fast"))).height
    near_server = lost and _near_server(connections)
    if lost > again - needless and not near_server:
        words += ". Of segments that were lost before the capture point only some are counted"
    if sent:
        yield f"{words}."
    if near_server:
        yield (
            "The capture was taken near the server: the wait of a client for a request that was lost on its "
            "way is not in these times. A capture at a client shows it."
        )


def _near_server(connections: pl.DataFrame) -> bool:
    """Return whether most of `connections` were captured much nearer to the server than to the client."""
    legs = connections.select("to_client_ms", "to_server_ms").drop_nulls()
    near = legs.filter(pl.col("to_server_ms") < _NEAR * pl.col("to_client_ms"))
    return near.height > legs.height / 2


def _outside(found: Explained) -> Iterator[str]:
    """Yield a sentence if lost segments held data up for longer outside of requests than in them."""
    causes = (*RESENT, "lost_fast")
    stalls = found.stalls.filter(pl.col("cause").cast(pl.String).is_in(causes))
    within_s = sum(float(found.requests[f"{cause}_ms"].sum()) for cause in causes) / 1000
    outside_s = float(stalls["duration_ms"].sum()) / 1000 - within_s
    if outside_s > max(within_s, _LEAST_OUTSIDE_S):
        yield (
            f"Outside of requests lost segments held data up for {two_digits(outside_s)} s in all, for "
            "example in transfers whose request came before the capture began."
        )


def _fades(found: Explained) -> Iterator[str]:
    """Yield a sentence for each of the recurring fades with the most losses. Fades of a path with the same
    period in several captures, or in several hours of one capture, share a sentence."""
    alike: dict[tuple[str, str, str, int], list[Fade]] = {}
    seen: Counter[tuple[str, str, str, int, float]] = Counter()
    for fade in found.fades:
        ends = (fade.client, fade.host) if fade.by == "client" else (fade.host, fade.client)
        path = (*ends, two_digits(fade.every_s))
        within = (*path, fade.source, fade.from_s)
        alike.setdefault((*path, seen[within]), []).append(fade)
        seen[within] += 1
    for (sender, receiver, every, _), fades in list(alike.items())[:_MOST_NAMED]:
        losses = sum(fade.losses for fade in fades)
        lasts_ms = float(f"{1e3 * max(fade.lasts_s for fade in fades):.2g}")
        what = f"nothing that {sender} sends to {receiver} seems to arrive for about {lasts_ms:,.0f} ms"
        yield f"Every {every} s, {what}: {losses:,} of the waits for lost segments began then."


def _handshakes(found: Explained) -> Iterator[str]:
    lost = found.stalls.filter(pl.col("cause").cast(pl.String).is_in(HANDSHAKE))
    lost = lost.join(found.unanswered, on=KEY, how="anti")
    parts = [
        f"{counted(of.height, 'wait')} for a lost {WORDS[str(cause)].label.removesuffix(' lost')} "
        f"({'' if of.height == 1 else 'up to '}{milliseconds(float(of['duration_ms'].to_numpy().max()))} ms)"
        for (cause,), of in lost.sort("cause").group_by(["cause"], maintain_order=True)
    ]
    if parts:
        yield f"In handshakes, which response times leave out: {', '.join(parts)}."
    if found.unanswered.height:
        servers = found.unanswered["server"].cast(pl.String).unique().sort().to_list()
        to = listed(servers) if len(servers) <= _MOST_NAMED else f"{len(servers):,} servers"
        waits = found.stalls.join(found.unanswered, on=KEY, how="semi").height
        had = f"had no answer to any SYN ({counted(waits, 'wait')})"
        yield f"{counted(found.unanswered.height, 'connection')} to {to} {had}."


def _without_requests(found: Explained) -> Iterator[str]:
    begun = found.connections.height - found.unanswered.height
    bytes_ = found.connections["client_bytes", "server_bytes"]
    both = bytes_.filter((bytes_["client_bytes"] > 0) & (bytes_["server_bytes"] > 0))
    if not found.connections.height:
        yield "No TCP connection was captured."
    elif both.height:
        yield f"No request in {counted(begun, 'connection')} was answered within the capture."
    elif begun:
        where = counted(begun, "connection")
        yield f"No requests: on {where} no end answered the other, so there are no response times."
