# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014's simulations: the page and its figures, from the runs that exist."""

from __future__ import annotations

from collections.abc import Callable

from tcplearn.jobs import Progress
from tcplearn.papers import Request, simulated
from tcplearn.papers.nunes2014 import figures, simulated_page, simulated_runs
from tcplearn.simulate import scenario
from tcplearn.simulate.results import RunStore


def write(request: Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
    folder, profile = request.folder, request.profile or simulated.PROFILE
    files = simulated_runs.files(folder)
    if not all(file.exists() for file in files):
        return None
    found, planned = simulated_runs.points(folder, profile, RunStore(request.kept))
    if not found:
        raise simulated.no_runs(profile, [folder / "scenario-*.toml"])
    documents = [scenario.load(file) for file in files]
    titles = {d.name: d.title for d in documents}
    drawn = list(figures.draw(found, titles))
    simulated.write_figures(request.out, ((figure.file, svg) for figure, svg in drawn))
    names = [figure for figure, _ in drawn]
    notes = request.notes(simulated.PAGE)
    text = simulated_page.page(found, planned, names, folder, titles, request.command, profile, notes)
    return simulated.write_page(request, text, runs=len(found), planned=planned, figures=len(drawn))
