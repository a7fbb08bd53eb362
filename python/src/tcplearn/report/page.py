# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Build a report as one HTML file that works offline. Text from a trace is always escaped."""

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import vl_convert

from tcplearn.errors import FailedError, UserError
from tcplearn.output.files import cache_folder, make_directory, write_atomically
from tcplearn.output.numbers import counted
from tcplearn.output.table import Table
from tcplearn.replay.tables import NOTES_SHOWN
from tcplearn.report.markup import defined, folded, listed, prose, swatches, tabulated, text
from tcplearn.report.palette import Look

#: The version of Vega-Lite. vl-convert must contain it, and Altair must use the same version.
VEGALITE = "6.4"

#: Pixels of a PNG for each unit of a picture, enough for paper and high-resolution screens.
PNG_SCALE = 2

#: With this policy the browser lets the page load and compile nothing. Vega interprets its expressions.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"

#: vl-convert's own default is None, although the parameter's type is str.
_NO_SNIPPET: Any = None

Spec = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a report, drawn from the Vega-Lite specification `spec`. If `kind` is "whole", `spec`
    contains its data. For a picture of values over time (`kind` is "time") or of the distribution of
    prediction errors ("errors"), a script in the browser adds the data of flow number `flow` to `spec`."""

    file: str
    spec: Spec
    caption: str = ""
    kind: str = "whole"
    flow: int = 0
    narrow: Spec | None = None  # the specification for narrow screens
    shares_legend: bool = False  # the page shows its legend elsewhere; a picture file has its own


@dataclass
class Page:
    """A page under construction. In the browser, code in the page draws its pictures."""

    title: str
    version: str
    flows: list[dict[str, Any]] = field(default_factory=list)  # data that several pictures of a flow share
    body: list[str] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    _links: list[tuple[str, str]] = field(default_factory=list)
    _printed: int | None = None  # number of parts of `body` that are printed, on one sheet
    _links_at: int | None = None

    def head(self, heading: str, about: str, sentences: Iterable[str]) -> None:
        self.body.append(f"<h1>{text(heading)}</h1>")
        self.paragraph(about, soft=True)
        self.body.append(f'<div class="summary">{"".join(f"<p>{prose(s)}</p>" for s in sentences)}</div>')

    def facts(self, facts: Mapping[str, str], spoken: Mapping[str, str] | None = None) -> None:
        """Add `spoken` (text by name), and `facts`, which are hidden until the reader unfolds them."""
        if spoken:
            self.body.append(defined(((text(k), text(v)) for k, v in spoken.items()), "facts"))
        pairs = [(text(k), f"<code>{text(v)}</code>") for k, v in facts.items() if v]
        if pairs:
            self.body.append(folded("How this page was made", defined(pairs, "facts")))

    def warnings(self, heading: str, lines: Sequence[str]) -> None:
        if lines:
            self.body.append(f'<div class="warnings"><b>{text(heading)}</b>{listed(lines)}</div>')

    def notes(self, lines: Sequence[str], about: str) -> None:
        """Add the notes `lines` about the subject `about`, hidden until unfolded if they are many."""
        items = listed(lines)
        if len(lines) > NOTES_SHOWN:
            items = folded(f"{counted(len(lines), 'note')} {about}", items)
        if lines:
            self.body.append(items)

    def links(self) -> None:
        """Mark the place in the page at which the links to all sections are inserted."""
        self._links_at = len(self.body)

    def end_of_print(self) -> None:
        """End the printed part of the page, which fits on one sheet. The parts that follow are not
        printed."""
        self._printed = len(self.body)

    def section(self, heading: str, about: str = "", *, place: str = "", link: str = "") -> None:
        if place:
            self._links.append((place, link or place))
        self.body.append(f'<h2 id="{place}">{text(heading)}</h2>' if place else f"<h2>{text(heading)}</h2>")
        if about:
            self.paragraph(about, soft=True)

    def paragraph(self, words: str, *, soft: bool = False) -> None:
        self.body.append(f'<p class="soft">{prose(words)}</p>' if soft else f"<p>{prose(words)}</p>")

    def legend(self, colours: Mapping[str, str]) -> None:
        """Add to the page a legend of `colours`, which several pictures share."""
        self.body.append(f'<p class="soft">{swatches(colours)}</p>')

    def picture(self, file: str, spec: Spec, caption: str = "") -> None:
        self.put(Picture(file, spec, caption))

    def put(self, picture: Picture) -> None:
        self.body.append(f'<div class="picture waiting" id="picture-{len(self.pictures)}"></div>')
        if picture.caption:
            self.paragraph(picture.caption, soft=True)
        self.pictures.append(picture)

    def pair(self, pictures: Iterable[Picture]) -> None:
        self.body.append('<div class="pair">')
        for p in pictures:
            self.body.append("<div>")
            self.put(p)
            self.body.append("</div>")
        self.body.append("</div>")

    def folded(self, table: Table, looks: Mapping[str, Look], label: str) -> None:
        self.body.append(folded(label, tabulated(table, looks)))

    def table(self, table: Table, looks: Mapping[str, Look], caption: str = "") -> None:
        if table.title:
            self.body.append(f"<h3>{text(table.title)}</h3>")
        self.body.append(tabulated(table, looks, caption))
        if table.legend:
            self.paragraph(table.legend, soft=True)

    def glossary(self, terms: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]]) -> None:
        """Add the `terms` that the page uses, and `others`, which are hidden until unfolded."""
        self.section("Glossary", place="glossary")
        shown, more = (defined(((prose(t), prose(m)) for t, m in of), "glossary") for of in (terms, others))
        self.body.append(shown)
        if others:
            self.body.append(folded(f"{counted(len(others), 'estimator')} more, not on this page", more))

    def html(self) -> str:
        """Return the complete page as HTML, including the code that draws its pictures."""
        pictures = []
        for i, p in enumerate(self.pictures):
            known = {"id": f"picture-{i}", "kind": p.kind, "flow": p.flow, "file": p.file}
            specs = {"spec": _without_legend(p.spec) if p.shares_legend else p.spec, "narrow": p.narrow}
            pictures.append({**known, **{k: _drawn(spec) for k, spec in specs.items() if spec is not None}})
        body = list(self.body)
        if self._printed is not None:
            body[self._printed :] = ['<div class="beyond">', *body[self._printed :], "</div>"]
        if self._links_at is not None:
            links = "".join(f'<a href="#{place}">{text(name)}</a>' for place, name in self._links)
            body.insert(self._links_at, f"<nav>{links}</nav>")
        bundle = _bundle().replace("</script", "<\\/script")
        return "\n".join(
            (
                "<!doctype html>",
                '<html lang="en">',
                '<head><meta charset="utf-8">',
                f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                f'<meta name="generator" content="tcplearn {text(self.version)}">',
                f"<title>{text(self.title)}</title>",
                f"<style>\n{_asset('page.css')}</style></head>",
                "<body>" if self._printed is None else '<body class="sheet">',
                *body,
                '<script type="application/json" id="page-data">'
                f"{_script_json({'pictures': pictures, 'flows': self.flows})}</script>",
                f"<script>{bundle}</script>",
                f"<script>\n{_asset('page.js')}</script>",
                "</body></html>\n",
            )
        )

    def write(self, report: Path | None, pictures: Path | None) -> None:
        """Write the page to the file `report` and its pictures to the folder `pictures`, unless None. Raise
        UserError."""
        if report:
            write_atomically(report, self.html())
        if pictures:
            write_stills(((p.file, p.spec) for p in self.pictures), pictures)


def write_stills(pictures: Iterable[tuple[str, Spec]], folder: Path) -> list[Path]:
    """Write each picture (file name without suffix, complete specification) to `folder` as PNG and SVG,
    and return the paths. Raise UserError."""
    make_directory(folder)
    written = []
    for stem, spec in pictures:
        png = vl_convert.vegalite_to_png(spec, vl_version=VEGALITE, scale=PNG_SCALE, allowed_base_urls=[])
        svg = vl_convert.vegalite_to_svg(spec, vl_version=VEGALITE, allowed_base_urls=[])
        for suffix, content in ((".png", png), (".svg", svg)):
            written.append(folder / f"{stem}{suffix}")
            write_atomically(written[-1], content)
    return written


def _without_legend(spec: Spec) -> Spec:
    """Return the Vega-Lite specification `spec` without its legend. No encoding in `spec` may specify one."""
    return {**spec, "config": {**spec["config"], "legend": {"disable": True}}}


def _drawn(spec: Spec) -> Spec:
    return {key: value for key, value in spec.items() if key != "$schema"}


def _bundle() -> str:
    """Return the JavaScript that draws pictures. It is cached, because building it takes long."""
    kept = cache_folder() / f"vega-{metadata.version('vl-convert-python')}-{VEGALITE}.js"
    with contextlib.suppress(OSError):
        return kept.read_text(encoding="utf-8")
    made: str = vl_convert.javascript_bundle(_NO_SNIPPET, vl_version=VEGALITE)
    with contextlib.suppress(OSError, UserError, FailedError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, made)
    return made


def _asset(name: str) -> str:
    return resources.files("tcplearn.report").joinpath(name).read_text(encoding="utf-8")


def _script_json(value: Any) -> str:
    """Return `value` as JSON that cannot end the HTML script element in which it stands."""
    out = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return out.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
