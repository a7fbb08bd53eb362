# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Build the report of `tcplearn explain`: why requests were slow, which setting would help, and pictures."""

from collections.abc import Sequence

from tcplearn.explain import Explained, sentences, tables
from tcplearn.explain.sequence import Sequence as PacketSequence
from tcplearn.report import explain_charts, glossary
from tcplearn.report.page import Page, Picture


def page(found: Explained, worst: Sequence[PacketSequence] = ()) -> Page:
    """Return the report on `found`. `worst` are the packets of the slowest requests; it is empty if the
    captures cannot be read again."""
    out = Page(f"tcplearn explain: {found.named}", found.made_by.get("version", ""))
    advised = [_as_code(line) for lines in sentences.advice(found) for line in lines]
    out.head(
        "Why requests were slow",
        "Seen in captures of the packets. The rules of causes and forecasts are on the page "
        "explain of tcplearn's documentation.",
        [*sentences.of(found), *advised],
    )
    if spec := explain_charts.answer(found):
        out.put(Picture("answer", spec, narrow=explain_charts.answer(found, narrow=True)))
    out.links()
    out.warnings("Warnings", found.warnings)
    out.facts({"files": found.named, **found.made_by})
    out.section("Where the time went", place="causes")
    if found.total.parts:
        out.table(tables.causes(found.total), {})
    if spec := explain_charts.stalls(found):
        out.picture("stalls", spec, "Every stall when it began, by cause.")
    if found.forecast and found.advice:
        out.section("What a setting would change", place="settings")
        out.table(tables.forecasts(found.forecast), {})
    if found.handshakes:
        out.section("What a learned first RTO would change", place="handshakes")
        out.table(tables.forecasts(found.handshakes), {})
    out.end_of_print()
    if len(found.destinations) > 1:
        out.section("Servers", place="servers")
        out.table(tables.destinations(found, everything=True), {})
    if found.captures and found.total.requests:
        out.section("Captures", place="captures")
        out.table(tables.files(found, everything=True), {})
    if worst:
        about = (
            "Each packet of the slowest requests over time, at the capture point. A line goes from the first "
            "to the last byte of a packet's data; the dot of an ACK is at the bytes that it acknowledges."
        )
        out.section("The slowest requests, packet by packet", about, place="packets")
        out.legend(explain_charts.PACKETS)
        drawn = map(explain_charts.sequence, worst)
        panels = [Picture(f"packets-{n}", spec, shares_legend=True) for n, spec in enumerate(drawn, 1)]
        for first in range(0, len(panels), 2):
            out.pair(panels[first : first + 2])
    out.glossary(glossary.of_explain(found), [])
    return out


def _as_code(line: str) -> str:
    """Return the advice `line` with backticks around a sudo command, which the page shows as code."""
    words, sudo, command = line.strip().partition("sudo ")
    return f"{words}`{sudo}{command}`" if sudo and (not words or words == "To undo: ") else line.strip()
