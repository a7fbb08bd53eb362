# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""tambuwal2018's simulations: the page and its figures, from the runs that exist."""

from __future__ import annotations

from collections.abc import Callable

from tcplearn.errors import UserError, printable
from tcplearn.jobs import Progress
from tcplearn.output import files as written
from tcplearn.papers import Request
from tcplearn.papers.tambuwal2018 import figures, page
from tcplearn.papers.tambuwal2018.cells import LEVELS, MIXES, cells
from tcplearn.simulate.results import RunStore

PAGE, PROFILE = "simulated", "quick"


def write(request: Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
    folder, out, profile = request.folder, request.out, request.profile or PROFILE
    files = [folder / name for name in (LEVELS, MIXES)]
    if not all(file.exists() for file in files):
        return None
    kept = RunStore(request.kept)
    (levels, done, planned), (mixes, more, more_planned) = (cells(file, profile, kept) for file in files)
    if not levels:
        names = printable(folder / "*.toml")
        raise UserError(f"no runs of profile {profile}; first: tcplearn simulate {names} --profile {profile}")
    written.make_directory(out / "figures")
    drawn = []
    for name, title, svg in figures.draw(levels, mixes, folder):
        written.write_atomically(out / "figures" / name, svg)
        drawn.append((name, title))
    counts = (done + more, planned + more_planned)
    text = page.page(levels, mixes, counts, drawn, folder, request.command, profile, request.notes(PAGE))
    written.write_atomically(out / f"{PAGE}.md", text)
    about = f"{counts[0]} of {counts[1]} runs of profile {profile}, {len(drawn)} figures"
    return f"{about}: {printable(out / f'{PAGE}.md')}"
