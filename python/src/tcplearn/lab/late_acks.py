# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A receiver that keeps its ACKs back for longer than Linux does: lines of the guest's script.

Its kernel's ACKs without data go to the router by a way of their own, on which they wait; those that ride on
data, or report what has arrived out of order, go as all else.
"""

from __future__ import annotations

from collections.abc import Iterator

#: IPv4 and TCP headers of an ACK that has nothing else, without and with timestamps.
LENGTHS = (40, 52)
_ROUTER, _RECEIVER = "10.2.0.1", "10.2.0.2"


def script(router: str, receiver: str, port: int, by_ms: int) -> Iterator[str]:
    yield f"link {router} late {_ROUTER} {receiver} late {_RECEIVER}"
    yield f"qdisc {receiver} late root netem limit 10000 delay {by_ms}ms"
    yield f"in_ns {receiver} ip rule add fwmark 1 table 100"
    yield f"in_ns {receiver} ip route add default via {_ROUTER} dev late table 100"
    yield f"in_ns {receiver} nft -f - <<END"
    yield "table ip late {"
    yield "  chain acks {"
    yield "    type route hook output priority 0"
    yield from (
        f"    tcp sport {port} tcp flags & (fin|syn|rst|psh|ack) == ack ip length {length} meta mark set 1"
        for length in LENGTHS
    )
    yield "  }"
    yield "}"
    yield "END"
