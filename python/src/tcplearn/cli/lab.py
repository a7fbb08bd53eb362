# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn lab`: parses, and imports the rest only when there is work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from tcplearn.errors import UserError

Work = Callable[[str], None]
FORMATS = ("table", "json", "csv", "parquet")

lab_app = typer.Typer(
    rich_markup_mode=None,
    help="Run scenarios on a real Linux TCP stack over emulated networks, in virtual time.",
)
_File = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The scenario.")]
_Profile = Annotated[
    str, typer.Option(metavar="NAME", help="A profile of the scenario, as smoke.", show_default=False)
]


def _format(value: str) -> str:
    if value not in FORMATS:
        raise typer.BadParameter(f"{value!r}: not a format; give {', '.join(FORMATS)}")
    return value


@lab_app.command("run")
def _run(
    file: _File,
    profile: _Profile = "",
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what is kept.")] = False,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=10**8, help="In place of the scenario's.")
    ] = None,
    kernel: Annotated[
        str, typer.Option(metavar="NAME", help="6.1 or 6.12, in place of the scenario's.", show_default=False)
    ] = "",
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", metavar="N", min=1, help="Machines at once (one a core).", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep runs here, not in the cache.", show_default=False)
    ] = None,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Capture at the sender and around each queue; needs --out.")
    ] = False,
    format: Annotated[
        str, typer.Option(callback=_format, metavar="FORMAT", help="table, json, csv or parquet.")
    ] = "table",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the rows here.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> Work:
    """Run a scenario: every algorithm in turn in each run, a fresh machine for each run."""

    def work(_: str) -> None:
        from tcplearn.cli import common as cli_common
        from tcplearn.lab import run as runs
        from tcplearn.lab import scenario as scenarios
        from tcplearn.lab import write
        from tcplearn.output.files import check_writable, write_atomically

        if pcap and out is None:
            raise UserError("--pcap needs --out DIR: the captures stay there")
        if format == "parquet" and output is None and sys.stdout.isatty():
            raise UserError("Parquet is not for a terminal; add -o FILE or send it into a pipe")
        if output:
            check_writable(output)
        scenario = scenarios.load(file, profile)
        if kernel:
            scenario = scenarios.with_kernel(scenario, kernel)
        if seed is not None:
            scenario = scenario.model_copy(update={"runs": scenario.runs.model_copy(update={"seed": seed})})
        options = runs.Options(fresh=fresh, jobs=jobs or cli_common.processors(), out=out, pcap=pcap)
        with cli_common.progress_bar(quiet) as progress:
            rows = runs.run(scenario, options, progress)
        if format == "table":
            cli_common.print_(lambda _: write.table(rows), output)
            return
        content: str | bytes = write.to_json(rows)
        if format != "json":
            content = write.to_csv(rows) if format == "csv" else write.to_parquet(rows)
        if output:
            write_atomically(output, content)
        elif isinstance(content, bytes):
            sys.stdout.buffer.write(content)
        else:
            sys.stdout.write(content)

    return work


@lab_app.command("script")
def _script(file: _File, profile: _Profile = "") -> Work:
    """Print what the guest would execute: plain ip and tc."""

    def work(_: str) -> None:
        from tcplearn.lab import guest, scenario

        sys.stdout.write(guest.script(scenario.load(file, profile), 0))

    return work


@lab_app.command("shell")
def _shell(file: _File, profile: _Profile = "") -> Work:
    """Open a shell in the guest, the scenario's network made: c0 is the sender; exit ends it."""

    def work(_: str) -> None:
        from tcplearn.lab import machine, scenario

        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UserError("lab shell needs a terminal")
        chosen = scenario.load(file, profile)
        machine.shell(machine.prepare(machine.cache_folder(), chosen.with_programs, chosen.kernel), chosen)

    return work


@lab_app.command("check")
def _check(
    what: Annotated[
        str, typer.Argument(metavar="NAME", help="vectors, stress, smp, module, packets or kernels.")
    ] = "vectors",
    kernel: Annotated[str, typer.Option(metavar="NAME", help="6.1 or 6.12.")] = "6.1",
    seed: Annotated[int, typer.Option(metavar="N", min=0, max=10**8, help="Of the storm.")] = 1,
) -> Work:
    """Replay the golden vectors in the kernel, storm the module with connections, or try its promises."""
    if what not in ("vectors", "stress", "smp", "module", "packets", "kernels"):
        raise typer.BadParameter(f"{what!r}: give vectors, stress, smp, module, packets or kernels")

    def work(_: str) -> None:
        from tcplearn.lab import check

        lines = check.run(what, kernel, seed)
        sys.stdout.write("\n".join(lines) + "\n")

    return work


@lab_app.command("paper")
def _paper(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A paper's, as papers/nunes2014.")],
    profile: _Profile = "",
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A profile to run too, into the same tables.", show_default=False),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", metavar="N", min=1, help="Machines at once (one a core).", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.md", help="Write the page here.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> Work:
    """Run a paper's live scenarios (what is kept is not run again): ours beside its tables."""

    def work(command: str) -> None:
        from tcplearn.cli import common as cli_common
        from tcplearn.lab import figure, paper, scenario
        from tcplearn.lab import run as runs
        from tcplearn.output.files import check_writable, write_atomically

        if output:
            check_writable(output)
        files = sorted(folder.glob("live-*.toml"))
        if not files:
            raise UserError(f"{folder}: there is no live-*.toml in it")
        published = paper.read_published(folder / "published-live.csv")
        options = runs.Options(jobs=jobs or cli_common.processors())
        parts: list[paper.Part] = []
        picture: list[figure.Json] = []
        for file in files:
            chosen = [scenario.load(file, name) for name in (profile, *(also or ()))]
            with cli_common.progress_bar(quiet) as progress:
                rows = [row for one in chosen for row in runs.run(one, options, progress)]
            parts.append(paper.Part(chosen[0], rows))
            picture += figure.rows(chosen[0], runs.folder(chosen[0], options))
        notes = folder / "live-notes.md"
        beside = output.with_name(f"{output.stem}-figure-26.svg") if output and picture else None
        page = paper.page(
            parts,
            published,
            command,
            notes.read_text() if notes.exists() else "",
            beside.name if beside else "",
        )
        if output:
            if beside:
                write_atomically(beside, figure.draw(picture))
            write_atomically(output, page)
        else:
            sys.stdout.write(page)

    return work
