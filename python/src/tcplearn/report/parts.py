# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Pieces that the pages of suites and studies are put together from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcplearn.output.files import make_directory, write_atomically
from tcplearn.output.table import View
from tcplearn.report import PNG_SCALE
from tcplearn.report.markup import listed, text, view_table
from tcplearn.report.page import VEGALITE, shell
from tcplearn.report.palette import Look

Spec = dict[str, Any]


@dataclass
class Picture:
    file: str
    spec: Spec
    caption: str = ""


@dataclass
class Page:
    """A page as it grows; a picture is drawn by the page itself, from the data inside its specification."""

    title: str
    version: str
    body: list[str] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)

    def head(self, heading: str, about: str, sentences: Iterable[str]) -> None:
        self.body += [
            f"<h1>{text(heading)}</h1>",
            f'<p class="soft">{text(about)}</p>',
            '<div class="summary">' + "".join(f"<p>{text(s)}</p>" for s in sentences) + "</div>",
        ]

    def facts(self, facts: Mapping[str, str]) -> None:
        items = "".join(f"<dt>{text(k)}</dt><dd><code>{text(v)}</code></dd>" for k, v in facts.items() if v)
        self.body.append(f'<dl class="facts">{items}</dl>')

    def warnings(self, heading: str, lines: list[str]) -> None:
        if lines:
            self.body.append(f'<div class="warnings"><b>{text(heading)}</b>{listed(lines)}</div>')

    def section(self, heading: str, about: str = "") -> None:
        self.body.append(f"<h2>{text(heading)}</h2>")
        if about:
            self.body.append(f'<p class="soft">{text(about)}</p>')

    def picture(self, file: str, spec: Spec, caption: str = "") -> None:
        self.body.append(f'<div class="picture waiting" id="picture-{len(self.pictures)}"></div>')
        if caption:
            self.body.append(f'<p class="soft">{text(caption)}</p>')
        self.pictures.append(Picture(file, spec, caption))

    def table(self, view: View, looks: Mapping[str, Look]) -> None:
        self.body.append(f"<h3>{text(view.title)}</h3>" + view_table(view, looks))
        if view.legend:
            self.body.append(f'<p class="soft">{text(view.legend)}</p>')

    def html(self) -> str:
        pictures = [
            {"id": f"picture-{i}", "kind": "whole", "flow": 0, "file": p.file, "spec": _unversioned(p.spec)}
            for i, p in enumerate(self.pictures)
        ]
        return shell(self.title, self.version, self.body, {"pictures": pictures, "flows": []})

    def write(self, report: Path | None, pictures: Path | None) -> None:
        if report:
            write_atomically(report, self.html())
        if pictures:
            make_directory(pictures)
            for picture in self.pictures:
                _write_still(picture, pictures)


def _unversioned(spec: Spec) -> Spec:
    return {key: value for key, value in spec.items() if key != "$schema"}


def _write_still(picture: Picture, folder: Path) -> None:
    import vl_convert

    png = vl_convert.vegalite_to_png(picture.spec, vl_version=VEGALITE, scale=PNG_SCALE, allowed_base_urls=[])
    svg = vl_convert.vegalite_to_svg(picture.spec, vl_version=VEGALITE, allowed_base_urls=[])
    for suffix, content in ((".png", png), (".svg", svg)):
        write_atomically(folder / f"{picture.file}{suffix}", content)
