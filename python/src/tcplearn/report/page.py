# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The report as one HTML file. Whatever a trace names is escaped before it gets here or here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from importlib import resources
from typing import Any

import vl_convert

from tcplearn.output.files import plain
from tcplearn.replay.results import Replay, Row
from tcplearn.replay.tables import NOTES_SHOWN, best, by_error, cells, counted, flows, measured
from tcplearn.report import misses, summary
from tcplearn.report.glossary import TERMS
from tcplearn.report.markup import listed, text, view_table
from tcplearn.report.palette import Look, looks
from tcplearn.report.pictures import FlowPictures, gather

#: Must be one that vl-convert carries, and Altair's.
VEGALITE = "6.4"

#: Tables of more flows than this are left to --format csv.
TABLES_MOST = 40

#: No loads from anywhere: the browser itself holds the page to it. Vega compiles expressions.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'unsafe-inline' 'unsafe-eval'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
    )
)


#: vl-convert's own default; its type says str.
_NO_SNIPPET: Any = None


def _asset(name: str) -> str:
    return resources.files("tcplearn.report").joinpath(name).read_text(encoding="utf-8")


def _script_json(value: Any) -> str:
    """JSON that cannot end the script element that it stands in."""
    out = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return out.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def page(replay: Replay) -> str:
    parts = gather(replay)
    look = looks(row.estimator for row in [*replay.rows, *replay.totals])
    pictures: list[dict[str, Any]] = []
    sections = [_flow_section(n, part, pictures) for n, part in enumerate(parts)]
    chosen_rates = _misses(replay, look, pictures)
    body = [_head(replay), _nav(parts, misses=bool(chosen_rates)), *sections, chosen_rates]
    body.append(_other_tables(replay, parts, look))
    body.append(glossary())
    data = {"pictures": pictures, "flows": [{"series": p.series, "cdf": p.cdf} for p in parts]}
    files = ", ".join(dict.fromkeys(row.source for row in replay.rows))
    return shell(f"tcplearn replay: {files}", replay.made_by.get("version", ""), body, data)


def shell(title: str, version: str, body: Iterable[str], data: Mapping[str, Any]) -> str:
    """A whole page: what draws the pictures in `data` goes with it."""
    bundle = vl_convert.javascript_bundle(_NO_SNIPPET, vl_version=VEGALITE).replace("</script", "<\\/script")
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="generator" content="tcplearn {text(version)}">',
            f"<title>{text(title)}</title>",
            f"<style>\n{_asset('page.css')}</style></head>",
            "<body>",
            *body,
            f'<script type="application/json" id="page-data">{_script_json(data)}</script>',
            f"<script>{bundle}</script>",
            f"<script>\n{_asset('page.js')}</script>",
            "</body></html>\n",
        )
    )


def _head(replay: Replay) -> str:
    files = list(dict.fromkeys(row.source for row in replay.rows))
    by_flow = flows(replay.rows)
    samples = sum(rows[0].samples for rows in by_flow.values())
    judged = sum(any(r.judged for r in rows) for rows in by_flow.values())
    left = len(by_flow) - judged
    facts = [
        ("replayed", f"{', '.join(map(text, files)) or 'nothing'}"),
        (
            "measured",
            f"{counted(samples, 'RTT sample')} in {counted(len(by_flow), 'flow')}"
            + (f", {left:,} of them too short to judge" if left else ""),
        ),
        *((text(key), f"<code>{text(value)}</code>") for key, value in replay.made_by.items() if value != ""),
    ]
    out = [
        "<h1>RTT prediction and retransmission timers, replayed</h1>",
        '<p class="soft">Every estimator below saw the same samples in the same order, and predicted each '
        "before it was shown.</p>",
        '<div class="summary">' + "".join(f"<p>{text(s)}</p>" for s in summary.sentences(replay)) + "</div>",
    ]
    if replay.warnings:
        out.append('<div class="warnings"><b>Warnings</b>' + listed(replay.warnings) + "</div>")
    out.append('<dl class="facts">' + "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in facts) + "</dl>")
    if replay.notes:
        items = listed(replay.notes)
        if len(replay.notes) > NOTES_SHOWN:
            heading = f"{counted(len(replay.notes), 'note')} on sides and flows"
            items = f"<details><summary>{heading}</summary>{items}</details>"
        out.append(items)
    return "\n".join(out)


def _misses(replay: Replay, look: Mapping[str, Look], pictures: list[dict[str, Any]]) -> str:
    """Nothing where no timer with a chosen miss rate was compared."""
    judged = misses.judged(replay)
    labels = misses.timers(row for rows in judged for row in rows)
    if not labels:
        return ""
    out = ['<section id="misses"><h2>Misses and timeouts</h2>', f'<p class="soft">{text(misses.ABOUT)}</p>']
    for n, label in enumerate(labels):
        out.append(f"<p>{text(misses.sentence(next(r for r in judged[0] if r.estimator == label)))}</p>")
        spec = misses.chart(judged, label)
        if spec:
            spec.pop("$schema", None)
            place = f"picture-misses{n}"
            pictures.append({"id": place, "kind": "whole", "flow": 0, "file": misses.file(n), "spec": spec})
            out.append(f'<div class="picture waiting" id="{place}"></div>')
    view = misses.view(judged, labels, TABLES_MOST)
    out.append(view_table(view, look))
    if view.legend:
        out.append(f'<p class="soft">{text(view.legend)}</p>')
    return "\n".join([*out, "</section>"])


def _nav(parts: Sequence[FlowPictures], *, misses: bool) -> str:
    links = [f'<a href="#part{n}">{text(p.name)}</a>' for n, p in enumerate(parts)]
    more = [("misses", "misses and timeouts")] if misses else []
    more += [("tables", "other flows"), ("glossary", "glossary")]
    links += [f'<a href="#{place}">{name}</a>' for place, name in more]
    return f"<nav>{''.join(links)}</nav>"


_CAPTIONS = {
    "time": "Click names to show or hide estimators; those with the same predictions hide each other.",
    "errors": "Read at 95 %: nineteen of twenty predictions were off by no more than this.",
    "timer": "Points in the grey band never missed in this capture.",
}


def _flow_section(n: int, part: FlowPictures, pictures: list[dict[str, Any]]) -> str:
    samples = part.rows[0].samples if part.rows else 0
    out = [f'<section id="part{n}"><h2>{text(part.name[:1].upper() + part.name[1:])}</h2>']
    where = f"{text(part.source)}, " if part.source else ""
    thin = (
        f"; each point of the time pictures stands for {counted(part.per_point, 'sample')}"
        if part.series
        else ""
    )
    out.append(
        f'<p class="soft">{where}{counted(samples, "sample")}{thin if part.per_point > 1 else ""}.</p>'
    )
    places = {}
    for kind, spec in part.specs(still=False):
        spec.pop("$schema", None)
        place = f"picture{n}-{kind}"
        pictures.append({"id": place, "kind": kind, "flow": n, "file": f"{part.file}-{kind}", "spec": spec})
        places[kind] = (
            f'<div><div class="picture waiting" id="{place}"></div>'
            f'<p class="soft">{_CAPTIONS[kind]}</p></div>'
        )
    out.append(places.get("time", ""))
    out.append(f'<div class="pair">{places.get("errors", "")}{places.get("timer", "")}</div>')
    out.append(table(part.rows, part.looks))
    out.append("</section>")
    return "\n".join(out)


def table(rows: Sequence[Row], look: Mapping[str, Look], caption: str = "") -> str:
    """All columns, sortable, the best of each in bold."""
    if not rows:
        return ""
    ordered = by_error(rows)
    heads = ["estimator"]
    shown_columns = measured(rows)
    for column, before in zip(shown_columns, (None, *shown_columns), strict=False):
        heads.append(
            f"× {before.name}" if column.ratio and before else column.head.replace("\n", " ").strip()
        )
    columns = [(c, cells(replace(c, interval=c.ratio), ordered), best(c, ordered)) for c in shown_columns]
    out = [
        '<div class="scroll"><table>',
        f"<caption>{text(caption)}</caption>" if caption else "",
        "<thead><tr>",
    ]
    for i, head in enumerate(heads):
        sort = ' aria-sort="ascending"' if i == 1 else ""
        out.append(f'<th scope="col"{sort}><button type="button">{text(head)}</button></th>')
    out.append("</tr></thead><tbody>")
    for i, row in enumerate(ordered):
        mark = look.get(row.estimator)
        line = ""
        if mark:
            style = "solid" if mark.dash == [1, 0] else "dotted" if mark.dash == [2, 2] else "dashed"
            line = f'<i style="border-top-color:{mark.colour};border-top-style:{style}"></i>'
        name = text(row.estimator)
        out.append(f'<tr><td data-value="{name}">{line}{name}</td>')
        for column, shown, bold in columns:
            value = plain(getattr(row, column.field))
            kind = "ratio" if column.ratio else "best" if i in bold else ""
            exact = "" if value is None else f"{value:.9g}"
            seen = escape(shown[i].removeprefix("×").rstrip())
            out.append(f'<td{f" class={kind}" if kind else ""} data-value="{exact}">{seen}</td>')
        out.append("</tr>")
    out.append("</tbody></table></div>")
    return "".join(out)


def _other_tables(replay: Replay, parts: Sequence[FlowPictures], look: Mapping[str, Look]) -> str:
    """Judged flows without pictures, and how many were not judged."""
    pictured = {(p.source, p.name) for p in parts}
    others = {key: rows for key, rows in flows(replay.rows).items() if key not in pictured}
    judged = {key: rows for key, rows in others.items() if any(r.judged for r in rows)}
    short = len(others) - len(judged)
    out = ['<section id="tables"><h2>Other flows</h2>']
    for (source, name), rows in list(judged.items())[:TABLES_MOST]:
        out.append(table(rows, look, f"{name}  ({source}, {counted(rows[0].samples, 'sample')})"))
    if len(judged) > TABLES_MOST:
        out.append(f"<p>{len(judged) - TABLES_MOST:,} more flows: <code>--format csv</code> lists them.</p>")
    if short:
        out.append(
            f"<p>{counted(short, 'flow')} too short to judge: <code>--format csv</code> lists them.</p>"
        )
    if not others:
        out.append("<p>None.</p>")
    return "\n".join([*out, "</section>"])


def glossary(entries: Iterable[tuple[str, str]] = TERMS) -> str:
    terms = "".join(f"<dt>{escape(term)}</dt><dd>{escape(meaning)}</dd>" for term, meaning in entries)
    return f'<section id="glossary"><h2>Glossary</h2><dl class="glossary">{terms}</dl></section>'
