# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write the test vectors of loss classifiers to vectors/loss, or with --check compare the existing files."""

from loss_connection import Connection
from loss_numbers import Float, Whole
from loss_reference import CLASSIFIERS
from loss_series import ALL, Ack
from vector_files import expected_file, main, texts_of

FEATURES_OF = "congestion"  # features are the same for every classifier; they are written under this name


def line(event):
    """Return the columns of a line of the file for `event`: a word (ack, decide or change), then the event's
    numbers."""
    if isinstance(event, Ack):
        return ("ack", *event)
    if event.change is None:
        return ("decide", *event[:5])
    return ("change", *event[:4], event.change, event.cause)


def played(events, subject):
    """Yield what `subject` (a loss classifier, or the features of a connection) returns for each decision in
    `events`."""
    for event in events:
        if isinstance(event, Ack):
            subject.ack(event)
        elif event.change is None:
            yield (subject.decide if hasattr(subject, "decide") else subject.features)(event)
        else:
            subject.change(event)


def features(kind, _, events):
    """Yield, for each decision in `events`, all features of the loss, in fixed point and in double
    precision."""
    both = zip(played(events, kind(Whole())), played(events, kind(Float())), strict=True)
    return ((tuple(whole.values()), tuple(real.values())) for whole, real in both)


def decisions(kind, p, events):
    """Yield, for each decision in `events`, the cause and the probability of congestion, in fixed point and
    in double precision."""
    both = zip(played(events, kind(Whole(), p)), played(events, kind(Float(), p)), strict=True)
    return (((a[1], a[0]), (b[1], b[0])) for a, b in both)


if __name__ == "__main__":
    ((_, text),) = texts_of({FEATURES_OF: (Connection, {}, ())}, ALL, features).items()
    more = {expected_file("loss", FEATURES_OF, "features"): text}
    main(__doc__, "loss", CLASSIFIERS, ALL, decisions, line, more)
