# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The command line. Nothing heavy is imported before it is needed: --help must be quick."""

from __future__ import annotations

import contextlib
import enum
import ipaddress
import math
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.exceptions import TyperException

from tcplearn.errors import FailedError, UserError, did_you_mean, is_trace_error, printable

if TYPE_CHECKING:
    from rich.console import Console

    from tcplearn.results import Replay

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_PIPE = 1, 2, 130, 141

#: A command parses and hands back its work, which runs outside of typer: its own handling of
#: broken pipes, interrupts and errors of the system must not stand before ours.
#: It is told the command line, for the record in what it writes.
Work = Callable[[str], None]

app = typer.Typer(
    name="tcplearn",
    help="Compare RTT estimators and retransmission timers on your own captures.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
estimators_app = typer.Typer(
    rich_markup_mode=None, help="List the estimators, or one estimator's parameters."
)
app.add_typer(estimators_app, name="estimators")


class Model(enum.StrEnum):
    double = "double"
    fixed = "fixed"


class Format(enum.StrEnum):
    table = "table"
    json = "json"
    csv = "csv"
    parquet = "parquet"


def version() -> str:
    import tcplearn

    return tcplearn.__version__


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"tcplearn {version()}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and leave."),
    ] = False,
) -> None:
    pass


@app.command("replay")
def _replay(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Captures or tables of samples.")],
    estimator: Annotated[
        list[str] | None,
        typer.Option(
            "--estimator",
            "-e",
            metavar="SPEC",
            help="NAME[/PRESET][:KEY=VALUE,...], may be repeated; `tcplearn estimators` lists them.",
        ),
    ] = None,
    model: Annotated[Model, typer.Option(help="Number model that the estimators run in.")] = Model.double,
    sender: Annotated[
        str,
        typer.Option(
            metavar="WHO",
            help="Whose timers are replayed: auto, near, far, client, server, both or ADDR[:PORT].",
        ),
    ] = "auto",
    every_ack: Annotated[
        bool, typer.Option("--every-ack", help="Time every advancing ACK, also inside offloaded segments.")
    ] = False,
    min_samples: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Flows with fewer samples are not judged (30).", show_default=False
        ),
    ] = None,
    min_rto_ms: Annotated[
        float,
        typer.Option(
            metavar="X", min=0, max=4_000_000, help="A floor put on every RTO alike.", show_default=False
        ),
    ] = 0.0,
    flow: Annotated[
        str, typer.Option(metavar="TEXT", help="Only flows whose name contains TEXT.", show_default=False)
    ] = "",
    format: Annotated[Format, typer.Option(help="How the results are written.")] = Format.table,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the results here, not to the screen."),
    ] = None,
    total: Annotated[
        bool, typer.Option("--total", help="Add the totals over all flows to the results.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Write a report with pictures: one file, works offline."),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write each picture of the report as PNG and SVG.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress, no notes; warnings stay.")
    ] = False,
) -> Work:
    """Replay captures through RTT estimators and retransmission timers, and compare them."""

    def work(command: str) -> None:
        if format is Format.parquet and output is None and sys.stdout.isatty():
            raise UserError("Parquet is not for a terminal; add -o FILE or send it into a pipe")
        for path in files:
            _check_readable(path)
        for path in filter(None, (output, report)):
            _output().check_writable(path)
        if pictures:
            _output().make_directory(pictures)
        if not math.isfinite(min_rto_ms):
            raise UserError("--min-rto-ms: not a number; give milliseconds")

        from tcplearn import replay
        from tcplearn.results import TOO_SHORT

        options = replay.Options(
            estimators=tuple(dict.fromkeys(estimator or ())),
            model=model.value,
            sender=checked_sender(sender),
            every_ack=every_ack,
            min_samples=TOO_SHORT if min_samples is None else min_samples,
            min_rto_us=round(min_rto_ms * 1000),
            flow=flow,
        )
        with _progress(quiet) as progress:
            result: Replay = replay.run(list(files), options, progress)
            result.made_by["command"] = command  # quoted as a shell wants it
            if report or pictures:
                from tcplearn import report as reports

                if report:
                    progress and progress(1.0, "writing the report")
                    reports.write_html(result, report)
                if pictures:
                    progress and progress(1.0, "drawing pictures")
                    reports.write_pictures(result, pictures)
        for warning in result.warnings:
            _say(f"warning: {warning}")
        _write(result, format, output, total=total, quiet=quiet)

    return work


@app.command("simulate")
def _simulate(
    files: Annotated[list[Path], typer.Argument(metavar="SCENARIO...", help="Scenario files (TOML).")],
    profile: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="smoke: seconds. quick: two cores for a while. full: the file's own grid."
        ),
    ] = "quick",
    fresh: Annotated[bool, typer.Option("--fresh", help="Simulate again what is on disk already.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Say how many runs and CPU hours, and leave.")] = False,
    format: Annotated[Format, typer.Option(help="How the results are written.")] = Format.table,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the results here, not to the screen."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Keep finished runs here, not in the user's cache.", show_default=False
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", metavar="N", min=0, help="Runs at a time on this machine; 0: its cores."
        ),
    ] = 0,
    scheduler: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster.", show_default=False)
    ] = "",
    slurm: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Run as N Slurm jobs, by dask-jobqueue.", show_default=False),
    ] = 0,
    flows: Annotated[bool, typer.Option("--flows", help="Add the rows of each flow.")] = False,
    cost: Annotated[bool, typer.Option("--cost", help="Add CPU time, events and memory.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Results and errors only.")] = False,
) -> Work:
    """Simulate whole networks in ns-3 under each estimator: a sweep over loads, variants and seeds."""

    def work(_: str) -> None:
        from tcplearn.simulate import command

        options = command.Options(
            profile, fresh, plan, format.value, output, out, jobs, scheduler, slurm, flows, cost, quiet
        )
        command.simulate(files, options, _progress, _say)

    return work


@app.command("papers")
def _papers(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="nunes2014")],
    profile: Annotated[
        str, typer.Option(metavar="NAME", help="Whose runs are drawn: as of `tcplearn simulate`.")
    ] = "quick",
    scenarios: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The paper's scenario files.", show_default="papers/PAPER"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where runs are kept.", show_default="the user's cache")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Write here.", show_default="out/papers/PAPER"),
    ] = None,
) -> Work:
    """Draw a paper's figures from the runs that exist, beside the numbers it prints."""

    def work(_: str) -> None:
        if paper != "nunes2014":
            raise UserError(f"no figures of {paper!r}; there is nunes2014")
        from tcplearn.papers import nunes2014
        from tcplearn.simulate import engine
        from tcplearn.simulate.store import Store

        folder = scenarios or engine.ROOT / "papers" / paper
        store = Store(out or engine.cache_folder())
        _say(nunes2014.write(folder, profile, store, output or Path("out") / "papers" / paper))

    return work


@estimators_app.callback(invoke_without_command=True)
def _estimators(context: typer.Context) -> Work | None:
    if context.invoked_subcommand is not None:
        return None

    def work(_: str) -> None:
        from rich.table import Table
        from rich.text import Text

        from tcplearn import estimators

        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, style="bold")
        table.add_column()
        for info in estimators.available():
            table.add_row(Text(info.name), Text(info.summary))
        _print(lambda _: table)

    return work


@estimators_app.command("show")
def _show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `tcplearn estimators` lists it.")],
) -> Work:
    """List an estimator's parameters: key, default, range and meaning."""

    def work(_: str) -> None:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        info = _find(name)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for head in ("key", "default", "range"):
            table.add_column(head, no_wrap=head != "range")
        table.add_column("meaning")
        for p in info.params:
            table.add_row(*map(Text, (p.key, _default(p), _range(p), p.text)))
        about = Text.assemble((info.name, "bold"), f": {info.summary}")
        parts = [about, Text(""), table] if info.params else [about, Text("It has no parameters.")]
        _print(lambda _: Group(*parts))

    return work


def checked_sender(sender: str) -> str:
    if sender in ("auto", "near", "far", "client", "server", "both"):
        return sender
    address, port = sender, "1"
    if sender.startswith("["):
        address, bracket, rest = sender[1:].partition("]")
        port = rest[1:] if rest.startswith(":") else "1" if bracket and not rest else ""
    elif sender.count(":") == 1:
        address, _, port = sender.partition(":")
    try:
        ipaddress.ip_address(address)
        if port.isdecimal() and 0 < int(port) < 65536:
            return sender
    except ValueError:
        pass
    raise UserError(
        f"--sender {sender}: not a sender; give auto, near, far, client, server, both or ADDR[:PORT] "
        "(IPv6 with a port: [ADDR]:PORT)"
    )


def _find(name: str) -> Any:
    from tcplearn import estimators

    known = {info.name: info for info in estimators.available()}
    if name not in known:
        todo = did_you_mean(name, known, "`tcplearn estimators` lists them")
        raise UserError(f"no estimator is called {name!r}; {todo}")
    return known[name]


def _choices(param: Any) -> list[str]:
    choices = param.choices or ()
    return choices.split("|") if isinstance(choices, str) else list(choices)


def _number(value: Any) -> str:
    if isinstance(value, (int, float)):
        return str(int(value)) if float(value).is_integer() else f"{value:.6g}"
    return str(value)


def _default(param: Any) -> str:
    choices = _choices(param)
    if choices and not isinstance(param.default, str):
        return choices[int(param.default)]
    return _number(param.default)


def _range(param: Any) -> str:
    if not math.isfinite(param.low) and not math.isfinite(param.high):
        return "any number"
    return " | ".join(_choices(param)) or f"{_number(param.low)} to {_number(param.high)}"


def _check_readable(path: Path) -> None:
    name = printable(path)
    try:
        if path.is_dir():
            raise UserError(f"{name}: is a directory; name the captures in it")
        with path.open("rb"):
            pass
    except FileNotFoundError as error:
        raise UserError(f"{name}: no such file; check the path") from error
    except OSError as error:
        raise UserError(
            f"{name}: cannot read: {(error.strerror or str(error)).lower()}; check its owner"
        ) from error


def _output() -> Any:
    from tcplearn import output

    return output


def _write(result: Replay, format: Format, output: Path | None, *, total: bool, quiet: bool) -> None:
    rows = [*result.rows, *(result.totals if total else ())]
    match format:
        case Format.table:
            from tcplearn import tables

            _print(lambda console: tables.document(result, console, quiet=quiet, total=total), output)
            return
        case Format.json:
            content: str | bytes = _output().to_json(rows)
        case Format.csv:
            content = _output().to_csv(rows)
        case Format.parquet:
            content = _output().to_parquet(rows, result.made_by)
    if output:
        _output().write_atomically(output, content)
    elif isinstance(content, bytes):
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
    else:
        sys.stdout.write(content)


def _print(render: Callable[[Console], Any], output: Path | None = None) -> None:
    """To the terminal in colour and to its width; to a pipe or a file plain and at full width."""
    if output is None and sys.stdout.isatty():
        from rich.console import Console

        console = Console(highlight=False)
        console.print(render(console))
        return
    from tcplearn import tables

    text = tables.to_text(render)
    if output:
        _output().write_atomically(output, text)
    else:
        sys.stdout.write(text)


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[float, str], None] | None]:
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


def _say(message: str) -> None:
    with contextlib.suppress(OSError):
        print(f"tcplearn: {printable(message)}", file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run, and answer the exit code: 0, 1 failed, 2 bad usage or bad input, 130 interrupted."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        work = app(arguments or ["--help"], prog_name="tcplearn", standalone_mode=False)
        if isinstance(work, int):  # --help and --version
            return work
        if callable(work):
            work(shlex.join(["tcplearn", *arguments]))
        sys.stdout.flush()
        return 0
    except UserError as error:
        _say(str(error))
        return error.exit_code
    except TyperException as error:
        return _usage(error, arguments)
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # head has seen enough; nothing may be left to flush at exit
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PIPE
    except MemoryError:
        _say("out of memory; choose fewer flows with --flow, or fewer estimators with -e")
        return EXIT_FAILED
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _say(f"{where}{(error.strerror or str(error)).lower()}")
        missing = isinstance(error, (FileNotFoundError, PermissionError, IsADirectoryError))
        return EXIT_USAGE if missing and error.filename else EXIT_FAILED
    except ValueError as error:
        if not is_trace_error(error):
            raise
        _say(str(error))
        return EXIT_USAGE


def _usage(error: TyperException, arguments: Sequence[str]) -> int:
    message = error.format_message().replace("Value error, ", "").replace("Input should be", "it should be")
    command = next((a for a in arguments if a in ("replay", "estimators", "simulate", "papers")), "")
    first = message.strip().rstrip(".")
    _say(f"{first[:1].lower()}{first[1:]}; see `{' '.join(filter(None, ('tcplearn', command, '--help')))}`")
    return EXIT_USAGE


__all__ = ["FailedError", "UserError", "app", "main"]
