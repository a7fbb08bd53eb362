# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes vectors/loss; with --check compares them with what is there.

    python3 vectors/gen/generate_loss.py [--check]

Needs Python 3.11 or later and nothing else."""

import sys

from loss_numbers import Float, Whole
from loss_reference import CLASSIFIERS, Connection
from loss_series import ALL, Ack
from vector_files import case_text, expected_file, parser, series_text, write_kind

#: The features are the same for every classifier.
FEATURES_OF = "congestion"


def line(event):
    """ack, decide or change, and its columns."""
    if isinstance(event, Ack):
        return ("ack", *event)
    if event.change is None:
        return ("decide", *event[:5])
    return ("change", *event[:4], event.change, event.cause)


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
    """A line a decision: every feature in fixed point, then every one in double."""
    return "".join(
        case_text(
            series,
            {},
            (
                (tuple(whole.values()), tuple(real.values()))
                for whole, real in zip(
                    played(series, Connection(Whole())), played(series, Connection(Float())), strict=True
                )
            ),
        )
        for series in ALL
    )


def decisions_text(name):
    """A line a decision: cause and probability in fixed point, then in double."""
    kind, defaults, variants = CLASSIFIERS[name]
    text = ""
    for changed in ({}, *variants):
        for series in ALL:
            p = {**defaults, **changed}
            both = zip(played(series, kind(Whole(), p)), played(series, kind(Float(), p)), strict=True)
            text += case_text(series, changed, (((a[1], a[0]), (b[1], b[0])) for a, b in both))
    return text


if __name__ == "__main__":
    sys.exit(
        write_kind(
            "loss",
            {name: series_text(map(line, events)) for name, events in ALL.items()},
            {name: decisions_text(name) for name in CLASSIFIERS},
            parser(__doc__).parse_args().check,
            {expected_file("loss", FEATURES_OF, "features"): features_text()},
        )
    )
