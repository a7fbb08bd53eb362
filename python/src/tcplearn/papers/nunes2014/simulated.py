# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014's simulations from the runs that exist: on the clock of its time, and with samples rounded up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tcplearn.jobs import Progress
from tcplearn.papers import Request, simulated
from tcplearn.papers.nunes2014 import (
    clock_figures,
    clock_page,
    clock_runs,
    figures,
    rounded_page,
    simulated_runs,
)
from tcplearn.papers.nunes2014.figures import Figure
from tcplearn.papers.nunes2014.simulated_material import Material
from tcplearn.papers.nunes2014.simulated_runs import Point
from tcplearn.simulate import scenario
from tcplearn.simulate.results import RunStore

CLOCK, ROUNDED = "clock", "simulated-rounded"
_Say = Callable[[str], None]
_Draw = Callable[[Sequence[Point], Mapping[str, str]], Iterator[tuple[Figure, str]]]


def write(request: Request, progress: Progress | None, say: _Say) -> str | None:
    files = simulated_runs.files(request.folder)[:5]
    profile = request.profile or CLOCK
    if not all(file.exists() for file in files):
        return None
    found, planned = simulated_runs.points(files, profile, RunStore(request.kept))
    if not any(p.where[2] in clock_runs.GIVEN for p in found):
        if request.profile:
            return None  # of the other page
        raise simulated.no_runs(profile, [request.folder / "scenario-[1-5].toml"])
    of = _material(request, files, (found, planned), profile, clock_figures.draw, simulated.PAGE)
    return _written(request, of, clock_page.page(of), simulated.PAGE)


def write_rounded(request: Request, progress: Progress | None, say: _Say) -> str | None:
    files = simulated_runs.files(request.folder)
    profile = request.profile or simulated.PROFILE
    if request.profile == CLOCK or not all(file.exists() for file in files):
        return None
    found, planned = simulated_runs.points(files, profile, RunStore(request.kept))
    if not found:
        raise simulated.no_runs(profile, [request.folder / "scenario-*.toml"])
    of = _material(request, files, (found, planned), profile, figures.draw, ROUNDED, rounded_page.FIGURES)
    return _written(request, of, rounded_page.page(of), ROUNDED)


def _material(
    request: Request,
    files: Sequence[Path],
    runs: tuple[list[Point], int],
    profile: str,
    draw: _Draw,
    page: str,
    pictures: str = "figures",
) -> Material:
    """Draws the figures on the way."""
    documents = [scenario.load(file) for file in files]
    titles = {d.name: d.title for d in documents}
    drawn = list(draw(runs[0], titles))
    simulated.write_figures(request.out, ((figure.file, svg) for figure, svg in drawn), pictures)
    names = [figure for figure, _ in drawn]
    return Material(*runs, names, request.folder, titles, request.command, profile, request.notes(page))


def _written(request: Request, of: Material, text: str, page: str) -> str:
    return simulated.write_page(
        request,
        text,
        runs=len(of.found),
        planned=of.planned,
        figures=len(of.drawn),
        page=page,
        profile=of.profile,
    )
