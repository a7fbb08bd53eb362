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
from tcplearn.output.markdown import table_of
from tcplearn.output.table import Cell, Table, headed, text


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
    return "\n".join(_lines(result, command)) + "\n"


def _lines(result: Result, command: str) -> Iterator[str]:
    options, table = result.options, result.table
    yield f"# `{options.name}`: round-trip times of places\n"
    yield f"This page was made by `{command}`.\n"
    yield "## Data\n"
    yield (
        f"The training data have {table.read} rows, each a measurement of RTTs to one destination: "
        f"{len(table)} rows have an RTT, {len(result.usable)} have hops and TTL, and there are "
        f"{len(table.destinations)} destinations. Each single RTT counts as a handshake. There are "
        f"{len(result.rows)} handshakes, and {len(result.of_first())} of them are the first with their "
        f"destination. The destinations are divided into {options.folds} folds: no model is tested on "
        "destinations with which it was trained. The history of a handshake has the earlier handshakes with "
        "its destination and with others in the prefix. The intervals are from a bootstrap over "
        "destinations.\n"
    )
    yield "## The paper's regression\n"
    yield (
        "The regression of baddam2018 is fitted by least squares to all rows, with RTTs in ms. The "
        "coefficients are b0 and those of hops, min, max and ttl. MAPE, the mean absolute percentage error, "
        "is that on these rows.\n\n"
        f"```text\n{printed(result.coefficients, result.mape)}\n```\n"
    )
    if result.coefficients.b4_ttl_ms == 0:
        yield "TTL follows from the hops here, as every host starts at the same TTL: its coefficient is 0.\n"
    yield table_of(
        ["kernel, published", "b0", "hops", "min", "max", "ttl", "MAPE, %"],
        [
            [name, *(f"{v:.8f}" for v in values), f"{mape:g}"]
            for name, (values, mape) in regression.PUBLISHED.items()
        ],
        [True, *[False] * 6],
    )
    yield ""
    yield markdown_of(bursts_table(result))
    yield (
        "The regression predicts the mean RTT of a burst from that burst's own least and largest RTT, which "
        "are known only after the burst.\n"
    )
    yield "## Before the handshake\n"
    for shown in tables(result):
        yield markdown_of(shown)
    yield (
        f"The chosen share of misses is {options.miss_rate * 100:g} %. A miss is a handshake that took "
        "longer than the first RTO, so that its SYN is retransmitted spuriously. `boosting` is gradient "
        "boosting on all that is known, including the hour of the day; `kernel's metrics cache` is the RTO "
        "that Linux computes from its cached RTT, which it uses only after the handshake.\n"
    )
    yield "## The model\n"
    yield from _model(result)


def _model(result: Result) -> Iterator[str]:
    model = result.model
    yield (
        "The first RTO is constant + last × the last RTT + high × the high RTT, which rises to a larger RTT "
        "at once and falls by an eighth of the difference. The coefficients are those of the first row of "
        f"the table that applies. The RTO is at least {model.floor_us / 1000:g} ms and at most "
        f"{model.cap_us / 1000:g} ms. RTTs older than {model.max_age_us / 3_600_000_000:g} h are not used.\n"
    )
    rows = []
    for step in history.KNOWN:
        terms = model.steps[step]
        shown = (
            ", ".join(f"{term} {value:g}" for term, value in terms.items())
            if terms
            else "left out: too few data"
        )
        rows.append([step, shown])
    yield table_of(["known", "terms"], rows)


def write(result: Result, folder: Path, command: str) -> list[Path]:
    """Write the model and its card (a Markdown page) to `folder`. Return their paths."""
    make_directory(folder)
    stem = f"rtt_{result.options.name}"
    model = replace(result.model, about={"command": command, **result.model.about})
    texts = {folder / f"{stem}.json": models.text(model), folder / f"{stem}.md": markdown(result, command)}
    for path, content in texts.items():
        write_atomically(path, content)
    return list(texts)
