# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the columns of a batch, which has one row for each ACK that acknowledges new data; native/columns.h
gives the meanings of the columns. Every batch has all of `COLUMNS`, and a list `ended` of the flows that end
with it. Some traces add columns of `OPTIONAL` and a table `losses` of lost segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tcplearn import _native

if TYPE_CHECKING:
    import numpy.typing as npt

Columns: TypeAlias = "dict[str, npt.NDArray[Any]]"

_ALL = _native.columns()


def _types(*tables: str) -> dict[str, type[np.generic]]:
    return {c["name"]: np.dtype(c["type"]).type for c in _ALL if c["table"] in tables}


COLUMNS = _types("required", "filled")  # of every batch; times in us since the first packet or row
OPTIONAL = _types("optional")
#: The values of columns that a trace does not know. A column without a default must be given.
DEFAULTS: dict[str, int] = {c["name"]: c["default"] for c in _ALL if c["table"] in ("filled", "optional")}
LOSSES, WITHDRAWN = _types("loss"), _types("withdrawn")  # tables of lost segments, and of losses taken back
MEANINGS: dict[str, str] = {c["name"]: c["meaning"] for c in _ALL if c["table"] not in ("loss", "withdrawn")}


def filled(given: Mapping[str, npt.ArrayLike]) -> Columns:
    """Return a batch's columns: those in `given`, converted to their types, and defaults for others. Raise
    ValueError if a column is unknown, differs in length, or is missing without a default."""
    types = COLUMNS | {name: kind for name, kind in OPTIONAL.items() if name in given}
    if unknown := given.keys() - types.keys():
        raise ValueError(f"no such column: {', '.join(sorted(unknown))}")
    rows = len(np.asarray(given["time_us"]))
    out: Columns = {}
    for name, kind in types.items():
        if name in given:
            out[name] = np.asarray(given[name], kind)
        elif name in DEFAULTS:
            out[name] = np.full(rows, DEFAULTS[name], kind)
        else:
            raise ValueError(f"column {name} is missing")
        if out[name].shape != (rows,):
            raise ValueError(f"column {name} differs in length")
    return out


def batch(given: Mapping[str, npt.ArrayLike], ended: Sequence[int] = ()) -> Columns:
    """Return a complete batch: the columns in `given`, defaults for others, and the `ended` flows."""
    return filled(given) | {"ended": np.array(ended, np.uint32)}


def empty_batch() -> Columns:
    """Return a batch with all columns and no rows."""
    return batch({name: () for name in COLUMNS})


def taken(rows: Columns, at: npt.NDArray[np.intp]) -> Columns:
    """Return those rows of the batch `rows` that have the indices `at`."""
    return {name: column[at] for name, column in rows.items() if name in COLUMNS or name in OPTIONAL}


def joined(pieces: Sequence[Columns]) -> Columns:
    """Return the rows of all batches `pieces`, which have the same columns, as one batch."""
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
