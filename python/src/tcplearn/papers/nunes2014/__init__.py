# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014: its figures from our runs, and its printed numbers beside ours."""

from __future__ import annotations

import shlex
from pathlib import Path

from tcplearn.errors import UserError, printable
from tcplearn.jobs.store import Store
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.papers.nunes2014 import figures, page, runs
from tcplearn.simulate import scenario

PAGE, NOTES = "simulated.md", "simulated-notes.md"


def write(folder: Path, profile: str, store: Store, out: Path) -> str:
    """Draws what there are runs for; answers one line about it."""
    found, planned = runs.points(folder, profile, store)
    if not found:
        files = printable(folder / "scenario-*.toml")
        raise UserError(f"no runs of profile {profile}; first: tcplearn simulate {files} --profile {profile}")
    documents = [scenario.load(folder / f"scenario-{i}.toml") for i in range(1, len(runs.SCENARIOS) + 1)]
    titles = {d.name: d.title for d in documents}
    make_directory(out / "figures")
    drawn = []
    for figure, svg in figures.draw(found, titles):
        write_atomically(out / "figures" / figure.file, svg)
        drawn.append(figure)
    notes = folder / NOTES
    command = shlex.join(["tcplearn", "papers", "nunes2014", "-o", printable(out)])
    text = page.page(
        found, planned, drawn, folder, titles, command, profile, notes.read_text() if notes.exists() else ""
    )
    write_atomically(out / PAGE, text)
    told = f"{len(found)} of {planned} runs of profile {profile}, {len(drawn)} figures"
    return f"{told}: {printable(out / PAGE)}"
