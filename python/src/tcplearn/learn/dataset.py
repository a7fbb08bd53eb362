# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read labelled fast retransmits: features, cause of the loss, and scenario (the simulated network)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tcplearn import documents, losses
from tcplearn.errors import UserError, printable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_DROPS = ("queue_drops", "channel_drops")  # packets of the window that the simulator dropped


@dataclass(frozen=True, slots=True)
class Dataset:
    """Labelled losses. `x` has a row of features for each loss; `group` has the number of its scenario (a
    simulated network). `congested` is 1 for a loss by congestion and 0 for a random loss."""

    features: tuple[str, ...]
    x: Floats
    congested: Ints
    group: Ints
    scenarios: tuple[str, ...]
    read: int = 0  # number of rows in the files
    spurious: int = 0  # rows of recoveries in which nothing was lost; they are left out
    about: tuple[Mapping[str, Any], ...] = ()  # parameters of each scenario, if the file has them
    row: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # row of `frame` that each is from

    def __len__(self) -> int:
        return len(self.congested)

    @property
    def count(self) -> int:
        return len(np.unique(self.group))

    def rows(self, chosen: Any) -> Dataset:
        row = self.row[chosen] if len(self.row) else self.row
        x, congested, group = self.x[chosen], self.congested[chosen], self.group[chosen]
        return replace(self, x=x, congested=congested, group=group, row=row)

    def columns(self, names: Sequence[str]) -> Floats:
        return self.x[:, [self.features.index(name) for name in names]]

    def both_causes(self) -> Dataset:
        """Return the losses in scenarios with both congestion and random losses. In any other scenario, the
        scenario alone reveals the cause."""
        share = np.bincount(self.group, self.congested) / np.maximum(np.bincount(self.group), 1)
        return self.rows((share[self.group] > 0) & (share[self.group] < 1))

    def at_most(self, rows: int, seed: int) -> Dataset:
        """Return at most `rows` losses of each scenario, drawn at random regardless of their cause, so that
        long runs do not outweigh others."""
        order = np.random.default_rng(seed).permutation(len(self))
        order = order[np.argsort(self.group[order], kind="stable")]
        groups = self.group[order]
        first = np.searchsorted(groups, groups)
        return self.rows(np.sort(order[np.arange(len(order)) - first < rows]))


def read(paths: Sequence[Path]) -> Dataset:
    """Return the losses in the files `paths`. Raise UserError if a file is malformed, or if a classifier
    cannot be trained on the losses."""
    return of(frame(paths), " ".join(printable(path) for path in paths))


def frame(paths: Sequence[Path]) -> pl.DataFrame:
    """Return a table of all fast recoveries in the files `paths`, also those without a lost packet."""
    names = ("scenario", "flow", "truth", "spurious", "parameters", *losses.features())
    return pl.concat([_frame(path, losses.features()).select(names) for path in paths])


def of(every: pl.DataFrame, where: str) -> Dataset:
    """Return the losses among the fast recoveries `every`, which frame() has read from the files `where`.
    Raise UserError if a classifier cannot be trained on them."""
    names = losses.features()
    kept = every.with_row_index("row").filter(~pl.col("spurious"))
    scenarios = tuple(kept["scenario"].unique(maintain_order=True))
    numbers = {name: k for k, name in enumerate(scenarios)}
    data = Dataset(
        features=names,
        x=kept.select(names).to_numpy().astype(np.float64),
        congested=(kept["truth"] == losses.CONGESTION).to_numpy().astype(np.int64),
        group=np.array([numbers[name] for name in kept["scenario"]], np.int64),
        scenarios=scenarios,
        read=len(every),
        spurious=len(every) - len(kept),
        about=_about(kept, scenarios),
        row=kept["row"].to_numpy().astype(np.int64),
    )
    if len(data) == 0:
        raise UserError(f"{where}: no rows with a loss")
    if len(scenarios) < 2:
        raise UserError(f"{where}: one scenario only; whole scenarios are held out for testing, so give more")
    if data.congested.min() == data.congested.max():
        raise UserError(f"{where}: every loss has the same cause; nothing can be learned")
    return data


def _about(frame: pl.DataFrame, scenarios: Sequence[str]) -> tuple[Mapping[str, Any], ...]:
    """Return the parameters, in the column "parameters" of `frame`, of each of the simulated `scenarios`.
    Malformed parameters are ignored."""
    first = dict(frame.unique("scenario", keep="first").select("scenario", "parameters").iter_rows())
    out = []
    for scenario in scenarios:
        try:
            found = documents.json_value(first[scenario] or "{}")
        except ValueError:
            found = {}
        out.append(found if isinstance(found, dict) else {})
    return tuple(out)


def _frame(path: Path, names: Sequence[str]) -> pl.DataFrame:
    where = printable(path)
    frame = documents.table(path, "losses", ("scenario", "truth", *names))
    other = [v for v in frame["truth"].cast(pl.String).unique() if v not in losses.CAUSES]
    if other:
        raise UserError(f"{where}: truth is {printable(other[0])}; it has to be congestion or random")
    for name in names:
        if not frame[name].dtype.is_numeric():
            raise UserError(f"{where}: {name} is no number")
        bad = (~frame[name].cast(pl.Float64).is_finite().fill_null(False)).arg_true()
        if len(bad):
            raise UserError(
                f"{where}: row {bad[0] + 1}: {name} is {frame[name][bad[0]]}, not a finite number"
            )
    return frame.with_columns(
        pl.col("scenario").cast(pl.String),
        pl.col("truth").cast(pl.String),
        *(pl.col(name).cast(pl.Float64) for name in names),
        flow=pl.col("flow").cast(pl.Int64) if "flow" in frame.columns else pl.lit(None, pl.Int64),
        parameters=pl.col("parameters").cast(pl.String) if "parameters" in frame.columns else pl.lit(""),
        spurious=pl.sum_horizontal(_DROPS) == 0 if set(_DROPS) <= set(frame.columns) else pl.lit(False),
    )
