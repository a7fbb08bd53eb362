# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn papers`: parses, and imports the rest only when there is work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tcplearn.cli import options
from tcplearn.cli.common import Work, progress_bar, say
from tcplearn.errors import UserError, did_you_mean, printable


def papers(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="As hwang2018.")],
    profile: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Whose runs the pages are of: as of `tcplearn simulate` and `tcplearn lab run`.",
            show_default="the paper's own choice",
        ),
    ] = "",
    only: Annotated[
        str,
        typer.Option(
            metavar="PAGE",
            help="One of its pages, as simulated or lab; another name lists them.",
            show_default=False,
        ),
    ] = "",
    scenarios: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The paper's scenario files.", show_default="papers/PAPER"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where runs are kept.", show_default="the user's cache")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Write here.", show_default="out/papers/PAPER"),
    ] = None,
    jobs: options.Jobs = None,
    scheduler: options.Scheduler = "",
    slurm: options.Slurm = 0,
    quiet: options.Quiet = False,
) -> Work:
    """Write a paper's pages, its printed numbers beside ours: the simulated one from the runs that exist, the
    lab's from those that are kept, the others run first (hours; --only simulated leaves it out)."""

    def work(_: str) -> None:
        from tcplearn import papers as all_papers
        from tcplearn.jobs import Place
        from tcplearn.simulate import engine

        pages = all_papers.pages(paper)
        if only and only not in pages:
            raise UserError(f"--only {only}: {did_you_mean(only, pages, 'it has ' + ', '.join(pages))}")
        folder = scenarios or engine.ROOT / "papers" / paper
        request = all_papers.Request(
            paper,
            folder,
            output or Path("out") / "papers" / paper,
            profile,
            out,
            Place(jobs or 0, scheduler, slurm),
        )
        written = False
        for name, page in pages.items():
            if only in ("", name):
                with progress_bar(quiet) as progress:
                    line = page(request, progress, say)
                if line:
                    written = True
                    say(line)
        if not written:
            raise UserError(f"{printable(folder)}: there is no scenario file in it for {only or 'a page'}")

    return work
