# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the commands share: how they read, write and tell. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import contextlib
import enum
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcplearn.errors import UserError, printable

if TYPE_CHECKING:
    from rich.console import Console

#: A command parses and hands back its work, which runs outside of typer: its own handling of
#: broken pipes, interrupts and errors of the system must not stand before ours.
#: It is told the command line, for the record in what it writes.
Work = Callable[[str], None]


class Arithmetic(enum.StrEnum):
    double = "double"
    fixed = "fixed"


class Format(enum.StrEnum):
    table = "table"
    json = "json"
    csv = "csv"
    parquet = "parquet"


def check_readable(path: Path) -> None:
    name = printable(path)
    if str(path) == "-":  # standard input
        return
    try:
        if path.is_dir():
            raise UserError(f"{name}: is a directory; name the captures in it")
        if not path.exists() or path.is_file():  # a pipe has one beginning, and it is not for this check
            with path.open("rb"):
                pass
    except FileNotFoundError as error:
        raise UserError(f"{name}: no such file; check the path") from error
    except OSError as error:
        raise UserError(
            f"{name}: cannot read: {(error.strerror or str(error)).lower()}; check its owner"
        ) from error


def _same(one: Path, other: Path) -> bool:
    return one.absolute() == other.absolute() or (one.exists() and other.exists() and one.samefile(other))


def check_outputs(
    format: Format,
    output: Path | None,
    report: Path | None,
    pictures: Path | None,
    sources: Sequence[Path] = (),
) -> None:
    """Refuse before the long work, not after it."""
    if format is Format.parquet and output is None and sys.stdout.isatty():
        raise UserError("Parquet is not for a terminal; add -o FILE or send it into a pipe")
    if report and str(report) == "-":
        raise UserError("--report -: a page is for a file; name one, as report.html")
    if output and report and _same(output, report):
        raise UserError(f"{printable(output)}: named for the results and for the report; give two files")
    for path in filter(None, (output, report)):
        for source in sources:
            if path.is_file() and _same(path, source):
                raise UserError(f"{printable(path)}: is what is read; write to another file")
        _output().check_writable(path)
    if pictures:
        _output().make_directory(pictures)


def _output() -> Any:
    from tcplearn.output import files as output

    return output


def write(content: str | bytes, output: Path | None) -> None:
    """To the file, whole or not at all, or to the screen."""
    if output:
        _output().write_atomically(output, content)
    elif isinstance(content, bytes):
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
    else:
        sys.stdout.write(content)


def write_records(
    records: Sequence[dict[str, Any]],
    format: Format,
    output: Path | None,
    keys: Sequence[str],
    made_by: Mapping[str, str],
) -> None:
    from tcplearn.output import rows as kinds

    match format:
        case Format.csv:
            write(kinds.to_csv(records, made_by), output)
        case Format.parquet:
            write(kinds.to_parquet(records, keys, made_by), output)
        case _:
            write(kinds.to_json(records, made_by), output)


def print_(render: Callable[[Console], Any], output: Path | None = None) -> None:
    """To the terminal in colour and to its width; to a pipe or a file plain and at full width."""
    if output is None and sys.stdout.isatty():
        from rich.console import Console

        console = Console(highlight=False)
        console.print(render(console))
        return
    from tcplearn.replay import tables

    write(tables.to_text(render), output)


@contextlib.contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[float, str], None] | None]:
    """A bar on a terminal's standard error, silence elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda share, text: bar.update(task, completed=share, description=printable(text))


def processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def say(message: str) -> None:
    with contextlib.suppress(OSError):
        print(f"tcplearn: {printable(message)}", file=sys.stderr, flush=True)
