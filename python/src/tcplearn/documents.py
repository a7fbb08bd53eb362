# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read TOML, JSON and tables from untrusted files. A TOML or JSON file that exceeds a limit is refused with a
one-line error."""

from __future__ import annotations

import json
import re
import stat
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcplearn.checkout import no_such_file
from tcplearn.errors import UserError, printable

if TYPE_CHECKING:
    import polars as pl

#: The largest accepted TOML file (written by people) and JSON file (written by programs), in bytes.
MOST_TOML, MOST_JSON = 1 << 20, 16 << 20
#: The deepest accepted nesting, and the most names in a dotted key (tomllib's time is quadratic in them).
MOST_DEPTH, MOST_NAMES = 64, 16
TOO_MANY_DIGITS = "a number of too many digits"
#: The range of integers that TOML 1.0.0, section "Integer", requires: 64 bits, signed.
_INTEGERS = range(-(1 << 63), 1 << 63)
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_NAME = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-]){_NAME}(?:[ \t]*+\.[ \t]*+{_NAME}){{{MOST_NAMES}}}")


def check_regular(path: Path) -> None:
    """Raise OSError or ValueError if `path` is not a regular file."""
    mode = path.stat().st_mode  # a NUL in the path raises ValueError
    if not stat.S_ISREG(mode):
        what = "a directory" if stat.S_ISDIR(mode) else "a device or a pipe, which may have no end"
        raise ValueError(f"is {what}; name a file")


def bounded(path: Path, most_bytes: int) -> bytes:
    """Return the content of the regular file `path`, which may have at most `most_bytes` bytes. Raise
    OSError, or ValueError with a message that does not name the file."""
    check_regular(path)
    with path.open("rb") as file:
        found = file.read(most_bytes + 1)
    if len(found) > most_bytes:
        raise ValueError(f"has more than {most_bytes >> 20} MB; is it the file that was meant?")
    return found


def content(path: Path, most_bytes: int) -> bytes:
    """Return the content of the regular file `path`, of at most `most_bytes` bytes. Raise UserError."""
    name = printable(path)
    try:
        return bounded(path, most_bytes)
    except FileNotFoundError as error:
        raise UserError(f"{name}: {no_such_file(path)}") from error
    except OSError as error:
        raise UserError(f"{name}: cannot be read: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:
        raise UserError(f"{name}: {error}") from error


def toml(path: Path) -> dict[str, Any]:
    """Return the tables of the TOML file `path`. Raise UserError with a one-line message."""
    name = printable(path)
    try:
        text = content(path, MOST_TOML).decode("utf-8-sig")
        if found := _LONG_KEY.search(text):
            line = text.count("\n", 0, found.start()) + 1
            raise ValueError(f"a key of more than {MOST_NAMES} names (at line {line})")
        tree = tomllib.loads(text)
    except RecursionError:
        raise UserError(f"{name}: not TOML: nested too deeply") from None
    except ValueError as error:
        raise UserError(f"{name}: not TOML: {_shown(error)}") from error
    _check_values(tree, name)
    return tree


def json_file(path: Path, most_bytes: int = MOST_JSON) -> Any:
    """Return the value of the JSON file `path`, of at most `most_bytes` bytes. Raise UserError."""
    try:
        value = json_value(content(path, most_bytes).decode("utf-8-sig"))
    except ValueError as error:
        raise UserError(f"{printable(path)}: not JSON: {_shown(error)}") from error
    _check_values(value, printable(path))
    return value


def table(path: Path, content: str, columns: Sequence[str] = (), origin: str = "") -> pl.DataFrame:
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


def json_value(text: bytes | str) -> Any:
    """Return the value of the JSON `text`. Raise ValueError if it is invalid, with a message that names no
    setting of Python."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError as error:
        if _of_digits(error):
            raise ValueError(TOO_MANY_DIGITS) from None
        raise


def _check_values(tree: Any, name: str) -> None:
    """Raise UserError if `tree`, the content of the file `name`, has a string with a NUL, an integer of more
    than 64 bits or too deep a nesting."""
    for way, value in _values(tree):
        if len(way) > MOST_DEPTH:
            raise UserError(f"{name}: nested too deeply")
        if isinstance(value, str) and _NO_TEXT.search(value):
            raise UserError(f"{name}: {_dotted(way)}: a text with a NUL, or half a character")
        if isinstance(value, int) and value not in _INTEGERS:
            raise UserError(f"{name}: {_dotted(way)}: an integer of more than 64 bits")


def _values(tree: Any) -> Iterator[tuple[tuple[object, ...], Any]]:
    """Yield every value in `tree`, tables and lists included, with the tuple of keys that leads to it. Yield
    every key of a table too, with the tuple of keys that leads to the table."""
    todo: list[tuple[tuple[object, ...], Any]] = [((), tree)]
    while todo:
        way, value = todo.pop()
        yield way, value
        if isinstance(value, dict):
            for key, inner in value.items():
                yield way, key
                todo.append(((*way, key), inner))
        elif isinstance(value, list):
            todo += [((*way, k), inner) for k, inner in enumerate(value)]


def _dotted(way: tuple[object, ...]) -> str:
    return printable(".".join(map(str, way)))[:100] or "a key"


def _shown(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is not UTF-8"
    return TOO_MANY_DIGITS if _of_digits(error) else printable(error)[:200]


def _of_digits(error: ValueError) -> bool:
    """Return whether `error` is the error of int() for too many digits. Its message names a setting of
    Python."""
    return "integer string conversion" in str(error)
