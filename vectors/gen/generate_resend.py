# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write the test vectors of resend policies to vectors/resend, or with --check compare the existing files."""

from resend_reference import POLICIES, Floats, Wholes
from resend_series import SERIES
from vector_files import main


def line(event):
    word, values = event
    return word, *values


def answers(kind, parameters, events):
    """Yield, for each event, the time in us until the resend policy's timer fires, and 1 if it then sends a
    tail loss probe, otherwise 0. Both are given in fixed point and in double precision."""
    both = [kind(numbers(), parameters) for numbers in (Wholes, Floats)]
    for event, values in events:
        if event == "next":
            both = [policy.next_connection() for policy in both]
            yield (0, 0), (0, 0)
        else:
            yield tuple((wait, int(probe)) for wait, probe in (getattr(p, event)(*values) for p in both))


if __name__ == "__main__":
    main(__doc__, "resend", POLICIES, SERIES, answers, line)
