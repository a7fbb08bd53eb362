# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes vectors/resends and vectors/expected/resend; with --check compares them with what is there.

    python3 vectors/gen/generate_resend.py [--check]

Needs Python 3.11 or later and nothing else."""

import sys

from resend_reference import POLICIES, Floats, Wholes
from resend_series import SERIES
from vector_files import VECTORS, parser, write_or_check

RESENDS, EXPECTED = VECTORS / "resends", VECTORS / "expected" / "resend"


def series_text(events):
    return "".join(",".join([kind, *map(str, values)]) + "\n" for kind, values in events)


def answers(name):
    """A line an event: the wait and whether it ends with a probe; the wait in double where it is another."""
    kind, fixed, variants = POLICIES[name]
    lines = []
    for changed in ({}, *variants):
        for series, events in SERIES.items():
            lines.append(",".join(["case", series, *(f"{k}={v}" for k, v in changed.items())]))
            both = [kind(numbers(), {**fixed, **changed}) for numbers in (Wholes, Floats)]
            for event, values in events:
                if event == "next":
                    both = [policy.next_connection() for policy in both]
                    lines.append("0,0")
                    continue
                (wait, probe), (real, _) = (getattr(policy, event)(*values) for policy in both)
                lines.append(f"{wait},{probe}" + (f",{real}" if real != wait else ""))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    texts = {RESENDS / f"{name}.csv": series_text(events) for name, events in SERIES.items()}
    texts |= {EXPECTED / (name.replace("/", "--") + ".csv"): answers(name) for name in POLICIES}
    sys.exit(write_or_check(parser(__doc__).parse_args().check, texts, (RESENDS, EXPECTED)))
