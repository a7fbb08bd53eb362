# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018's simulations: the page and its figures, from the runs that exist."""

from __future__ import annotations

from collections.abc import Callable

from tcplearn import papers
from tcplearn.errors import UserError, printable
from tcplearn.jobs import Progress
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.papers.hwang2018 import figures, runs, simulated_page, training
from tcplearn.simulate import scenario
from tcplearn.simulate.results import RunStore

PAGE, PROFILE = "simulated", "quick"


def write(request: papers.Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
    folder, out, profile = request.folder, request.out, request.profile or PROFILE
    files = [folder / f"{name}.toml" for name in runs.FILES]
    if not all(file.exists() for file in files):
        return None
    kept = RunStore(request.kept)
    found, planned = runs.points(folder, profile, kept)
    if not found:
        names = " ".join(printable(file) for file in files)
        raise UserError(f"no runs of profile {profile}; first: tcplearn simulate {names} --profile {profile}")
    confidence = scenario.load(files[0]).confidence
    make_directory(out / "figures")
    drawn = []
    for name, title, svg in figures.draw(found, confidence):
        write_atomically(out / "figures" / name, svg)
        drawn.append((name, title))
    trained = training.accuracies(folder, profile, kept)
    about = simulated_page.About(
        request.command, profile, planned, confidence, request.notes(PAGE), drawn, trained
    )
    write_atomically(out / f"{PAGE}.md", simulated_page.page(found, folder, about))
    line = f"{len(found)} of {planned} runs of profile {profile}, {len(drawn)} figures"
    return f"{line}: {printable(out / f'{PAGE}.md')}"
