# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn train`, which trains a model for the C core on labelled data."""

from pathlib import Path
from typing import Annotated

from tcplearn.cli import options as o
from tcplearn.cli.common import print_, progress_bar, say, write
from tcplearn.cli.groups import group
from tcplearn.cli.options import argument, flag, option
from tcplearn.errors import UserError, need_extra, printable


def loss(
    command: str,
    files: Annotated[
        list[Path], argument("DATA...", "Parquet or CSV files with a labelled loss in each row.")
    ],
    output: Annotated[Path, option("DIR", "Write the model, its card and pictures here.", "--output", "-o")],
    name: Annotated[str, option("NAME", "Name of the model.")] = "wide",
    inputs: Annotated[
        str, option("LIST", "Features, separated by commas; all scale-free ones by default.")
    ] = "",
    hidden: Annotated[int, option("N", "Hidden units.", min=1, max=64)] = 64,
    starts: Annotated[int, option("N", "Networks that share the hidden units.", min=1)] = 2,
    penalty: Annotated[float, option("X", "Penalty on squared weights.", min=0)] = 0.1,
    epochs: Annotated[int, option("N", "Passes over the data.", min=1)] = 40,
    rate: Annotated[float, option("X", "Learning rate.", min=1e-6, max=1)] = 0.003,
    batch: Annotated[int, option("N", "Rows in a training step.", min=1)] = 256,
    seed: Annotated[int, option("N", "Seed of every random draw.", min=0)] = 1,
    folds: Annotated[int, option("N", "Folds of whole scenarios.", min=2)] = 10,
    most: Annotated[int, option("N", "Maximum number of rows of a scenario.", min=1)] = 120,
    events: Annotated[int, option("N", "Also resample as in hwang2018: train on N events.", min=0)] = 0,
    tests: Annotated[int, option("N", "Events tested in each resampling.", min=1)] = 125,
    times: Annotated[int, option("N", "Resamplings.", min=1)] = 30,
    vary: Annotated[bool, flag("Also show the effect of each choice (slow).", "--vary")] = False,
    history: Annotated[
        bool, flag("Also fit and test the weights of the classifier `history`.", "--history")
    ] = False,
    quiet: o.Quiet = False,
) -> None:
    """Train a perceptron that gives the cause of a lost segment (congestion or random), and test it on whole
    scenarios that were left out of the training."""
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


def rtt(
    command: str,
    files: Annotated[list[Path], argument("DATA...", "Rows of `tcplearn collect`, Parquet or CSV.")],
    output: Annotated[Path, option("DIR", "Write the model and its card here.", "--output", "-o")],
    name: Annotated[str, option("NAME", "Name of the model.")] = "own",
    miss: Annotated[
        float, option("X", "Intended share of spurious SYN retransmissions.", min=0.0001, max=0.5)
    ] = 0.005,
    folds: Annotated[
        int, option("N", "Folds by destination; 2: train on half, test on the others.", min=2)
    ] = 10,
    floor_ms: Annotated[float, option("MS", "Minimum of the first RTO.", min=1, max=1000)] = 20,
    max_age_h: Annotated[
        float, option("HOURS", "Do not use older RTTs of a destination.", min=0, max=8760)
    ] = 168,
    seed: Annotated[int, option("N", "Seed of every random draw.", min=0)] = 1,
    quiet: o.Quiet = False,
) -> None:
    """Train the RTT regression of Baddam et al. 2018 and a model of the first RTO, and test both on
    destinations that were left out of the training."""
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


train_app = group(
    "Train a loss classifier or a model of the first RTO on your data.",
    {
        "loss": (loss, "Train a classifier of losses."),
        "rtt": (rtt, "Train a model of the first RTO on round-trip times of hosts."),
    },
)
