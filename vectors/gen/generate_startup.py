# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write the test vectors of startup policies to vectors/startup, or with --check compare the existing
files."""

import random

from startup_reference import NONE, POLICIES
from vector_files import main

HANDSHAKE = ("time_us", "took_us", "loss", "resends", "iw", "ssthresh")
REPORT = ("time_us", "sent", "resent", "rtt_us", "rtt_min_us")


def handshake(time_us, loss, resends, iw=3, ssthresh=NONE, took_us=50_000):
    return HANDSHAKE, (time_us, took_us, loss, resends, iw, ssthresh)


def report(time_us, sent, resent, rtt_us=60_000, rtt_min_us=50_000):
    return REPORT, (time_us, sent, resent, rtt_us, rtt_min_us)


def windows():
    """Yield handshakes with all combinations of what was lost, numbers of retransmissions, and windows.
    Nothing was lost, or the SYN, or the SYN-ACK, or one of the two and it is not known which."""
    time_us = 0
    for loss in range(4):
        for resends in (0, 1, 2, 7, 40):
            for iw, ssthresh in ((1, 2), (2, 3), (3, NONE), (10, 1000), (0, 0), (4294967295, 4294967295)):
                time_us += 1000
                yield handshake(time_us, loss, resends, iw, ssthresh)


def place(loss_share, seed):
    """Yield the events of 600 connections to one destination. For each there is its handshake, and a report
    of its RTTs and of how many data packets were sent and retransmitted. The connections begin 0.1 s apart on
    average, with a pause of two minutes after the 400th. Each handshake loses its SYN-ACK, and each data
    packet is lost, with probability `loss_share`."""
    dice = random.Random(seed)
    time_us = 0
    for k in range(600):
        time_us += dice.randrange(200_000) + (120_000_000 if k == 400 else 0)
        lost = dice.random() < loss_share
        yield handshake(time_us, 2 if lost else 0, int(lost) + (lost and dice.random() < 0.2))
        sent = dice.randrange(1, 40)
        resent = sum(dice.random() < loss_share for _ in range(sent))
        low = dice.randrange(1000, 200_000)
        yield report(time_us, sent, resent, low + dice.randrange(low), low)


def extremes():
    """Yield events that no correct caller reports, such as decreasing times and very many packets."""
    for k in range(60):
        time_us = (0, 10**15, 5, 10**15 + 1, 2 * 10**15)[k % 5]
        yield report(
            time_us, (4294967295, 0, 7)[k % 3], (0, 4294967295, 9)[k % 3], (-1, 0, 2**40)[k % 3], 2**36
        )
        yield handshake(time_us, k % 4, k, k, 2**32 - 1 - k)


SERIES = {
    "windows": list(windows()),
    "calm": list(place(0.01, 1)),
    "busy": list(place(0.07, 2)),
    "full": list(place(0.2, 3)),
    "extremes": list(extremes()),
}


def line(event):
    keys, values = event
    return ("handshake" if keys is HANDSHAKE else "report", *values)


def answers(kind, parameters, events):
    """Yield the initial window and ssthresh for each handshake, twice, because they are equal in fixed point
    and in double precision."""
    policy = kind(parameters)
    for keys, values in events:
        event = dict(zip(keys, values, strict=True))
        if keys is REPORT:
            policy.report(event)
        else:
            windows = tuple(policy.handshake(event))
            yield windows, windows


if __name__ == "__main__":
    main(__doc__, "startup", POLICIES, SERIES, answers, line)
