# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Check a resend policy's waits before retransmissions: compute them again from a kernel log's events."""

from tcplearn import resends

from .tlog import Connection
from .tlog_records import ACKED, TIMER


def differences(c: Connection, spec: str) -> int:
    """Return the number of events of connection `c` in which the logged wait, or whether a tail loss probe
    ends this wait, differs from the answer of the core's resend policy `spec` in fixed point."""
    core = resends.policy(spec)
    wrong = 0
    for r in c.resends:
        time_us, out, event = int(r["time_us"]), int(r["out_segments"]), int(r["event"])
        if event == ACKED:
            answer = core.ack(time_us, int(r["rtt_us"]), out, int(r["answers"]))
        else:
            answer = (core.timer if event == TIMER else core.send)(time_us, out)
        wrong += answer != (int(r["wait_us"]), bool(r["probe"]))
    return wrong
