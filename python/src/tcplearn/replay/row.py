# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define a row of a replay's results, which has the metrics of one estimator over one flow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tcplearn import metrics
from tcplearn.output.rows import TOTAL, Record, head_of, plain, tidy

IDENTITY = ("source", "flow", "estimator", "arithmetic", "samples", "judged", "note")  # not metrics
KEYS = metrics.of_replay()  # the metrics, in their order
_KNOWN = frozenset(KEYS)


@dataclass(frozen=True, slots=True)
class Row:
    """The metrics of one estimator over one flow, by key. `row[key]` is None if `key` was not measured."""

    source: str
    flow: str
    estimator: str
    arithmetic: str
    samples: int
    judged: bool
    note: str
    values: Mapping[str, float | None]

    def __getitem__(self, key: str) -> float | None:
        if key not in _KNOWN:
            raise KeyError(key)
        value: float | None = plain(self.values.get(key))
        return value

    def changed(self, values: Mapping[str, float | None]) -> Row:
        return replace(self, values={**self.values, **values})

    def measured(self) -> Record:
        """Return every metric of the row by its key."""
        return {key: plain(self.values.get(key)) for key in KEYS}

    def record(self) -> Record:
        """Return the identity columns and all metrics as one dict."""
        return {name: plain(getattr(self, name)) for name in IDENTITY} | self.measured()


def tidied(rows: Iterable[Row], made_by: Mapping[str, str], everything: str = "") -> Iterator[Record]:
    """Yield a row of output for each metric of each of `rows`, with the version, commit, seed and options in
    `made_by`. Rows over all flows together have the text `everything` in the column `source`."""
    for row in rows:
        made = {**made_by, "arithmetic": row.arithmetic}
        source = everything if row.flow == TOTAL else row.source
        head = head_of(metrics.REPLAY, made, source=source, flow=row.flow, algorithm=row.estimator)
        yield from tidy(head, {"samples": row.samples, "judged": row.judged} | row.measured())
