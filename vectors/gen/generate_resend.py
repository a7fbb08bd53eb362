# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes vectors/resend; with --check compares them with what is there.

    python3 vectors/gen/generate_resend.py [--check]

Needs Python 3.11 or later and nothing else."""

import sys

from resend_reference import POLICIES, Floats, Wholes
from resend_series import SERIES
from vector_files import case_text, parser, series_text, write_kind


def answers(kind, parameters, events):
    """Of each event: the wait and whether it ends with a probe."""
    both = [kind(numbers(), parameters) for numbers in (Wholes, Floats)]
    for event, values in events:
        if event == "next":
            both = [policy.next_connection() for policy in both]
            yield (0, 0), (0, 0)
        else:
            yield tuple((wait, int(probe)) for wait, probe in (getattr(p, event)(*values) for p in both))


def expected_text(name):
    kind, fixed, variants = POLICIES[name]
    return "".join(
        case_text(series, changed, answers(kind, {**fixed, **changed}, events))
        for changed in ({}, *variants)
        for series, events in SERIES.items()
    )


if __name__ == "__main__":
    sys.exit(
        write_kind(
            "resend",
            {name: series_text((e, *v) for e, v in events) for name, events in SERIES.items()},
            {name: expected_text(name) for name in POLICIES},
            parser(__doc__).parse_args().check,
        )
    )
