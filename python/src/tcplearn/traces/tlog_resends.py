# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Check how long a resend policy (a rule for when to retransmit) waited: compute the waits again from a
kernel log."""

from tcplearn import algorithms

from .tlog import Connection
from .tlog_records import ACKED, TIMER


def differences(c: Connection, spec: str) -> int:
    """Return the number of logged events of connection `c` at which the C library's resend policy `spec`
    gives another wait than the kernel, or another answer to whether a tail loss probe ends it."""
    core = algorithms.resend_policy(spec)
    wrong = 0
    for r in c.resends:
        time_us, out, event = int(r["time_us"]), int(r["out_segments"]), int(r["event"])
        if event == ACKED:
            answer = core.ack(time_us, int(r["rtt_us"]), out, int(r["answers"]))
        else:
            answer = (core.timer if event == TIMER else core.send)(time_us, out)
        wrong += answer != (int(r["wait_us"]), bool(r["probe"]))
    return wrong
