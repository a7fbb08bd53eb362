# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes vectors/losses and vectors/expected/loss; with --check compares them with what is there.

    python3 vectors/gen/generate_loss.py [--check]

Needs Python 3.11 or later and nothing else."""

import sys

from loss_numbers import Float, Whole
from loss_reference import CLASSIFIERS, Connection
from loss_series import ALL, Ack
from vector_files import VECTORS, parser, write_or_check

SERIES, EXPECTED = VECTORS / "losses", VECTORS / "expected" / "loss"


def series_text(events):
    """A line an event: ack, decide or change, and its columns."""

    def line(e):
        if isinstance(e, Ack):
            return ("ack", *e)
        if e.change is None:
            return ("decide", *e[:5])
        return ("change", *e[:4], e.change, e.cause)

    return "".join(",".join(map(str, line(e))) + "\n" for e in events)


def played(series, subject):
    """The subject's answers, one a decision."""
    for event in ALL[series]:
        if isinstance(event, Ack):
            getattr(subject, "path", subject).ack(event)
        elif event.change is None:
            yield (subject.decide if hasattr(subject, "decide") else subject.features)(event)
        else:
            subject.change(event)


def features_text():
    """A line a feature of a decision: its name, in fixed point, in double."""
    lines = []
    for series in ALL:
        lines.append(f"case,{series}")
        for whole, real in zip(
            played(series, Connection(Whole())), played(series, Connection(Float())), strict=True
        ):
            lines += [f"{name},{whole[name]},{real[name]!r}" for name in whole]
    return "\n".join(lines) + "\n"


def decisions_text(name):
    """A line a decision: cause in fixed point, probability in it, cause in double, probability."""
    kind, defaults, variants = CLASSIFIERS[name]
    lines = []
    for changed in ({}, *variants):
        for series in ALL:
            lines.append(",".join(["case", series, *(f"{k}={v}" for k, v in changed.items())]))
            p = {**defaults, **changed}
            both = zip(played(series, kind(Whole(), p)), played(series, kind(Float(), p)), strict=True)
            lines += [f"{a[1]},{a[0]},{b[1]},{b[0]!r}" for a, b in both]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    texts = {SERIES / f"{name}.csv": series_text(events) for name, events in ALL.items()}
    texts[EXPECTED / "features.csv"] = features_text()
    texts |= {EXPECTED / (name.replace("/", "--") + ".csv"): decisions_text(name) for name in CLASSIFIERS}
    sys.exit(write_or_check(parser(__doc__).parse_args().check, texts, (SERIES, EXPECTED)))
