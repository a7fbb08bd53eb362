# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the pages of the papers' simulations share: where they are, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tcplearn.errors import UserError, printable
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.papers import Request

PAGE, PROFILE = "simulated", "quick"


def no_runs(profile: str, files: Sequence[Path]) -> UserError:
    names = " ".join(map(printable, files))
    return UserError(f"no runs of profile {profile}; first: tcplearn simulate {names} --profile {profile}")


def write_figures(out: Path, drawn: Iterable[tuple[str, str]], folder: str = "figures") -> None:
    """`drawn`: names of files and their SVG."""
    make_directory(out / folder)
    for name, svg in drawn:
        write_atomically(out / folder / name, svg)


def write_page(
    request: Request,
    text: str,
    *,
    runs: int,
    planned: int,
    figures: int,
    page: str = PAGE,
    profile: str = PROFILE,
) -> str:
    """Returns the line that says what was written."""
    file = request.out / f"{page}.md"
    write_atomically(file, text)
    profile = request.profile or profile
    return f"{runs} of {planned} runs of profile {profile}, {figures} figures: {printable(file)}"
