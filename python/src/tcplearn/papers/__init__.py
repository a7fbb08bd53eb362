# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The papers' pages: a package a paper, found by its name. It has PAGES: name of a page -> Page."""

from __future__ import annotations

import importlib
import pkgutil
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tcplearn.errors import UserError, did_you_mean, printable
from tcplearn.jobs import Place, Progress


@dataclass(frozen=True)
class Request:
    """What a page is made of, and where it goes."""

    paper: str
    folder: Path  # the paper's scenarios and published figures
    out: Path
    profile: str = ""  # "": those that the paper's page is of
    kept: Path | None = None  # where runs are; None: the cache
    place: Place = field(default_factory=Place)  # for runs that are still to do

    @property
    def command(self) -> str:
        """What makes the page again."""
        words = ["tcplearn", "papers", self.paper]
        words += ["--profile", self.profile] if self.profile else []
        return shlex.join([*words, "-o", printable(self.out)])

    def notes(self, page: str) -> str:
        """What a person wrote for it."""
        file = self.folder / f"{page}-notes.md"
        return file.read_text() if file.exists() else ""


class Page(Protocol):
    def __call__(self, request: Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
        """Writes it. A line about it; None where the folder has no scenario for it. Raises UserError."""


def pages(paper: str) -> Mapping[str, Page]:
    """Of a paper, in their order. Raises UserError."""
    known = [module.name for module in pkgutil.iter_modules(__path__) if module.ispkg]
    if paper not in known:
        raise UserError(
            f"no pages of {paper!r}; {did_you_mean(paper, known, 'there is ' + ', '.join(known))}"
        )
    found: Any = importlib.import_module(f"{__name__}.{paper}")
    of: Mapping[str, Page] = found.PAGES
    return of
