# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014: what a page of its simulations is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tcplearn.papers.nunes2014.figures import Figure
from tcplearn.papers.nunes2014.simulated_runs import Point


@dataclass(frozen=True)
class Material:
    found: Sequence[Point]
    planned: int  # runs
    drawn: Sequence[Figure]
    folder: Path  # the paper's
    titles: Mapping[str, str]  # of scenarios
    command: str
    profile: str
    notes: str

    @property
    def commits(self) -> str:
        return ", ".join(sorted({p.commit for p in self.found}))

    def pictures(self, folder: str) -> list[str]:
        return [f"![{self.titles[f.scenario]}: {f.title}]({folder}/{f.file})" for f in self.drawn]
