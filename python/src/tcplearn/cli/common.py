# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Handles input, output and messages for all subcommands. Slow modules are imported only when needed."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcplearn import errors
from tcplearn.checkout import no_such_file
from tcplearn.cli import options as o
from tcplearn.cli.options import FormatName
from tcplearn.errors import FailedError, UserError, printable

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from tcplearn.jobs import Place
    from tcplearn.output.rows import Record
    from tcplearn.replay.trace_jobs import Where

_PAGES = (".html", ".htm")
say = errors.say
CLOSED = "standard output: is closed; open it, or write to a file with -o"

#: The work of a subcommand: a function that takes the command line's text and may return an exit code. It is
#: called outside of typer, because typer would handle broken pipes, interrupts and system errors before this
#: program can.
Work = Callable[[str], int | None]
Add = Callable[[Iterable["Record"]], None]


def check_readable(paths: Iterable[Path]) -> None:
    for path in paths:
        if str(path) != "-":
            _check_readable(path, printable(path))
        elif sys.stdin.isatty():
            raise UserError("-: standard input is a terminal; send a trace into it, or name a file")


def _check_readable(path: Path, name: str) -> None:
    try:
        if path.is_char_device():
            raise UserError(f"{name}: is a device, which may have no end; name a file")
        if path.is_dir():
            raise UserError(f"{name}: is a directory; name the captures in it")
        if not path.exists() or path.is_file():  # opening a pipe would consume its first bytes
            with path.open("rb"):
                pass
    except FileNotFoundError as error:
        raise UserError(f"{name}: {no_such_file(path)}") from error
    except OSError as error:
        raise UserError(
            f"{name}: cannot read: {(error.strerror or str(error)).lower()}; check its owner"
        ) from error


def _is_terminal(output: Path | None) -> bool:
    """Return whether `output` (None: standard output) is a terminal, as a file such as /dev/tty is."""
    if output is None:
        return sys.stdout.isatty()
    with contextlib.suppress(OSError):
        if output.is_char_device():
            with output.open("wb") as file:
                return file.isatty()
    return False


def warn(lines: Iterable[str]) -> None:
    for line in lines:
        say(f"warning: {line}")


def warn_of_repeats(paths: Sequence[Path]) -> None:
    for i, path in enumerate(paths):
        if any(_same(path, other) for other in paths[:i]):
            say(f"warning: {printable(path)}: named twice; it counts once")


def _same(one: Path, other: Path) -> bool:
    return one.absolute() == other.absolute() or (one.exists() and other.exists() and one.samefile(other))


@dataclass(frozen=True)
class Outputs:
    """The files to which a subcommand writes its results, and their format. The name of the output file gives
    the format, unless a format other than the table is chosen."""

    format: o.Format = FormatName.table
    output: o.Output = None
    report: o.Report = None
    pictures: o.Pictures = None
    quiet: o.Quiet = False

    def __post_init__(self) -> None:
        ending = self.output.suffix.lower().removeprefix(".") if self.output else ""
        if self.format is FormatName.table and ending in set(FormatName) - {FormatName.table}:
            object.__setattr__(self, "format", FormatName(ending))

    def check(self, sources: Sequence[Path] = ()) -> None:
        """Raise UserError or FailedError if an output is one of the inputs `sources` or cannot be written."""
        if self.output is None and not sys.stdout.writable():
            raise FailedError(CLOSED)
        if self.format is FormatName.parquet and _is_terminal(self.output):
            raise UserError("Parquet is not for a terminal; add -o FILE or send it into a pipe")
        if self.report and str(self.report) == "-":
            raise UserError("--report -: a report goes to a file; name one, such as report.html")
        if self.output and self.report and _same(self.output, self.report):
            name = printable(self.output)
            raise UserError(f"{name}: named for the results and for the report; give two files")
        for option, wanted in (("--report", self.report), ("--pictures", self.pictures)):
            if wanted:
                errors.need_extra("pictures", option)
        for path in filter(None, (self.output, self.report)):
            for source in sources:
                if path.is_file() and _same(path, source):
                    raise UserError(f"{printable(path)}: is also an input; write to another file")
            _files().check_writable(path)
        if self.report and self.report.suffix.lower() not in _PAGES and not self.report.is_char_device():
            raise UserError(f"--report {printable(self.report)}: a page of HTML; name it report.html")
        if self.pictures:
            _files().make_directory(self.pictures)

    def announce(self) -> None:
        """Print the paths of the report and of the folder of pictures, if they were written."""
        if not self.quiet:
            for what, path in (("report", self.report), ("pictures", self.pictures)):
                if path:
                    print(f"{what}: {printable(path)}", file=sys.stderr, flush=True)

    def write(
        self,
        render: Callable[[Console], Any],
        tidy: Callable[[], Iterable[Record]],
        made_by: Mapping[str, str],
        wide: Sequence[Record] | None = None,
    ) -> None:
        """Write the results: a table from `render`, Parquet of the rows from `tidy`, JSON and CSV of the rows
        `wide` or, if None, those from `tidy`. `made_by` says how they were made (version, commit,
        command)."""
        from tcplearn.output import rows as kinds

        if self.format is FormatName.table:
            print_(render, self.output)
        elif wide is None or self.format is FormatName.parquet:
            with self.rows(made_by, list(kinds.TIDY)) as add:
                add(tidy())
        else:
            stamp = [k for k in kinds.STAMP if k in made_by]
            with self.rows(made_by, [*(key for row in wide for key in row), *stamp]) as add:
                add(kinds.stamped(wide, made_by))
        self.announce()

    @contextlib.contextmanager
    def rows(self, made_by: Mapping[str, str], columns: Sequence[str]) -> Iterator[Add]:
        """Yield a function that adds rows to the output, of any format but a table. The file gets its final
        name only after everything succeeded. `columns` are those of a CSV file."""
        from tcplearn.output import rows as kinds

        with _files().Pending(self.output) as pending:
            writer: kinds.Writer
            if self.format is FormatName.parquet:
                writer = kinds.ParquetWriter(pending.file, made_by)
            elif self.format is FormatName.csv:
                writer = kinds.CsvWriter(pending.write, columns)
            else:
                writer = kinds.JsonWriter(pending.write)
            yield writer.add
            writer.end()
            pending.commit()

    def write_parquet(self, table: pl.DataFrame) -> None:
        packed = io.BytesIO()
        table.write_parquet(packed)
        write(packed.getvalue(), self.output)


def _files() -> Any:
    from tcplearn.output import files

    return files


def write(content: str | bytes, output: Path | None) -> None:
    """Write `content` to the file `output` (None: standard output), completely or not at all."""
    if output:
        _files().write_atomically(output, content)
        return
    with _files().naming_full_output():
        if isinstance(content, bytes):
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
        else:
            sys.stdout.write(content)


def print_lines(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def flush() -> None:
    """Flush standard output. Raise FullDiskError if it goes to a full disk."""
    try:
        sys.stdout.flush()
    except OSError as error:
        with _files().naming_full_output():
            raise error


def print_(render: Callable[[Console], Any], output: Path | None = None) -> None:
    """Print what `render` returns: on a terminal in colour and fitted to its width, else as plain text."""
    if output is None and sys.stdout.isatty():
        from rich.console import Console

        console = Console(highlight=False)
        console.print(render(console))
        return
    from tcplearn.output import terminal

    write(terminal.to_text(render), output)


@contextlib.contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[float, str], None] | None]:
    """Yield a function that sets a progress bar to a share (0 to 1) and a text, or None if nobody would see
    it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    text = TextColumn("{task.description}", markup=False)
    columns = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), text)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda share, text: bar.update(task, completed=share, description=printable(text))


@dataclass(frozen=True)
class Processors:
    """The options that say where a subcommand's jobs run: on this machine, Dask or Slurm."""

    jobs: o.Jobs = None
    scheduler: o.Scheduler = ""
    slurm: o.Slurm = 0

    def place(self) -> Place:
        from tcplearn.jobs import Place

        return Place(self.jobs or 0, self.scheduler, self.slurm)


@dataclass(frozen=True)
class Workers(Processors):
    """The options that say where a subcommand's jobs run, and whether stored results are used."""

    fresh: o.Fresh = False

    def where(self) -> Where:
        from tcplearn.replay.trace_jobs import Where

        return Where(self.place(), self.fresh, say)
