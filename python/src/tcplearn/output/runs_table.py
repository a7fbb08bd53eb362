# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines table columns for means over runs of simulations or lab experiments. A column shows a mean and, if
there is room, the spread over the runs."""

from dataclasses import dataclass

from tcplearn import metrics
from tcplearn.output.table import Cell, Column

#: The unit that a table shows for a counter.
EACH_RUN = "a run"


@dataclass(frozen=True, slots=True)
class Shown:
    """A metric that is shown as a column."""

    metric: str  # the metric's key
    heading: str
    digits: int
    keep: int  # a narrow terminal leaves out columns with the lowest `keep` first
    percent: bool = False  # a share, shown in percent

    @property
    def unit(self) -> str:
        unit = metrics.unit_of(self.metric)
        return "%" if self.percent else EACH_RUN if unit == metrics.NO_UNIT else unit

    @property
    def column(self) -> Column:
        label = f"{self.heading} ({self.unit})"
        return Column(f"{self.heading}\n{self.unit}", label, keep=self.keep, detailed=True)

    def cell(self, mean: float | None, spread: float | None = None) -> Cell:
        """Return a cell with `mean`, followed by `spread` after ±."""
        if mean is None:
            return Cell("-")
        scale = 100 if self.percent else 1
        more = "" if spread is None else f" ± {spread * scale:.{self.digits}f}"
        return Cell(f"{mean * scale:.{self.digits}f}", mean, more=more)
