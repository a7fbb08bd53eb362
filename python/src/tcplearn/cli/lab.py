# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn lab`, which runs real Linux TCP over emulated networks in virtual
machines."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tcplearn.cli import options
from tcplearn.cli.common import Outputs, Work, print_lines, progress_bar, say
from tcplearn.cli.options import FormatName
from tcplearn.errors import FailedError, UserError

lab_app = typer.Typer(
    rich_markup_mode=None,
    help="Run scenarios on a real Linux TCP stack over emulated networks, in virtual time.",
)
_File = Annotated[Path, typer.Argument(metavar="FILE.toml", help="A scenario file.")]
_Profile = Annotated[
    str,
    typer.Option(metavar="NAME", help="A profile of the scenario, such as smoke. full: the unchanged file."),
]
_FULL = "full"


@lab_app.command("run", short_help="Run a scenario on fresh virtual machines.")
def _run(
    file: _File,
    profile: _Profile = _FULL,
    fresh: options.Fresh = False,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=10**8, help="A seed instead of the scenario's.")
    ] = None,
    kernel: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Linux 6.1, 6.12 or 7.3 instead of the scenario's.", show_default=False
        ),
    ] = "",
    jobs: options.Jobs = None,
    scheduler: options.Scheduler = "",
    slurm: options.Slurm = 0,
    out: options.Kept = None,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Capture at the sender and around each queue; needs --out.")
    ] = False,
    format: options.Format = FormatName.table,
    output: options.Output = None,
    quiet: options.Quiet = False,
) -> Work:
    """Run a scenario: each run starts a fresh virtual machine and runs the scenario's algorithms in turn."""

    def work(_: str) -> None:
        from tcplearn import provenance
        from tcplearn.jobs import Place
        from tcplearn.lab import run as runs
        from tcplearn.lab import scenario as scenarios
        from tcplearn.lab import table

        if pcap and out is None:
            raise UserError("--pcap needs --out DIR: the captures are stored there")
        outputs = Outputs(format, output)
        outputs.check()
        scenario = scenarios.load(file, profile)
        if kernel:
            scenario = scenario.model_copy(update={"kernel": kernel})  # checked when the guest is prepared
        if seed is not None:
            scenario = scenario.model_copy(update={"runs": scenario.runs.model_copy(update={"seed": seed})})
        wanted = runs.Options(fresh, Place(jobs or 0, scheduler, slurm), out, pcap)
        with progress_bar(quiet) as progress:
            finished = runs.run(scenario, wanted, progress, say)
        outputs.write(
            lambda console: table.document(finished.rows, console, scenario.title),
            lambda: finished.rows,
            provenance.made_by(),
        )
        if finished.failures:
            failed = f"{len(finished.failures)} of {finished.runs} runs failed"
            raise FailedError(f"{failed}; the others are stored")

    return work


@lab_app.command("script", short_help="Print the commands that the virtual machine would execute.")
def _script(file: _File, profile: _Profile = _FULL) -> Work:
    """Print the commands that the guest (the virtual machine) would execute: plain ip and tc."""

    def work(_: str) -> None:
        from tcplearn.lab import guest, scenario

        sys.stdout.write(guest.script(scenario.load(file, profile), 0))

    return work


@lab_app.command("shell", short_help="Open a shell in the virtual machine of a scenario.")
def _shell(file: _File, profile: _Profile = _FULL) -> Work:
    """Open a shell in the guest (the virtual machine) with the scenario's network. The network namespace
    c0 is the sender; exit ends the shell."""

    def work(_: str) -> None:
        from tcplearn.lab import machine, scenario

        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UserError("lab shell needs a terminal")
        chosen = scenario.load(file, profile)
        machine.shell(machine.prepare(machine.cache_folder(), chosen.with_programs, chosen.kernel), chosen)

    return work


@lab_app.command("check", short_help="Run checks of the kernel module in a virtual machine.")
def _check(
    what: Annotated[
        str, typer.Argument(metavar="NAME", help="vectors, stress, smp, module, packets, startup or kernels.")
    ] = "vectors",
    kernel: Annotated[str, typer.Option(metavar="NAME", help="Linux 6.1, 6.12 or 7.3.")] = "6.1",
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, max=10**8, help="Seed of the checks stress and smp.")
    ] = 1,
    seconds: Annotated[
        int, typer.Option(metavar="N", min=10, max=86_400, help="Duration of the check smp in s.")
    ] = 40,
) -> Work:
    """Check the kernel module: run test vectors in the kernel, open many connections at once, or test
    privileges, memory, failures, single packets or initial windows."""
    if what not in ("vectors", "stress", "smp", "module", "packets", "startup", "kernels"):
        raise typer.BadParameter(f"{what!r}: give vectors, stress, smp, module, packets, startup or kernels")

    def work(_: str) -> None:
        from tcplearn.lab import check

        print_lines(check.run(what, kernel, seed, seconds))

    return work
