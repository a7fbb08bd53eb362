# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn experiments`, which does an experiment's runs and writes its pages."""

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any

from tcplearn.checkout import IS_CHECKOUT, ROOT
from tcplearn.cli import options
from tcplearn.cli.common import Processors, progress_bar, say
from tcplearn.cli.options import argument, flag, option
from tcplearn.errors import UserError


def experiments(
    _: str,
    name: Annotated[str, argument("NAME", "A folder in experiments/, such as latency.")],
    batches: Annotated[
        list[str] | None, argument("[SCENARIO/PROFILE...]", "With --run or --list: only these scenarios.")
    ] = None,
    *,
    run: Annotated[
        bool, flag("First do the runs that are missing in the file of runs, and add them.", "--run")
    ] = False,
    list_: Annotated[bool, flag("Print the number of runs of each scenario, and exit.", "--list")] = False,
    first: Annotated[int | None, option("N", "Only the first N runs of each algorithm.", min=1)] = None,
    fresh: Annotated[
        bool, flag("Also repeat existing runs; pages then use the later ones.", "--fresh")
    ] = False,
    profile: Annotated[
        str, option("NAME", "A profile of the scenarios, such as smoke.", show_default="that of each page")
    ] = "",
    page: Annotated[str, option("PAGE", "Write only this page; an unknown name lists all pages.")] = "",
    file: Annotated[
        Path | None,
        option(
            "FILE",
            "Read runs from this file, and add new ones.",
            "--file",
            show_default="experiments/NAME/runs.parquet",
        ),
    ] = None,
    scenarios: Annotated[
        Path | None, option("DIR", "Folder of scenario files and tables.", show_default="experiments/NAME")
    ] = None,
    output: Annotated[
        Path | None,
        option("DIR", "Write pages here.", "--output", "-o", show_default="over the stored pages"),
    ] = None,
    out: options.Kept = None,
    processors: Processors,
    quiet: options.Quiet = False,
) -> None:
    """Write an experiment's pages from its file of runs. --run first does the missing runs; after an
    interruption the same command continues and repeats no finished run."""
    command: Any = _library("command")
    with progress_bar(quiet) as progress:
        chosen = command.Chosen(name, page, profile, tuple(batches or ()), first, file, scenarios, output)
        doing = _library("batches").Work(processors.place(), out, fresh, progress, say)
        if list_:
            command.show(chosen, say)
        else:
            command.write(chosen, doing if run else None, say)


def _library(module: str) -> Any:
    """Import the module `module` of experiments/lib. Raise UserError outside a source checkout."""
    if not IS_CHECKOUT:
        raise UserError("experiments write pages of a checkout of tcplearn; run the command there")
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return importlib.import_module(f"experiments.lib.{module}")
