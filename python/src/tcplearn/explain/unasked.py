# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Find slow requests whose answers the server may have sent without being asked, so that nobody waited."""

from __future__ import annotations

import polars as pl

from tcplearn.explain.model import KEY, Explained, slowest_requests

#: A message of at most so many bytes may be a keep-alive, or the receipt of an event.
SMALL_BYTES = 128
#: A small message is perhaps a keep-alive if at most so many bytes answer it, after so long.
ALIVE_ANSWER_BYTES, ALIVE_MS = 1024, 5000
#: A small message is perhaps a receipt if it follows the server's data so soon, and the server's next data
#: follows after so long. It is not if most such messages of its connection are answered sooner.
RECEIPT_MS, EVENT_MS = 50, 1000


def paused(found: Explained) -> pl.DataFrame:
    """Return those of the slowest requests in which the server paused after its first data, if such pauses
    have more than half of the server's own time in the slowest requests; otherwise no rows."""
    slow = slowest_requests(found.requests)
    return _if_most(slow.filter(pl.col("pauses_ms") > 0), "pauses_ms", slow)


def perhaps_alive(found: Explained) -> pl.DataFrame:
    """Return those of the slowest requests that may be keep-alives of programs, or receipts of events, if
    they have more than half of the server's own time in the slowest requests; otherwise no rows. They are
    small messages, answered with small ones after `ALIVE_MS` or more."""
    slow = slowest_requests(found.requests)
    small = (pl.col("request_bytes") <= SMALL_BYTES) & (pl.col("answer_bytes") <= ALIVE_ANSWER_BYTES)
    return _if_most(slow.filter(small & (pl.col("server_ms") >= ALIVE_MS)), "server_ms", slow)


def receipts(found: Explained) -> pl.DataFrame:
    """Return those of the slowest requests that may be receipts of events, if they have more than half of the
    server's own time in the slowest requests; otherwise no rows. They are small messages that follow data of
    the server within `RECEIPT_MS`, in connections where the server's next data follows most such messages
    only after `EVENT_MS` or more."""
    slow = slowest_requests(found.requests)
    of_them = found.requests.join(slow.select(KEY).unique(), on=KEY, how="semi").sort(*KEY, "start_s")
    ends_ms = pl.col("start_s") * 1000 + pl.col("response_ms")
    since_ms = pl.col("start_s") * 1000 - ends_ms.shift(1).over(KEY)
    follow = of_them.filter((pl.col("request_bytes") <= SMALL_BYTES) & (since_ms <= RECEIPT_MS))
    seldom = follow.filter(pl.col("response_ms").median().over(KEY) >= EVENT_MS)
    late = slow.filter(pl.col("server_ms") >= EVENT_MS)
    return _if_most(late.join(seldom, on=(*KEY, "start_s"), how="semi"), "server_ms", slow)


def unless(found: Explained) -> str:
    """Return what would be true if nobody waited for the server: the end of "unless …", or ""."""
    if not paused(found).height and perhaps_alive(found).height:
        return "these are keep-alives or events"
    some = paused(found).height or receipts(found).height
    return "it sends data without being asked" if some else ""


def _if_most(some: pl.DataFrame, times_ms: str, slow: pl.DataFrame) -> pl.DataFrame:
    """Return `some` if its `times_ms` have more than half of the server's own time in `slow`; otherwise no
    rows."""
    most = float(some[times_ms].sum()) > 0.5 * float(slow["server_ms"].sum())
    return some if most else some.clear()
