# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014's simulations from the runs that exist: on the clock of its time, and with samples rounded up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from tcplearn.simulate import scenario
from tcplearn.simulate.results import RunStore

CLOCK, ROUNDED = "clock", "simulated-rounded"
_Say = Callable[[str], None]


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
    titles = _titles(files)
    drawn = list(clock_figures.draw(found, titles))
    simulated.write_figures(request.out, ((figure.file, svg) for figure, svg in drawn))
    names = [figure for figure, _ in drawn]
    notes = request.notes(simulated.PAGE)
    text = clock_page.page(found, planned, names, request.folder, titles, request.command, profile, notes)
    return simulated.write_page(
        request, text, runs=len(found), planned=planned, figures=len(drawn), profile=profile
    )


def write_rounded(request: Request, progress: Progress | None, say: _Say) -> str | None:
    files = simulated_runs.files(request.folder)
    profile = request.profile or simulated.PROFILE
    if request.profile == CLOCK or not all(file.exists() for file in files):
        return None
    found, planned = simulated_runs.points(files, profile, RunStore(request.kept))
    if not found:
        raise simulated.no_runs(profile, [request.folder / "scenario-*.toml"])
    titles = _titles(files)
    drawn = list(figures.draw(found, titles))
    simulated.write_figures(request.out, ((f.file, svg) for f, svg in drawn), rounded_page.FIGURES)
    names = [figure for figure, _ in drawn]
    notes = request.notes(ROUNDED)
    text = rounded_page.page(found, planned, names, request.folder, titles, request.command, profile, notes)
    return simulated.write_page(
        request, text, runs=len(found), planned=planned, figures=len(drawn), page=ROUNDED
    )


def _titles(files: Sequence[Path]) -> dict[str, str]:
    documents = [scenario.load(file) for file in files]
    return {d.name: d.title for d in documents}
