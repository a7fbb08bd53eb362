# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read tables that users supply, as CSV or Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .checkout import no_such_file
from .documents import check_regular
from .errors import UserError, printable

if TYPE_CHECKING:
    import polars as pl


def read(path: Path, content: str, columns: Sequence[str] = (), origin: str = "") -> pl.DataFrame:
    """Return the table in the file `path`: CSV if its suffix is .csv, otherwise Parquet. Raise UserError if
    the file is missing, is no table, or lacks one of `columns`. The message names the expected `content` and
    ends with `origin`, which says how to make a missing column."""
    import polars as pl

    where = printable(path)
    try:
        check_regular(path)
        csv = path.suffix.lower() == ".csv"
        frame = pl.read_csv(path, infer_schema_length=None) if csv else pl.read_parquet(path)
    except FileNotFoundError:
        raise UserError(f"{where}: {no_such_file(path)}") from None
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise UserError(f"{where}: no table of {content}: {printable(error)[:200]}") from error
    if missing := [name for name in columns if name not in frame.columns]:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise UserError(f"{where}: no column {missing[0]}{more}{origin}")
    return frame
