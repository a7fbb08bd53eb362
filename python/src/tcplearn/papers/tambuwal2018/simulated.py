# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""tambuwal2018's simulations: the page and its figures, from the runs that exist."""

from __future__ import annotations

from collections.abc import Callable

from tcplearn.jobs import Progress
from tcplearn.papers import Request, simulated
from tcplearn.papers.tambuwal2018 import figures, page, pairs
from tcplearn.papers.tambuwal2018.cells import LEVELS, MIXES, cells, costs
from tcplearn.simulate.results import RunStore


def write(request: Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
    folder, profile = request.folder, request.profile or simulated.PROFILE
    files = [folder / name for name in (LEVELS, MIXES)]
    if not all(file.exists() for file in files):
        return None
    kept = RunStore(request.kept)
    (levels, done, planned), (mixes, more, more_planned) = (cells(file, profile, kept) for file in files)
    if not levels:
        raise simulated.no_runs(profile, [folder / "*.toml"])
    drawn = list(figures.draw(levels, mixes, folder))
    simulated.write_figures(request.out, ((name, svg) for name, _, svg in drawn))
    counts = (done + more, planned + more_planned)
    titles = [(name, title) for name, title, _ in drawn]
    notes = request.notes(simulated.PAGE)
    spent = costs(folder / LEVELS, kept)
    congested, _, _ = cells(folder / LEVELS, pairs.PROFILE, kept)
    text = page.page(levels, mixes, counts, titles, folder, request.command, profile, notes, spent, congested)
    return simulated.write_page(request, text, runs=counts[0], planned=counts[1], figures=len(drawn))
