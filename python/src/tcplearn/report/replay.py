# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Build the page of a replay: sentences, pictures of each flow, and tables."""

from collections.abc import Mapping, Sequence

from tcplearn.output.numbers import capitalized, counted
from tcplearn.replay import sentences
from tcplearn.replay.results import Replay
from tcplearn.replay.row import Row
from tcplearn.replay.tables import block, few, flows, measured
from tcplearn.report import glossary, misses, summary
from tcplearn.report.page import Page, Picture
from tcplearn.report.palette import Look, looks
from tcplearn.report.pictures import FlowPictures, gather

#: The most flows that have tables on the page. --format csv lists all flows.
TABLES_MOST = 40

_CAPTIONS = {
    "time": "Click names to show or hide estimators; estimators with the same predictions hide each other.",
    "errors": "Read at 95 %: nineteen of twenty predictions were off by no more than this.",
    "timer": "Timers in the grey band had no spurious timeout after a tail loss probe in this capture; an "
    "arrow points to one further right.",
}

_READING = (
    "A retransmission timer decides how long to wait for an ACK before sending again. If it is too short, it "
    "fires although nothing was lost: a spurious timeout, after which the sender slows down. If it is too "
    "long, a loss that nothing else notices costs that much time. So two figures count together: a timer's "
    "number of spurious timeouts, and how long it waits (its RTO).",
    "The first lines of this page name the timer that waits least among the timers with no more spurious "
    "timeouts than Linux's, or than one in each thousand samples. The sender is taken to send a tail loss "
    "probe before a timeout, and spurious probes are limited too. Differences have a 95 % interval: their "
    "range in traffic like this. If it includes no difference, the lines say so, and timers whose waits "
    "differ by no more than chance are named together.",
    "In the picture Retransmission timer each mark is a timer: the further left, the sooner it notices a "
    "loss; the lower, the fewer spurious timeouts it has. The orange band begins where the rule above ends.",
    "In the table × linux is a timer's mean RTO over that of Linux's: 0.50 is half the wait. Click on the "
    "head of a column to sort by it, and on All columns for every metric.",
    "The picture Prediction error and the section on prediction are about the RTT itself: they explain a "
    "timer's wait, but do not decide which timer is best.",
    "This page is a replay: another timer would have changed the traffic on which it is judged. It shows "
    "which prediction fits the delays of this traffic. What to set on a host, and what that would gain, "
    "`tcplearn explain` says.",
)


def page(replay: Replay) -> Page:
    parts = gather(replay)
    look = looks(row.estimator for row in [*replay.rows, *replay.totals])
    files = ", ".join(dict.fromkeys(row.source for row in replay.rows))
    out = Page(f"tcplearn replay: {files}", replay.made_by.get("version", ""))
    out.flows += [{"series": p.series, "cdf": p.cdf} for p in parts]
    _head(replay, files, out)
    out.links()
    for n, part in enumerate(parts):
        _flow(n, part, out)
    _misses(replay, look, out)
    _others(replay, parts, look, out)
    out.section("Prediction of the RTT", place="prediction")
    for line in summary.sentences(replay):
        out.paragraph(line)
    out.section("How to read this", place="reading", link="how to read this")
    for line in _READING:
        out.paragraph(line)
    shown, others = glossary.of_estimators(look)
    out.glossary((*glossary.of_replay(), *shown), others)
    return out


def _tables(rows: Sequence[Row], look: Mapping[str, Look], out: Page, caption: str = "") -> None:
    columns = measured(rows)
    out.table(block(rows, few(columns)), look, caption)
    out.folded(block(rows, columns), look, "All columns")


def _head(replay: Replay, files: str, out: Page) -> None:
    by_flow = flows(replay.rows)
    samples = sum(rows[0].samples for rows in by_flow.values()) + replay.unlisted.samples
    flow_count = len(by_flow) + replay.unlisted.flows
    short = flow_count - sum(any(r.judged for r in rows) for rows in by_flow.values())
    out.head(
        "RTT prediction and retransmission timers, replayed",
        "Every estimator below saw the same samples in the same order, and predicted each before it was "
        "shown.",
        sentences.of(replay.answer()),
    )
    out.warnings("Warnings", replay.warnings)
    measured_ = f"{counted(samples, 'RTT sample')} in {counted(flow_count, 'flow')}"
    measured_ += f", {short:,} of them too short to judge" if short else ""
    out.facts(replay.made_by, {"replayed": files or "nothing", "measured": measured_})
    out.notes(replay.notes, "on sides and flows")


def _flow(n: int, part: FlowPictures, out: Page) -> None:
    about = f"{part.source}, " if part.source else ""
    about += counted(part.rows[0].samples if part.rows else 0, "sample")
    if part.series and part.per_point > 1:
        about += f"; each point of the time pictures stands for {counted(part.per_point, 'sample')}"
    out.section(capitalized(part.name), f"{about}.", place=f"part{n}", link=part.name)
    pictures = [
        Picture(f"{part.file}-{kind}", spec, _CAPTIONS[kind], kind, n, part.narrow(kind))
        for kind, spec in part.specs(still=False)
    ]
    out.pair(p for p in pictures if p.kind != "time")
    if part.rows:
        _tables(part.rows, part.looks, out)
    if part.series:
        out.put(pictures[-1])


def _misses(replay: Replay, look: Mapping[str, Look], out: Page) -> None:
    judged = misses.judged(replay)
    labels = misses.timers(row for rows in judged for row in rows)
    if not labels:
        return
    out.section("Misses and timeouts", misses.ABOUT, place="misses", link="misses and timeouts")
    for n, label in enumerate(labels):
        out.paragraph(misses.sentence(next(r for r in judged[0] if r.estimator == label)))
        if spec := misses.chart(judged, label):
            out.picture(misses.file(n), spec)
    out.table(misses.table(judged, labels, TABLES_MOST), look)


def _others(replay: Replay, parts: Sequence[FlowPictures], look: Mapping[str, Look], out: Page) -> None:
    """Add tables of the flows without pictures, and the number of flows too short to be judged."""
    pictured = {(p.source, p.name) for p in parts}
    others = {key: rows for key, rows in flows(replay.rows).items() if key not in pictured}
    judged = {key: rows for key, rows in others.items() if any(r.judged for r in rows)}
    short = len(others) - len(judged) + replay.unlisted.flows
    out.section("Other flows", place="tables", link="other flows")
    for (source, name), rows in list(judged.items())[:TABLES_MOST]:
        _tables(rows, look, out, f"{name}  ({source}, {counted(rows[0].samples, 'sample')})")
    if len(judged) > TABLES_MOST:
        out.paragraph(f"{len(judged) - TABLES_MOST:,} more flows: `--format csv` lists them.")
    if short:
        out.paragraph(f"{counted(short, 'flow')} too short to judge: `--format csv` lists them.")
    if not judged and not short:
        out.paragraph("None.")
