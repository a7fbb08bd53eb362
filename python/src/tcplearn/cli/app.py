# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The command line's entry point. It imports slow modules only for subcommands that need them."""

import io
import shlex
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperGroup
from typer.exceptions import TyperException

from tcplearn.cli import completion, streams
from tcplearn.cli.algorithms import algorithms_command
from tcplearn.cli.causes import causes
from tcplearn.cli.collect import collect
from tcplearn.cli.common import CLOSED, flush, say
from tcplearn.cli.emulate import emulate
from tcplearn.cli.experiments import experiments
from tcplearn.cli.explain import explain
from tcplearn.cli.first_rto import first_rto_app
from tcplearn.cli.groups import Commands, add
from tcplearn.cli.lab import lab_app
from tcplearn.cli.live import live_app
from tcplearn.cli.module import module_app
from tcplearn.cli.replay import replay, watch
from tcplearn.cli.resend import resend
from tcplearn.cli.simulate import simulate
from tcplearn.cli.study import study_app
from tcplearn.cli.suite import suite
from tcplearn.cli.train import train_app
from tcplearn.errors import UserError, is_trace_error
from tcplearn.interrupts import as_on_interrupt

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_PIPE = 1, 2, 130, 141

#: Each subcommand ("verb") with its line in `tcplearn --help`, by the heading that it is listed below.
GROUPS: dict[str, Commands] = {
    "Captures and lists of round-trip times": {
        "explain": (explain, "Say why the requests in captures were slow."),
        "replay": (replay, "Compare estimators and timers on captures."),
        "suite": (suite, "Compare estimators and timers on all traces in a directory."),
        "watch": (watch, "Compare estimators and timers on an interface's traffic."),
        "resend": (resend, "Compare resend policies on the RTTs of captures."),
        "causes": (causes, "Name the cause of each fast retransmit of captures."),
        "study": (study_app, "Study an estimator's parameters on your traces."),
    },
    "This machine's kernel": {
        "live": (live_app, "Shorten retransmission timers on an unmodified kernel."),
        "first-rto": (first_rto_app, "Set the first RTO of new connections from a model."),
        "module": (module_app, "Install, show or remove the kernel module."),
    },
    "Experiments": {
        "simulate": (simulate, "Simulate whole networks in ns-3 under each estimator."),
        "lab": (lab_app, "Run real Linux TCP over emulated networks."),
        "emulate": (emulate, "Run a command over an emulated link, on this kernel."),
        "experiments": (experiments, "Do an experiment's runs, and write pages from them."),
    },
    "Algorithms and models": {
        "algorithms": (algorithms_command, "List algorithms, or show an algorithm's parameters."),
        "collect": (collect, "Measure round-trip times and hops of hosts, by TCP."),
        "train": (train_app, "Train a loss classifier or a model of the first RTO."),
    },
}
VERBS = {name: verb for group in GROUPS.values() for name, verb in group.items()}


def _no_type(_self: TyperArgument, ctx: Any) -> None:
    """Replace Typer's text for an argument's type, which would print `FILE... <list[Path]>` in help texts. An
    argument's metavar says already what it is."""


TyperArgument.display_type_rich = _no_type  # type: ignore[assignment,method-assign]


class _InGroups(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return [*VERBS]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, VERBS))
        for heading, group in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in group.items()])


app = typer.Typer(
    name="tcplearn",
    cls=_InGroups,
    help="Say why requests are slow, and which setting of the timer makes them faster.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
add(app, VERBS)


def version() -> str:
    import tcplearn

    return tcplearn.__version__


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"tcplearn {version()}")
        raise typer.Exit


def _show_files(wanted: bool) -> None:
    if wanted:
        from tcplearn.checkout import ROOT

        print(ROOT)
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
    __: Annotated[
        bool,
        typer.Option(
            "--files", callback=_show_files, is_eager=True, help="Print the folder of examples and sources."
        ),
    ] = False,
) -> None:
    pass


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: this process's) and return its exit code: 0 for success, 1 if
    the work failed, 2 for bad usage or input, 130 if interrupted, 141 if nobody reads the output's pipe."""
    streams.prepare()
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
    finally:
        streams.settle()


def _run(arguments: list[str]) -> int:
    if completion.asked():
        return completion.answer(app)
    try:
        work = app(arguments or ["--help"], prog_name="tcplearn", standalone_mode=False)
        if callable(work):
            with as_on_interrupt():
                from tcplearn.output import temporary

                temporary.clear()
                # a file's name may have bytes that are not valid UTF-8
                work = work(shlex.join(["tcplearn", *arguments]).encode(errors="replace").decode())
        flush()
        return work if isinstance(work, int) else 0  # --help, --version and `live run` give an int
    except UserError as error:
        say(str(error))
        return error.exit_code
    except TyperException as error:
        return _usage(error, arguments)
    except (KeyboardInterrupt, typer.Abort) as error:
        say(str(error) or "stopped")
        return EXIT_INTERRUPTED
    except (BrokenPipeError, SystemExit):  # the reader has exited; for --help typer raises SystemExit
        return EXIT_PIPE
    except MemoryError:
        say("out of memory; choose fewer flows with --flow, or fewer estimators with -e")
        return EXIT_FAILED
    except OSError as error:
        if isinstance(error, io.UnsupportedOperation) and not sys.stdout.writable():
            say(CLOSED)
            return EXIT_FAILED
        where = f"{error.filename}: " if error.filename else ""
        say(f"{where}{(error.strerror or str(error)).lower()}")
        missing = isinstance(error, (FileNotFoundError, PermissionError, IsADirectoryError))
        return EXIT_USAGE if missing and error.filename else EXIT_FAILED
    except ValueError as error:
        if not is_trace_error(error):
            raise
        say(str(error))
        return EXIT_USAGE


def _usage(error: TyperException, arguments: Sequence[str]) -> int:
    message = error.format_message().replace("Value error, ", "").replace("Input should be", "it should be")
    context = getattr(error, "ctx", None)
    path = context.command_path.split()[1:] if context else [a for a in arguments if a in VERBS][:1]
    first = message.strip().rstrip(".")
    say(f"{first[:1].lower()}{first[1:]}; see `{' '.join(('tcplearn', *path, '--help'))}`")
    return EXIT_USAGE
