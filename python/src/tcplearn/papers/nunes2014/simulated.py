# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014's simulations: the page and its figures, from the runs that exist."""

from __future__ import annotations

from collections.abc import Callable

from tcplearn.errors import UserError, printable
from tcplearn.jobs import Progress
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.papers import Request
from tcplearn.papers.nunes2014 import figures, simulated_page, simulated_runs
from tcplearn.simulate import scenario
from tcplearn.simulate.results import RunStore

PAGE, PROFILE = "simulated", "quick"


def write(request: Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
    folder, out, profile = request.folder, request.out, request.profile or PROFILE
    files = simulated_runs.files(folder)
    if not all(file.exists() for file in files):
        return None
    found, planned = simulated_runs.points(folder, profile, RunStore(request.kept))
    if not found:
        names = printable(folder / "scenario-*.toml")
        raise UserError(f"no runs of profile {profile}; first: tcplearn simulate {names} --profile {profile}")
    documents = [scenario.load(file) for file in files]
    titles = {d.name: d.title for d in documents}
    make_directory(out / "figures")
    drawn = []
    for figure, svg in figures.draw(found, titles):
        write_atomically(out / "figures" / figure.file, svg)
        drawn.append(figure)
    notes = request.notes(PAGE)
    page = simulated_page.page(found, planned, drawn, folder, titles, request.command, profile, notes)
    write_atomically(out / f"{PAGE}.md", page)
    about = f"{len(found)} of {planned} runs of profile {profile}, {len(drawn)} figures"
    return f"{about}: {printable(out / f'{PAGE}.md')}"
