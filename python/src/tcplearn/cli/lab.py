# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn lab`, which runs real Linux TCP over emulated networks in virtual
machines."""

import sys
from pathlib import Path
from typing import Annotated

from tcplearn.cli import options
from tcplearn.cli.common import Outputs, Processors, print_lines, progress_bar, say
from tcplearn.cli.groups import group
from tcplearn.cli.options import FormatName, argument, flag, option
from tcplearn.errors import FailedError, UserError

_File = Annotated[Path, argument("FILE.toml", "A scenario file.")]
_Profile = Annotated[
    str, option("NAME", "A profile of the scenario, such as smoke. full: the unchanged file.")
]
_FULL = "full"


def _run(
    _: str,
    file: _File,
    *,
    profile: _Profile = _FULL,
    fresh: options.Fresh = False,
    seed: Annotated[int | None, option("N", "A seed instead of the scenario's.", min=0, max=10**8)] = None,
    kernel: Annotated[str, option("NAME", "Linux 6.1, 6.12 or 7.3 instead of the scenario's.")] = "",
    processors: Processors,
    out: options.Kept = None,
    pcap: Annotated[
        bool, flag("Capture at the sender and around each queue; needs --out.", "--pcap")
    ] = False,
    format: options.Format = FormatName.table,
    output: options.Output = None,
    quiet: options.Quiet = False,
) -> None:
    """Run a scenario: each run starts a fresh virtual machine and runs the scenario's algorithms in turn."""
    from tcplearn import provenance
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
    wanted = runs.Options(fresh, processors.place(), out, pcap)
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


def _script(_: str, file: _File, profile: _Profile = _FULL) -> None:
    """Print the commands that the guest (the virtual machine) would execute: plain ip and tc."""
    from tcplearn.lab import guest, scenario

    sys.stdout.write(guest.script(scenario.load(file, profile), 0))


def _shell(_: str, file: _File, profile: _Profile = _FULL) -> None:
    """Open a shell in the guest (the virtual machine) with the scenario's network. The network namespace
    c0 is the sender; exit ends the shell."""
    from tcplearn.lab import machine, scenario

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError("lab shell needs a terminal")
    chosen = scenario.load(file, profile)
    machine.shell(machine.prepare(machine.cache_folder(), chosen.with_programs, chosen.kernel), chosen)


def _check(
    _: str,
    what: Annotated[
        str, argument("NAME", "vectors, stress, smp, module, packets, startup or kernels.")
    ] = "vectors",
    kernel: Annotated[str, option("NAME", "Linux 6.1, 6.12 or 7.3.")] = "6.1",
    seed: Annotated[int, option("N", "Seed of the checks stress and smp.", min=0, max=10**8)] = 1,
    seconds: Annotated[int, option("N", "Duration of the check smp in s.", min=10, max=86_400)] = 40,
) -> None:
    """Check the kernel module: run test vectors in the kernel, open many connections at once, or test
    privileges, memory, failures, single packets or initial windows."""
    if what not in ("vectors", "stress", "smp", "module", "packets", "startup", "kernels"):
        wanted = "give vectors, stress, smp, module, packets, startup or kernels"
        raise UserError(f"invalid value: {what!r}: {wanted}; see `tcplearn lab check --help`")
    from tcplearn.lab import check

    print_lines(check.run(what, kernel, seed, seconds))


lab_app = group(
    "Run scenarios on a real Linux TCP stack over emulated networks, in virtual time.",
    {
        "run": (_run, "Run a scenario on fresh virtual machines."),
        "script": (_script, "Print the commands that the virtual machine would execute."),
        "shell": (_shell, "Open a shell in the virtual machine of a scenario."),
        "check": (_check, "Run checks of the kernel module in a virtual machine."),
    },
)
