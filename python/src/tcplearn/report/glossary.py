# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Build the glossary of a report: general terms, the metrics, and the estimators."""

from collections.abc import Iterable

from tcplearn import estimators, metrics
from tcplearn.explain.candidates import STOCK
from tcplearn.explain.causes import MEANINGS, WORDS
from tcplearn.explain.model import Explained
from tcplearn.output.numbers import capitalized

Terms = tuple[tuple[str, str], ...]

_RTO = ("RTO", "Retransmission timeout: how long a sender waits for an ACK before it sends again.")
_WORDS: Terms = (
    (
        "RTT sample",
        "The time from a segment's sending to the ACK that acknowledges it, from the capture. Segments "
        "that were retransmitted give none (Karn's rule), unless timestamps tell which sending is meant.",
    ),
    _RTO,
)
_OF_STALLS: Terms = (
    ("Stall", "A wait in which data or a SYN was outstanding and no data moved."),
    _RTO,
    (
        "Tail loss probe",
        "A retransmission of the last segment that was sent (RFC 8985), before the RTO. Linux sends it two "
        "round trips after that segment, and `rto_min` later still if no other segment is outstanding.",
    ),
    ("Spurious retransmission", "A segment that was sent again although its first sending had arrived."),
)
_OF_SETTINGS: Terms = (
    (STOCK, "The timer of an unchanged Linux kernel: an RTO of 200 ms more than the round trip, or longer."),
    (
        "rto_min",
        "An option of a Linux route: the least by which the RTO exceeds the round trip. Stock has 200 ms.",
    ),
    (
        "thin linear timeouts",
        "A setting of Linux: the RTO does not double on connections with little in flight.",
    ),
    (
        "priced",
        "tcplearn's policy, set by `tcplearn live`: it learns how late answers come, and waits until a "
        "retransmission is worth its cost.",
    ),
    (
        "priced/spaced",
        "The same, but it also learns the waits after the first retransmission. It needs the kernel module.",
    ),
)
_OF_FLOWS: Terms = (
    (
        "×",
        "Ratio to jacobson on the same flow: below 1 is better than RFC 6298's formulas. In brackets its 95 "
        "% interval, by a block bootstrap: where it holds 1, this flow does not tell which is better.",
    ),
    (
        "Judged",
        "Flows with too few samples are measured but not judged: they have no picture here.",
    ),
)


def _metrics() -> Terms:
    """Return the meanings of the metrics that are columns of tables, by the headings of these columns."""
    named = ((m.heading.strip().replace("\n", " "), m) for m in metrics.METRICS if m.heading)
    return tuple((f"{capitalized(head)} (`{m.key}`)", f"{capitalized(m.meaning)}.") for head, m in named)


def of_estimators(shown: Iterable[str]) -> tuple[Terms, Terms]:
    """Return two lists of terms: the estimators in `shown`, which the page shows, and all others."""
    named = {label.partition(":")[0] for label in shown}
    known = [(info.name, info.about or info.summary) for info in estimators.available()]
    return tuple(t for t in known if t[0] in named), tuple(t for t in known if t[0] not in named)


def of_explain(found: Explained) -> Terms:
    """Return the terms of a report on the explained captures `found`."""
    causes = tuple(
        (WORDS[part.cause].label, f"{capitalized(MEANINGS[part.cause])}.") for part in found.total.parts
    )
    return (*_OF_STALLS, *causes, *(_OF_SETTINGS if found.forecast and found.advice else ()))


def of_suite(words: Terms = ()) -> Terms:
    """Return the terms of a report on many traces (a suite), after `words`, the page's own terms."""
    return (*words, *_WORDS, *_metrics())


def of_replay() -> Terms:
    return (*_WORDS, *_metrics(), *_OF_FLOWS)
