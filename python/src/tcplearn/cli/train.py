# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn train`, which trains a model for the C core on labelled data."""

from pathlib import Path
from typing import Annotated

import typer

from tcplearn.cli import options as o
from tcplearn.cli.common import Work, print_, progress_bar, say, write
from tcplearn.errors import UserError, need_extra, printable

train_app = typer.Typer(
    rich_markup_mode=None, help="Train a loss classifier or a model of the first RTO on your data."
)


@train_app.command("loss", short_help="Train a classifier of losses.")
def loss(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="DATA...", help="Parquet or CSV files with a labelled loss in each row."),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Write the model, its card and pictures here."),
    ],
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the model.")] = "wide",
    inputs: Annotated[
        str,
        typer.Option(metavar="LIST", help="Features, separated by commas; all scale-free ones by default."),
    ] = "",
    hidden: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Hidden units.")] = 64,
    starts: Annotated[
        int, typer.Option(metavar="N", min=1, help="Networks that share the hidden units.")
    ] = 2,
    penalty: Annotated[float, typer.Option(metavar="X", min=0, help="Penalty on squared weights.")] = 0.1,
    epochs: Annotated[int, typer.Option(metavar="N", min=1, help="Passes over the data.")] = 40,
    rate: Annotated[float, typer.Option(metavar="X", min=1e-6, max=1, help="Learning rate.")] = 0.003,
    batch: Annotated[int, typer.Option(metavar="N", min=1, help="Rows in a training step.")] = 256,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of every random draw.")] = 1,
    folds: Annotated[int, typer.Option(metavar="N", min=2, help="Folds of whole scenarios.")] = 10,
    most: Annotated[
        int, typer.Option(metavar="N", min=1, help="Maximum number of rows of a scenario.")
    ] = 120,
    events: Annotated[
        int, typer.Option(metavar="N", min=0, help="Also resample as in hwang2018: train on N events.")
    ] = 0,
    tests: Annotated[int, typer.Option(metavar="N", min=1, help="Events tested in each resampling.")] = 125,
    times: Annotated[int, typer.Option(metavar="N", min=1, help="Resamplings.")] = 30,
    vary: Annotated[bool, typer.Option("--vary", help="Also show the effect of each choice (slow).")] = False,
    history: Annotated[
        bool,
        typer.Option("--history", help="Also fit and test the weights of the classifier `history`."),
    ] = False,
    quiet: o.Quiet = False,
) -> Work:
    """Train a perceptron that gives the cause of a lost segment (congestion or random), and test it on whole
    scenarios that were left out of the training."""

    def work(command: str) -> None:
        need_extra("training", "tcplearn train")
        from tcplearn.learn import card, train
        from tcplearn.learn.perceptron import Choices
        from tcplearn.output import terminal

        given = tuple(word.strip() for word in inputs.split(",") if word.strip())
        choices = Choices(given, hidden, starts, penalty, epochs, rate, batch, seed)
        wanted = train.Options(name, choices, folds, most, events, tests, times, vary, history)
        with progress_bar(quiet) as progress:
            result = train.train(files, wanted, progress)
        written = card.write(result, output, command)
        table = card.table(card.shown(result), "Scenarios held out")
        print_(lambda console: terminal.alike([table], console))
        if not quiet:
            say(f"written: {', '.join(map(str, written))}")

    return work


@train_app.command("rtt", short_help="Train a model of the first RTO on round-trip times of hosts.")
def rtt(
    files: Annotated[
        list[Path], typer.Argument(metavar="DATA...", help="Rows of `tcplearn collect`, Parquet or CSV.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Write the model and its card here.")
    ],
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the model.")] = "own",
    miss: Annotated[
        float,
        typer.Option(
            metavar="X", min=0.0001, max=0.5, help="Intended share of spurious SYN retransmissions."
        ),
    ] = 0.005,
    folds: Annotated[
        int,
        typer.Option(metavar="N", min=2, help="Folds by destination; 2: train on half, test on the others."),
    ] = 10,
    floor_ms: Annotated[
        float, typer.Option(metavar="MS", min=1, max=1000, help="Minimum of the first RTO.")
    ] = 20,
    max_age_h: Annotated[
        float, typer.Option(metavar="HOURS", min=0, max=8760, help="Do not use older RTTs of a destination.")
    ] = 168,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of every random draw.")] = 1,
    quiet: o.Quiet = False,
) -> Work:
    """Train the RTT regression of Baddam et al. 2018 and a model of the first RTO, and test both on
    destinations that were left out of the training."""

    def work(command: str) -> None:
        need_extra("training", "tcplearn train")
        from rich.console import Group

        from tcplearn.learn.rtt import card, train
        from tcplearn.output import terminal

        if not (name.isidentifier() and name.isascii() and len(name) <= 40):
            raise UserError(f"--name {printable(name)[:40]}: not a name; give letters, digits and _")
        wanted = train.Options(name, miss, folds, round(floor_ms * 1000), round(max_age_h * 3.6e9), seed)
        with progress_bar(quiet) as progress:
            result = train.train(files, wanted, progress)
        written = card.write(result, output, command)
        write(f"{card.printed(result.coefficients, result.mape)}\n\n", None)
        shown = [card.bursts_table(result), *card.tables(result)]
        print_(lambda console: Group(*(terminal.titled(table, console) for table in shown)))
        if not quiet:
            say(f"written: {', '.join(map(str, written))}")

    return work
