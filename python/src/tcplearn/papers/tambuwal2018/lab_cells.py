# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Pages of the lab by startup and size, and what a startup gains over stock, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tcplearn.lab import guest, pages
from tcplearn.lab.kept import made_by
from tcplearn.lab.pages import Page
from tcplearn.lab.scenario import Scenario

Floats = npt.NDArray[np.float64]
#: Value, lower and upper end.
Interval = tuple[float, float, float]

RESAMPLES, SEED = 2000, 2018


@dataclass(frozen=True)
class Part:
    """One scenario: its pages by startup, those of all runs together."""

    scenario: Scenario
    fetched: Mapping[str, Sequence[Page]]
    kernels: frozenset[str]
    commits: frozenset[str]

    @classmethod
    def of(cls, scenario: Scenario, folders: Sequence[Path]) -> Part:
        fetched = {
            arm.startup: [page for folder in folders for page in pages.read(folder / arm.folder)]
            for arm in guest.arms(scenario, 0)
        }
        kernels = frozenset((folder / "kernel").read_text().strip() for folder in folders)
        return cls(scenario, fetched, kernels, frozenset(made_by(folder)[0] for folder in folders))

    @property
    def sizes(self) -> list[int]:
        return scenario_sizes(self.scenario)

    def cell(self, startup: str, size: int) -> list[Page]:
        return [page for page in self.fetched[startup] if page.size_bytes == size]


def scenario_sizes(scenario: Scenario) -> list[int]:
    return list(scenario.transfer.pages.sizes) if scenario.transfer.pages else []


def whole_ms(page: Page) -> float:
    return page.total_us / 1000


def after_handshake_ms(page: Page) -> float:
    return page.after_handshake_us / 1000


def _resampled(cell: Sequence[Page], value: Callable[[Page], float]) -> tuple[Floats, float]:
    """Means of pages drawn again, and their own mean; of cells with as many pages the same ones."""
    values = np.array([value(page) for page in cell])
    drawn = np.random.default_rng(SEED).integers(0, len(values), (RESAMPLES, len(values)))
    return values[drawn].mean(axis=1), float(values.mean())


def _interval(drawn: Floats, value: float) -> Interval:
    low, high = np.quantile(drawn, (0.025, 0.975))
    return value, float(low), float(high)


def mean(cell: Sequence[Page], value: Callable[[Page], float]) -> Interval:
    return _interval(*_resampled(cell, value))


def ratio(cell: Sequence[Page], base: Sequence[Page], value: Callable[[Page], float]) -> Interval:
    """Of the means; drawn in pairs, for the same pages of a run lose under every startup."""
    ours, mean_ours = _resampled(cell, value)
    theirs, mean_theirs = _resampled(base, value)
    return _interval(ours / theirs, mean_ours / mean_theirs)


def quantile(cell: Sequence[Page], value: Callable[[Page], float], p: float) -> float:
    return float(np.quantile([value(page) for page in cell], p))
