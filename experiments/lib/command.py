# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements `tcplearn experiments`: lists stored runs, executes missing runs, and writes pages."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.lib import runs
from experiments.lib.batches import Batch, Work, lacking
from experiments.lib.pages import ROOT, Page
from tcplearn.errors import FailedError, UserError, did_you_mean, printable

_LIBRARY = "lib"


@dataclass(frozen=True)
class Chosen:
    """The arguments of `tcplearn experiments`. An argument that was not given is "", () or None; then the
    default applies."""

    name: str
    page: str = ""
    profile: str = ""
    batches: tuple[str, ...] = ()
    first: int | None = None
    file: Path | None = None
    scenarios: Path | None = None
    output: Path | None = None

    @property
    def folder(self) -> Path:
        return self.scenarios or ROOT / "experiments" / self.name

    @property
    def runs_file(self) -> Path:
        return self.file or ROOT / "experiments" / self.name / "runs.parquet"

    def pages(self) -> Mapping[str, Page]:
        """Returns the chosen page, or if none was chosen all pages of the experiment, by name. Raises
        UserError if there is no such experiment or page."""
        known = sorted(
            f.parent.name for f in (ROOT / "experiments").glob("*/__init__.py") if f.parent.name != _LIBRARY
        )
        if self.name not in known:
            todo = did_you_mean(self.name, known, "there is " + ", ".join(known))
            raise UserError(f"no experiment {self.name!r}; {todo}")
        module: Any = importlib.import_module(f"experiments.{self.name}")
        pages: Mapping[str, Page] = module.PAGES
        if self.page and self.page not in pages:
            todo = did_you_mean(self.page, pages, "it has " + ", ".join(pages))
            raise UserError(f"--page {self.page}: {todo}")
        return {name: page for name, page in pages.items() if self.page in ("", name)}

    def wanted(self) -> list[Batch]:
        """Returns the chosen batches of runs or, if none was chosen, all that the chosen pages need. Raises
        UserError if there is no such batch."""
        every = {b.name: b for page in self.pages().values() for b in page.batches(self.folder, self.profile)}
        if unknown := [name for name in self.batches if name not in every]:
            raise UserError(
                f"no runs {unknown[0]!r}; {did_you_mean(unknown[0], every, 'there are ' + ', '.join(every))}"
            )
        return [batch for name, batch in every.items() if not self.batches or name in self.batches]


def show(chosen: Chosen, say: Callable[[str], None]) -> None:
    """Prints for each chosen batch how many of its planned runs are stored and, if several versions of the
    code made these, how many versions."""
    found = runs.latest(runs.read(chosen.runs_file))
    have = {run.identity for run in found}
    for batch in chosen.wanted():
        planned = batch.planned()
        there = set(planned) & have
        made = {run.code for run in found if run.identity in there}
        by = f", of {len(made)} versions of the code" if len(made) > 1 else ""
        say(f"{batch.name}: {len(there)} of {len(planned)}{by}")


def write(chosen: Chosen, work: Work | None, say: Callable[[str], None]) -> None:
    """Writes the chosen pages. If `work` is given, the runs that are missing in the file of runs are executed
    first. Raises UserError, FailedError."""
    failures = _do(chosen, work) if work else []
    found = runs.latest(runs.read(chosen.runs_file))
    pages, written = chosen.pages(), 0
    for name, page in pages.items():
        batches = page.batches(chosen.folder, chosen.profile)
        own = [run for run in found if any(batch.has(run) for batch in batches)]
        if not own and batches:
            why = f"no run of page {name} is in {printable(chosen.runs_file)}; --run does them"
            if len(pages) == 1 and not failures:
                raise UserError(why)
            say(why)
            continue
        target = chosen.output / page.target.name if chosen.output else ROOT / page.target
        figures = page.write(own, chosen.folder, target)
        written += 1
        planned = {identity for batch in batches for identity in batch.planned()}
        there = len(planned & {run.identity for run in own})
        say(f"{there} of {len(planned)} runs, {figures} figures: {printable(target)}")
    if failures:
        raise FailedError(f"{len(failures)} runs failed; the others are kept")


def _do(chosen: Chosen, work: Work) -> list[str]:
    """Executes the chosen runs that are missing in the file of runs, and stores those that finish. Returns a
    line of text for each run that failed."""
    file = chosen.runs_file
    have = set() if work.fresh else {run.identity for run in runs.read(file)}
    failures: list[str] = []
    for batch in chosen.wanted():
        wanted = lacking(batch, have, chosen.first)
        if not wanted:
            continue
        asked, finished = set(wanted), []
        try:
            for run in batch.done(wanted, work, failures):
                finished += [run] if run.identity in asked else []
        finally:
            runs.append(file, finished)
    return failures
