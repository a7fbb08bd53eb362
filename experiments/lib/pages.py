# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes pages: fills Jinja2 templates with tables and figures that are computed from stored runs."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from experiments.lib.batches import Batch
from experiments.lib.runs import Run, Version, versions
from tcplearn.errors import UserError
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.output.markdown import table_of
from tcplearn.output.template import filled

ROOT = Path(__file__).resolve().parents[2]


def scenarios(folder: Path, *place: str) -> Path:
    """Returns the folder with the scenario files: if `folder` is an experiment's own folder, the folder of
    the checkout with the path `place`, and otherwise `folder` itself, which the user chose."""
    return ROOT.joinpath(*place) if folder.parent == ROOT / "experiments" else folder


@dataclass(frozen=True)
class Figure:
    """A figure of a page: `spec` is its Vega-Lite specification, `file` its path relative to the page."""

    file: str
    title: str
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Page:
    """A page that is generated from stored runs. The function `batches` returns the batches of runs that the
    page needs, given the folder of scenario files and a profile ("": the profile of the published page). The
    function `fill` returns the variables of the page's template, given the runs and the folder. The variable
    `figures`, if there is one, is a list of `Figure`."""

    template: str  # below experiments/
    target: Path  # below the root of the checkout
    batches: Callable[[Path, str], Sequence[Batch]]
    fill: Callable[[Sequence[Run], Path], Mapping[str, Any]]

    def write(self, runs: Sequence[Run], folder: Path, target: Path) -> int:
        """Writes the page to `target` and its figures below the folder of `target`, from the stored `runs`
        and the scenario files in `folder`. Returns the number of figures. Raises UserError if `runs` lacks
        runs without which the page cannot be made; then nothing is written."""
        template, made = ROOT / "experiments" / self.template, versions_table(versions(runs))
        try:
            found = self.fill(runs, folder)
            if not found:
                raise UserError(f"{target.name}: the file of runs has none for this page")
            text = filled(template, **{**found, "versions": made})
        except (jinja2.UndefinedError, KeyError) as error:
            why = f"the page needs what the file of runs lacks ({error}); --run does missing runs"
            again = "--run --fresh repeats runs that were stored without it"
            raise UserError(f"{target.name}: {why}, {again}") from error
        figures: Sequence[Figure] = found.get("figures", ())
        for figure in figures:
            make_directory((target.parent / figure.file).parent)
            write_atomically(target.parent / figure.file, svg(figure.spec))
        make_directory(target.parent)
        write_atomically(target, text)
        return len(figures)


def csv_rows(file: Path) -> list[dict[str, str]]:
    """Returns the rows of a CSV file as texts by column. Lines that begin with "#" are comments."""
    with file.open(newline="") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def svg(spec: Mapping[str, Any]) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(dict(spec), allowed_base_urls=[]))


def versions_table(found: Sequence[Version]) -> str:
    """Returns a Markdown table of the versions of the code `found`, which made a page's runs."""
    rows = [
        [
            f"`{v.code[:12]}`" if v.code else "not recorded",
            f"{v.host} {v.host_version}".strip(),
            v.version or "not recorded",
            str(v.runs),
            ", ".join(f"`{commit}`" for commit in v.commits),
        ]
        for v in found
    ]
    return table_of(("code of the host", "host", "tcplearn", "runs", "commits"), rows)
