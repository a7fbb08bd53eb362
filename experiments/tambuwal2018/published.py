# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares every number that tambuwal2018 prints (published.csv) with our result, by a fixed rule for
verdicts."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.lib.pages import csv_rows
from experiments.lib.statistics import Estimate
from experiments.tambuwal2018.cells import STANDARD, Cell, by_level, percent
from experiments.tambuwal2018.measures import (
    MEAN,
    MIXED,
    MIXES,
    MOST,
    OVER_STANDARD,
    Load,
    estimate,
    of_startup,
)
from tcplearn.output.markdown import table_of

#: How far from a single printed number ours may be: a quarter of it, and a quarter of a percentage point.
RELATIVE, POINTS = 0.25, 0.25
#: How many connections test_ns3_web draws for drawn-shares.csv, and the 97.5 % quantile of the normal.
DRAWN, NORMAL = 400_000, 1.96
REPRODUCED, NOT, OPEN, LACKING = "reproduced", "not", "cannot be told", "not yet run"
#: The profile whose runs take minutes, and the one of the paper's size.
QUICK, WHOLE = "quick", "whole"
ALIKE, OTHERWISE = "set alike", "set otherwise"
DIGITS = {"share": 3, "ms": 0}


@dataclass(frozen=True)
class Printed:
    """A row of published.csv. `low` and `high` are the ends of the range that tambuwal2018 prints (nan: no
    end)."""

    where: str
    level: float  # the load; nan: all loads
    startup: str
    quantity: str
    measure: str
    printed: str
    low: float
    high: float
    unit: str
    note: str

    @property
    def is_setting(self) -> bool:
        return self.measure.startswith("setting:")

    @property
    def band(self) -> tuple[float, float]:
        """Returns the lowest and the highest value of ours that agree with the number in tambuwal2018."""
        low = -math.inf if math.isnan(self.low) else self.low
        high = math.inf if math.isnan(self.high) else self.high
        if low != high:
            return low, high
        wide = max(RELATIVE * abs(low), POINTS if self.unit in ("%", "points") else 0)
        return low - wide, high + wide

    def verdict(self, ours: Estimate) -> str:
        """Returns the verdict on our value `ours`: whether its interval lies wholly, not at all or partly in
        the range of values that agree with tambuwal2018 (`band`)."""
        low, high = self.band
        if not ours:
            return LACKING
        if self.is_setting:
            return ALIKE if ours.value == self.low else OTHERWISE
        if math.isnan(ours.low):
            return OPEN
        if low <= ours.low and ours.high <= high:
            return REPRODUCED
        return NOT if ours.high < low or ours.low > high else OPEN


@functools.cache
def printed(folder: Path) -> tuple[Printed, ...]:
    out = []
    for row in csv_rows(folder / "published.csv"):
        numbers: Any = {name: float(row[name] or "nan") for name in ("level", "low", "high")}
        out.append(Printed(**{**row, **numbers}))
    return tuple(out)


def quantile_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Yields the quantiles of the traffic of PackMime-HTTP ("published") and of our generator ("drawn")."""
    files = {"published": folder / "quantiles.csv", "drawn": folder / "drawn.csv"}
    if all(file.exists() for file in files.values()):
        for source, file in files.items():
            for row in csv_rows(file):
                yield {"q": row["quantity"], "p": float(row["p"]), "y": float(row["value"]), "e": source}


@dataclass(frozen=True)
class Compared:
    row: Printed
    ours: Estimate
    startup: str
    runs: str  # the source of our value: a batch of runs, the drawn connections, or the scenario

    @property
    def verdict(self) -> str:
        return self.row.verdict(self.ours)


@dataclass
class Comparison:
    """Our runs and the rows of published.csv. In a run of `levels` all connections have the same startup
    policy. In a run of `mixes` some connections have the policy TSL 3,16 and the others the standard policy.
    The runs `ends` are like `mixes`, but no connection or every connection has TSL 3,16."""

    levels: Sequence[Cell]
    mixes: Sequence[Cell]
    folder: Path
    parameters: Mapping[str, Any] = field(default_factory=dict)  # those of one run of `levels`
    profiles: Mapping[float, str] = field(default_factory=dict)  # the profile of the runs at each load
    ends: Sequence[Cell] = ()
    mixed_profile: str = QUICK

    @functools.cached_property
    def loads(self) -> dict[float, Load]:
        return {level: Load.of(of) for level, of in by_level(self.levels).items()}

    @functools.cached_property
    def mixed(self) -> Load:
        """Returns the runs in which some connections have the startup policy TSL 3,16 (`mixes`), together
        with the runs at the same load in which none or all have it."""
        cells = {c.share: c for c in self.mixes if c.startup == MIXED}
        level = self.mixes[0].level if cells else math.nan
        found = {cell.startup: cell for cell in self.ends if cell.level == level}
        for share, startup in ((0.0, STANDARD), (1.0, MIXED)):
            if share not in cells and startup in found:
                cells[share] = found[startup]
        return Load.of(dict(sorted(cells.items())))

    def ours(self, measure: str, level: float, startup: str) -> Estimate:
        """Returns the estimate of `measure` at the load `level`. It is empty if runs are missing, and for a
        difference of the standard startup policy from itself."""
        if level not in self.loads or (startup == STANDARD and measure in OVER_STANDARD):
            return Estimate()
        return of_startup(measure, self.loads[level], startup)[0]

    @functools.cached_property
    def rows(self) -> list[Compared]:
        return [self._compared(row) for row in printed(self.folder)]

    def _compared(self, row: Printed) -> Compared:
        kind, _, name = row.measure.partition(":")
        used = {self.profiles[row.level]} if row.level in self.profiles else {*self.profiles.values()}
        ours, startup = Estimate(), row.startup
        runs = " ".join(f"levels/{profile}" for profile in sorted(used or {QUICK}))
        if kind == "setting":
            section, _, key = name.partition(".")
            ours = Estimate(float(self.parameters.get(section, {}).get(key, math.nan)))
            runs = "common.toml" if ours.value == row.low else runs
        elif kind == "drawn":
            ours, runs = self._drawn(*name.split(":")), "drawn"
        elif kind in MIXES:
            runs = f"mixes/{self.mixed_profile}"
            if {0.0, 0.25, 0.75, 1.0} <= set(self.mixed.cells) and self.mixed.seeds:
                ours = estimate(MIXES[kind], self.mixed)
        elif not kind:
            runs = ""
        elif row.level in self.loads:
            ours, startup = of_startup(kind, self.loads[row.level], row.startup)
        return Compared(row, ours, startup, runs)

    def _drawn(self, quantity: str, at_most: str) -> Estimate:
        """Returns the share of the connections drawn by our traffic generator in which `quantity` is at most
        `at_most`, with the interval of a binomial share."""
        for row in csv_rows(self.folder / "drawn-shares.csv"):
            if (row["quantity"], row["at_most"]) == (quantity, at_most):
                share = float(row["share"])
                half = NORMAL * math.sqrt(share * (1 - share) / DRAWN)
                return Estimate(share, share - half, share + half)
        return Estimate()

    @property
    def counts(self) -> Counter[str]:
        """Returns how many of tambuwal2018's results have each verdict. Settings of its simulation, and plots
        for which its text states no value, do not count."""
        results = (one for one in self.rows if one.row.measure and not one.row.is_setting)
        return Counter(one.verdict for one in results)

    @property
    def judged(self) -> int:
        return self.counts.total()

    @property
    def headline(self) -> Compared:
        """Returns the comparison of our gain in response time with that at up to 90 % load in tambuwal2018's
        abstract."""
        return next(one for one in self.rows if one.row.where == "Abstract")

    def table(self) -> str:
        head = ("where", "load", "startup", "quantity", "paper", "ours", "verdict", "runs", "note")
        return table_of(head, [_shown(one) for one in self.rows])


def _shown(one: Compared) -> list[str]:
    row = one.row
    name = f"`{one.startup}`" if "/" in one.startup or one.startup == STANDARD else one.startup
    if row.startup == MOST:
        name = f"{name} (the largest)" if one.ours else "the largest"
    ours = one.ours.shown(DIGITS.get(row.unit, 2))
    if row.is_setting:
        ours = f"{one.ours.value:,.0f}" if one.ours else "–"
    return [
        row.where,
        "–" if math.isnan(row.level) else percent(row.level),
        {MEAN: "mean of the five"}.get(name, name or "–"),
        row.quantity,
        f"{row.printed} {row.unit}" if any(map(str.isdigit, row.printed)) else row.printed,
        ours,
        one.verdict if row.measure else "no number to compare",
        f"`{one.runs}`" if one.runs else "–",
        row.note,
    ]
