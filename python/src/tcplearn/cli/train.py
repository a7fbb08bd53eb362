# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn train`: a model of the core from labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tcplearn.cli import options as o
from tcplearn.cli.common import Work, print_, progress_bar, say

train_app = typer.Typer(rich_markup_mode=None, help="Train a model of the core on labelled data.")


@train_app.callback()
def _root() -> None:
    pass


@train_app.command("loss")
def loss(
    files: Annotated[
        list[Path], typer.Argument(metavar="DATA...", help="Labelled losses: Parquet or CSV, a row a loss.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="For the model, its card and its pictures.")
    ],
    name: Annotated[str, typer.Option(metavar="NAME", help="Of the model.")] = "wide",
    inputs: Annotated[
        str,
        typer.Option(metavar="LIST", help="Features, commas between; none: all that are free of scale."),
    ] = "",
    hidden: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Hidden units.")] = 64,
    starts: Annotated[
        int, typer.Option(metavar="N", min=1, help="Networks that the hidden units are shared by.")
    ] = 2,
    penalty: Annotated[float, typer.Option(metavar="X", min=0, help="On squared weights.")] = 0.1,
    epochs: Annotated[int, typer.Option(metavar="N", min=1, help="Passes over the data.")] = 40,
    rate: Annotated[float, typer.Option(metavar="X", min=1e-6, max=1, help="Learning rate.")] = 0.003,
    batch: Annotated[int, typer.Option(metavar="N", min=1, help="Rows of a step.")] = 256,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of every draw.")] = 1,
    folds: Annotated[int, typer.Option(metavar="N", min=2, help="Folds by scenario.")] = 10,
    most: Annotated[int, typer.Option(metavar="N", min=1, help="Rows of a scenario.")] = 120,
    events: Annotated[
        int, typer.Option(metavar="N", min=0, help="Resample as hwang2018 did: train on so many events.")
    ] = 0,
    tests: Annotated[int, typer.Option(metavar="N", min=1, help="Events tested of each resampling.")] = 125,
    times: Annotated[int, typer.Option(metavar="N", min=1, help="Resamplings.")] = 30,
    vary: Annotated[bool, typer.Option("--vary", help="Show also what each choice matters: slow.")] = False,
    quiet: o.Quiet = False,
) -> Work:
    """A perceptron that gives the cause of a loss, tried on whole scenarios held out."""

    def work(command: str) -> None:
        from tcplearn.learn import card, train
        from tcplearn.learn.perceptron import Choices
        from tcplearn.output import terminal

        given = tuple(word.strip() for word in inputs.split(",") if word.strip())
        choices = Choices(given, hidden, starts, penalty, epochs, rate, batch, seed)
        wanted = train.Options(name, choices, folds, most, events, tests, times, vary)
        with progress_bar(quiet) as progress:
            result = train.train(files, wanted, progress)
        written = train.write(result, output, command)
        table = card.table(card.shown(result), "Scenarios held out")
        print_(lambda console: terminal.alike([table], console))
        if not quiet:
            say(f"written: {', '.join(map(str, written))}")

    return work
