# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares the kernel module's initial windows after lost SYNs or SYN-ACKs with those of the same startup
policies in user space."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tcplearn import _native

from .arm import STOCK

Json = dict[str, Any]

WHOLE, SYN, SYN_ACK, EITHER = range(4)  # what a handshake lost, numbered as in startup/handshake.h
IW, LEAST_IW, NO_SSTHRESH = 10, 1, 2**31 - 1  # the kernel's; LEAST_IW after more than one retransmission
SEGMENTS, RTT_US = 30, 30_000  # as in linux/lab/checks/startup.py


def compared(lines: Sequence[str]) -> list[str]:
    """Return a text for each connection in `lines` (JSON). It has the connection's initial window and
    ssthresh in the kernel, and either "ok" or how these differ from those of the startup policy in user
    space."""
    out = []
    place = None
    for seen in map(json.loads, lines):
        case, log = seen["case"], seen["log"]
        is_stock = case["policy"] == STOCK
        if seen["fresh"] and not is_stock:
            place = _native.StartupPolicy(case["policy"])
        name = f"{case['policy']}/{case['side']}"
        name += f"/{case['count']}-{case['lost']}" if case["lost"] else ""
        name += "" if case["timestamps"] else "/no-timestamps"
        name += "" if seen["fresh"] else "/known-place"
        threshold = "none" if log["ssthresh"] == NO_SSTHRESH else log["ssthresh"]
        wrong = "; ".join(_wrong(seen, None if is_stock else place))
        out.append(f"{name}: IW {log['iw']}, ssthresh {threshold}" + (f", {wrong}" if wrong else " ok"))
    return out


def _loss(case: Json) -> int:
    """Return what the kernel module can know about the packets that the handshake of `case` lost."""
    if not case["lost"] or (case["side"] == "passive" and case["lost"] == "syn"):
        return WHOLE
    if case["side"] == "passive":
        return SYN_ACK
    if not case["timestamps"] or (case["lost"] == "syn" and case["count"] > 1):
        return EITHER
    return SYN if case["lost"] == "syn" else SYN_ACK


def _wrong(seen: Json, place: _native.StartupPolicy | None) -> Iterator[str]:
    case, log, info = seen["case"], seen["log"], seen["info"]
    if log["policy"] != case["policy"] or bool(log["passive"]) != (case["side"] == "passive"):
        yield f"logged as {log['policy']}"
    if log["loss"] != (loss := _loss(case)):
        yield f"took for lost {log['loss']}, not {loss}"
    if (log["resends"] > 0) != (loss != WHOLE) or log["resends"] > log["retransmitted"]:
        yield f"{log['resends']} resends of {log['retransmitted']}"
    if place is None:
        answer = (LEAST_IW if _stock_cuts(seen) else IW, NO_SSTHRESH)
    else:
        answer = place.handshake(seen["at_us"], log["took_us"], loss, log["resends"], IW, NO_SSTHRESH)
        place.report(seen["at_us"], SEGMENTS, 0, RTT_US, RTT_US)
    if (log["iw"], log["ssthresh"]) != answer:
        yield f"the core answers {answer[0]} and {answer[1]}"
    if (info["cwnd"], info["ssthresh"]) != answer:
        yield f"TCP_INFO has {info['cwnd']} and {info['ssthresh']}"
    if seen["first_flight"] != min(answer[0], SEGMENTS):
        yield f"{seen['first_flight']} segments in the first flight"


def _stock_cuts(seen: Json) -> bool:
    """Return whether stock Linux begins the connection `seen` with the initial window `LEAST_IW`."""
    log = seen["log"]
    if seen["case"]["side"] == "active" and log["loss"] == SYN_ACK:
        return False  # the timestamp echo shows that the first SYN had arrived
    return int(log["retransmitted"]) > 1
