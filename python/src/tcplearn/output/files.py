# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Rows for machines (JSON, CSV, Parquet), and files that are whole or absent."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import math
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcplearn.errors import FailedError, UserError, printable

if TYPE_CHECKING:
    from tcplearn.replay.results import Row

#: What a file that came into being by itself may be read and written by: the umask's business.
_NEW_FILE_MODE = 0o666

#: Metrics of the tidy form: field of Row, name, unit ("1": a share, a ratio or a count).
METRICS = (
    ("samples", "samples", "1"),
    ("mean_abs_error_ms", "mean_abs_error", "ms"),
    ("median_abs_error_ms", "median_abs_error", "ms"),
    ("p95_abs_error_ms", "p95_abs_error", "ms"),
    ("bias_ms", "bias", "ms"),
    ("at_send_error_ms", "at_send_error", "ms"),
    ("rto_miss_rate", "rto_miss_rate", "1"),
    ("rto_miss_rate_before", "rto_miss_rate_before", "1"),
    ("spurious_timeouts", "spurious_timeouts", "1"),
    ("spurious_timeouts_tlp", "spurious_timeouts_tlp", "1"),
    ("spurious_probes", "spurious_probes", "1"),
    ("mean_rto_ms", "mean_rto", "ms"),
    ("excess_wait_ms", "excess_wait", "ms"),
    ("mean_abs_error_ratio", "mean_abs_error_ratio", "1"),
    ("at_send_error_ratio", "at_send_error_ratio", "1"),
    ("rto_miss_rate_ratio", "rto_miss_rate_ratio", "1"),
    ("mean_rto_ratio", "mean_rto_ratio", "1"),
    ("excess_wait_ratio", "excess_wait_ratio", "1"),
    ("mean_abs_error_ratio_low", "mean_abs_error_ratio_low", "1"),
    ("mean_abs_error_ratio_high", "mean_abs_error_ratio_high", "1"),
    ("at_send_error_ratio_low", "at_send_error_ratio_low", "1"),
    ("at_send_error_ratio_high", "at_send_error_ratio_high", "1"),
    ("rto_miss_rate_ratio_low", "rto_miss_rate_ratio_low", "1"),
    ("rto_miss_rate_ratio_high", "rto_miss_rate_ratio_high", "1"),
    ("mean_rto_ratio_low", "mean_rto_ratio_low", "1"),
    ("mean_rto_ratio_high", "mean_rto_ratio_high", "1"),
    ("excess_wait_ratio_low", "excess_wait_ratio_low", "1"),
    ("excess_wait_ratio_high", "excess_wait_ratio_high", "1"),
    ("regret_best_constant_ratio", "regret_best_constant_ratio", "1"),
    ("regret_best_ewma_ratio", "regret_best_ewma_ratio", "1"),
    ("regret_best_switching_ratio", "regret_best_switching_ratio", "1"),
    ("rto_miss_rate_asked", "rto_miss_rate_asked", "1"),
    ("mean_flight_segments", "mean_flight_segments", "1"),
    ("losses", "losses", "1"),
    ("loss_detect_actual_ms", "loss_detect_actual", "ms"),
    ("loss_detect_rto_ms", "loss_detect_rto", "ms"),
    ("loss_detect_rack_ms", "loss_detect_rack", "ms"),
)


def plain(value: Any) -> Any:
    """A value of Python itself: NumPy's scalars unwrapped, and None for what is not a number."""
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def row_dict(row: Row) -> dict[str, Any]:
    return {key: plain(value) for key, value in dataclasses.asdict(row).items()}


def to_json(rows: Iterable[Row], made_by: Mapping[str, str]) -> str:
    from tcplearn.output import rows as records

    return records.to_json(map(row_dict, rows), made_by)


def to_csv(rows: Iterable[Row], made_by: Mapping[str, str]) -> str:
    from tcplearn.output import rows as records
    from tcplearn.replay.results import Row

    return records.to_csv(list(map(row_dict, rows)), made_by, [f.name for f in dataclasses.fields(Row)])


def to_parquet(rows: Iterable[Row], made_by: Mapping[str, str]) -> bytes:
    """Tidy: one metric a row, with what made it beside it."""
    import polars as pl

    schema: dict[str, Any] = {
        "source": pl.String,
        "flow": pl.String,
        "estimator": pl.String,
        "arithmetic": pl.String,
        "judged": pl.Boolean,
        "metric": pl.String,
        "value": pl.Float64,
        "unit": pl.String,
    }
    tidy: dict[str, list[Any]] = {name: [] for name in schema}
    for row in rows:
        values = row_dict(row)
        for name, metric, unit in METRICS:
            for key in ("source", "flow", "estimator", "arithmetic", "judged"):
                tidy[key].append(values[key])
            tidy["metric"].append(metric)
            tidy["value"].append(None if values[name] is None else float(values[name]))
            tidy["unit"].append(unit)
    frame = pl.DataFrame(tidy, schema=schema)
    made = [
        pl.lit(str(value), dtype=pl.String).alias(f"run_{key}" if key in schema else key)
        for key, value in made_by.items()
    ]
    out = io.BytesIO()
    frame.with_columns(made).write_parquet(out)
    return out.getvalue()


@contextlib.contextmanager
def mending(path: Path) -> Iterator[None]:
    """Failures of the file system told as the user's to mend, naming the file."""
    try:
        yield
    except OSError as error:
        what = error.strerror or str(error)
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            todo = "make its directory first"
        elif isinstance(error, IsADirectoryError):
            todo = "name a file"
        elif isinstance(error, PermissionError):
            todo = "choose a place that you may write to"
        else:
            raise FailedError(f"{printable(path)}: cannot write: {what.lower()}") from error
        raise UserError(f"{printable(path)}: cannot write: {what.lower()}; {todo}") from error


def check_writable(path: Path) -> None:
    """Fail before the long work, not after it."""
    with mending(path):
        if path.is_dir():
            raise IsADirectoryError(21, "is a directory")
        if _is_special(path):
            return
        with tempfile.TemporaryFile(dir=path.resolve().parent):
            pass


def make_directory(path: Path) -> None:
    with mending(path):
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise UserError(f"{printable(path)}: is a file; name a directory") from error
        with tempfile.TemporaryFile(dir=path):
            pass


def write_atomically(path: Path, content: str | bytes) -> None:
    """To a temporary beside it, then renamed: a reader sees the old file or the new one."""
    data = content.encode() if isinstance(content, str) else content
    with mending(path):
        if path.is_dir():
            raise IsADirectoryError(21, "is a directory")
        if _is_special(path):  # /dev/null, a pipe: nothing to rename
            path.write_bytes(data)
            return
        target = path.resolve()  # through a symbolic link, to what it names
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(_mode(target))
            temporary.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def _is_special(path: Path) -> bool:
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False


def _mode(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return _NEW_FILE_MODE & ~umask
