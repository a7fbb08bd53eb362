# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Find slow requests whose answers the server may have sent without being asked, so that nobody waited."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tcplearn.explain.model import KEY, Explained, slowest_requests

#: Kinds of requests for whose answers nobody may have waited: the server paused after its first data;
#: keep-alives of programs, or receipts of events, answered with few bytes; receipts of events, followed by
#: other events; requests that the server answers when there is news (long polling); several of these kinds.
PAUSED, ALIVE, RECEIPT, POLL, SEVERAL = "paused", "alive", "receipt", "poll", "several"
#: A message of at most this many bytes may be a keep-alive, or the receipt of an event.
SMALL_BYTES = 128
#: A small message is perhaps a keep-alive if at most ALIVE_ANSWER_BYTES answer it, after ALIVE_MS or more.
ALIVE_ANSWER_BYTES, ALIVE_MS = 1024, 5000
#: A small message is perhaps a receipt if it follows the server's data within RECEIPT_MS, and the server's
#: next data follows after EVENT_MS or more. It is not if most such messages of as many bytes on its
#: connection are answered sooner.
RECEIPT_MS, EVENT_MS = 50, 1000
#: A request is perhaps a long poll if at most POLL_ANSWER_BYTES answer it, after POLL_MS or more, and the
#: client sends the next request within POLL_AGAIN_MS after the answer.
POLL_ANSWER_BYTES, POLL_MS, POLL_AGAIN_MS = 1024, 10_000, 10
_ENDS_MS = pl.col("start_s") * 1000 + pl.col("response_ms")


@dataclass(frozen=True)
class Unasked:
    """Says how many of the slowest requests have answers that the server may have sent without being asked
    (`count`), and of what kind these requests are (`kind`, such as PAUSED)."""

    kind: str
    count: int

    @property
    def unless(self) -> str:
        """Return a clause that is true if nobody waited for the server, for the end of a sentence after
        "unless"."""
        if self.kind == POLL:
            return "it answers when there is news (long polling)"
        return (
            "these are keep-alives or events" if self.kind == ALIVE else "it sends data without being asked"
        )


def of(found: Explained) -> Unasked | None:
    """Return what was found among the slowest requests of `found` if, in more than half of the time that they
    waited for the server or for an unknown cause, the server may have sent data without being asked;
    otherwise None."""
    slow = slowest_requests(found.requests).with_columns(waited_ms=pl.col("server_ms") + pl.col("unknown_ms"))
    first_ms = pl.col("waited_ms") - pl.col("pauses_ms")  # until the first data of the answer
    small = pl.col("request_bytes") <= SMALL_BYTES
    alive = slow.filter(small & (pl.col("answer_bytes") <= ALIVE_ANSWER_BYTES) & (first_ms >= ALIVE_MS))
    receipts = _receipts(found, slow.filter(first_ms >= EVENT_MS)).join(
        alive, on=(*KEY, "start_s"), how="anti"
    )
    few = pl.col("answer_bytes") <= POLL_ANSWER_BYTES
    polls = _polls(found, slow.filter(few & (first_ms >= POLL_MS)))
    for others in (alive, receipts):
        polls = polls.join(others, on=(*KEY, "start_s"), how="anti")
    paused = slow.filter(pl.col("pauses_ms") > 0)
    kinds = {PAUSED: paused, ALIVE: alive, RECEIPT: receipts, POLL: polls}
    times_ms = [float(paused["pauses_ms"].sum())]
    times_ms += [float(one.select(first_ms.sum()).item() or 0) for one in (alive, receipts, polls)]
    if sum(times_ms) <= 0.5 * float(slow["waited_ms"].sum()):
        return None
    there = [kind for kind, some in kinds.items() if some.height]
    count = pl.concat([some.select(*KEY, "start_s") for some in kinds.values()]).unique().height
    return Unasked(there[0] if len(there) == 1 else SEVERAL, count)


def _receipts(found: Explained, slow: pl.DataFrame) -> pl.DataFrame:
    """Return those of the requests `slow` that may be receipts of events: small messages that follow data of
    the server within `RECEIPT_MS`, where the server's next data follows most such messages of as many bytes
    on the connection only after `EVENT_MS` or more."""
    of_them = _with_the_same(KEY, found, slow)
    since_ms = pl.col("start_s") * 1000 - _ENDS_MS.shift(1).over(KEY)
    follow = of_them.filter((pl.col("request_bytes") <= SMALL_BYTES) & (since_ms <= RECEIPT_MS))
    seldom = follow.filter(pl.col("response_ms").median().over(*KEY, "request_bytes") >= EVENT_MS)
    return slow.join(seldom, on=(*KEY, "start_s"), how="semi")


def _polls(found: Explained, slow: pl.DataFrame) -> pl.DataFrame:
    """Return those of the requests `slow`, which may be long polls by their times and bytes, whose server a
    client has asked again within `POLL_AGAIN_MS` after such an answer."""
    if not slow.height:
        return slow
    of_them = _with_the_same(["server"], found, slow)
    until_ms = pl.col("start_s").shift(-1).over(KEY) * 1000 - _ENDS_MS
    small = (pl.col("answer_bytes") <= POLL_ANSWER_BYTES) & (pl.col("response_ms") >= POLL_MS)
    again = of_them.filter(small & until_ms.is_between(0, POLL_AGAIN_MS))
    return slow.join(again.select("server").unique(), on="server", how="semi")


def _with_the_same(columns: Sequence[str], found: Explained, slow: pl.DataFrame) -> pl.DataFrame:
    """Return all requests that have the same values in `columns` as one of the requests `slow`, by connection
    and in order of time."""
    same = found.requests.join(slow.select(columns).unique(), on=columns, how="semi")
    return same.sort(*KEY, "start_s")
