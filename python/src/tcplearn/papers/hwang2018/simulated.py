# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018's simulations: the page and its figures, from the runs that exist."""

from __future__ import annotations

from collections.abc import Callable

from tcplearn.jobs import Progress
from tcplearn.papers import Request, simulated
from tcplearn.papers.hwang2018 import calibration, figures, kept_cubic, runs, simulated_page, training
from tcplearn.simulate import scenario
from tcplearn.simulate.results import RunStore


def write(request: Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
    folder, profile = request.folder, request.profile or simulated.PROFILE
    files = [folder / f"{name}.toml" for name in runs.FILES]
    if not all(file.exists() for file in files):
        return None
    kept = RunStore(request.kept)
    found, planned = runs.points(folder, profile, kept)
    if not found:
        raise simulated.no_runs(profile, files)
    confidence = scenario.load(files[0]).confidence
    drawn = list(figures.draw(found, folder, confidence))
    simulated.write_figures(request.out, ((name, svg) for name, _, svg in drawn))
    titles = [(name, title) for name, title, _ in drawn]
    events = training.events_of(folder, profile, kept)
    trained = [] if events is None else training.accuracies(events)
    by_rate = [] if events is None else training.by_loss_rate(events)
    notes = request.notes(simulated.PAGE)
    among = calibration.candidates(folder, profile, kept, confidence)
    past = calibration.candidates(folder, profile, kept, confidence, calibration.PAST)
    cubic = list(kept_cubic.section(folder, profile, kept, confidence))
    about = simulated_page.About(
        request.command, profile, planned, confidence, notes, titles, trained, by_rate, among, past, cubic
    )
    text = simulated_page.page(found, folder, about)
    return simulated.write_page(request, text, runs=len(found), planned=planned, figures=len(drawn))
