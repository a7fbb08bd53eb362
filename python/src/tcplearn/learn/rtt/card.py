# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write the card of a first-RTO model, a Markdown page: data, the RTT regression, results."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tcplearn.learn.dataset import Ints
from tcplearn.learn.rtt import history, regression, trials
from tcplearn.learn.rtt import model as models
from tcplearn.learn.rtt.regression import Coefficients
from tcplearn.learn.rtt.train import Result
from tcplearn.learn.rtt.trials import Guess
from tcplearn.learn.scores import INTERVAL
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.output.markdown import markdown as markdown_of
from tcplearn.output.table import Cell, Table, headed, text
from tcplearn.output.template import filled


def printed(coefficients: Coefficients, mape: float) -> str:
    """Return the coefficients as the paper baddam2018 prints them. `mape` is a mean absolute error in %."""
    values = ", ".join(f"{value:.8f}" for value in coefficients.values())
    return f"Coefficients: [{values}]\nMAPE: {mape:.5f}"


def bursts_table(result: Result) -> Table:
    title = "Task of baddam2018: the mean RTT of a burst from its least and largest, destinations held out"
    return _errors("mean of a burst by", result.bursts, title)


def _errors(head: str, guesses: Iterable[Guess], title: str) -> Table:
    """Return a table with the prediction errors of `guesses`, whose names have the column head `head`."""
    out = Table(headed(head, "MAPE\n%", f"\n{INTERVAL} %", "mean abs. error\nms", words=(0, 2)), title=title)
    for guess in guesses:
        low, high = guess.interval(trials.percentage_errors)
        interval = text(f"{low:.2f} to {high:.2f}")
        out.rows.append([text(guess.name), _number(guess.mape), interval, _number(guess.mae_ms)])
    return out.mark_best((1, 3))


def _timers(guesses: Iterable[Guess], title: str) -> Table:
    out = Table(headed("first RTO by", "mean\nms", "missed\n%", f"\n{INTERVAL} %", words=(0, 3)), title=title)
    for guess in guesses:
        low, high = guess.interval(trials.misses)
        interval = text(f"{low * 100:.2f} to {high * 100:.2f}")
        out.rows.append([text(guess.name), _number(guess.mean_ms), _number(guess.miss_rate * 100), interval])
    return out


def _number(value: float) -> Cell:
    return Cell(f"{value:,.2f}", value)


def tables(result: Result) -> list[Table]:
    """Return tables on the new connections in `result`: of the errors of their predicted RTTs, and of the
    means of their first RTOs and the shares of RTTs above these. Destinations without an earlier measured RTT
    have tables of their own, and so have destinations with an earlier RTT, if there are any."""
    unseen = result.of_first()
    seen = np.setdiff1d(np.arange(len(result.rows)), unseen)
    never = "First RTO, destinations never seen, hops"

    def of(guesses: Sequence[Guess], chosen: Ints) -> Iterator[Guess]:
        return (guess.rows(chosen) for guess in guesses)

    out = [
        _errors("RTT by", of(result.rtts, seen), "RTT of handshakes with known destinations"),
        _errors("RTT by", of(result.rtts, unseen), "RTT of the first handshake with a destination"),
        _timers(of(result.timers, seen), "First RTO, known destinations"),
        _timers(of(result.timers, unseen), f"{never} known (passive opens)"),
        _timers(of(result.active, unseen), f"{never} not known (active opens)"),
    ]
    return out if len(seen) else [table for table in out if "known destinations" not in table.title]


def markdown(result: Result, command: str) -> str:
    steps = {step: result.model.steps[step] or {} for step in history.KNOWN}
    return filled(
        Path(__file__).with_name("card.md.j2"),
        result=result,
        options=result.options,
        table=result.table,
        model=result.model,
        command=command,
        printed=printed(result.coefficients, result.mape),
        published=regression.PUBLISHED,
        bursts=markdown_of(bursts_table(result)),
        tables=map(markdown_of, tables(result)),
        steps=[(step, ", ".join(f"{t} {v:g}" for t, v in terms.items())) for step, terms in steps.items()],
    )


def write(result: Result, folder: Path, command: str) -> list[Path]:
    """Write the model and its card (a Markdown page) to `folder`. Return their paths."""
    make_directory(folder)
    stem = f"rtt_{result.options.name}"
    model = replace(result.model, about={"command": command, **result.model.about})
    texts = {folder / f"{stem}.json": models.text(model), folder / f"{stem}.md": markdown(result, command)}
    for path, content in texts.items():
        write_atomically(path, content)
    return list(texts)
