# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write the card of a loss classifier, a Markdown page: data, hyperparameters, results, weaknesses."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from tcplearn import algorithms, losses, provenance
from tcplearn import loss_model as models
from tcplearn.learn import pictures, scores, slices
from tcplearn.learn.dataset import Dataset
from tcplearn.learn.history import RESAMPLES, WEIGHTS, Fitted
from tcplearn.learn.train import Result
from tcplearn.learn.trials import Outcome
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.output.markdown import markdown as markdown_of
from tcplearn.output.markdown import table_of
from tcplearn.output.table import Cell, Table, headed, text
from tcplearn.output.template import filled

SINGLES = 5  # how many classifiers with a single feature are shown, the best first
_FOLDER = Path(__file__).parent
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def shown(result: Result) -> list[Outcome]:
    """Return the test results that the card shows: of the perceptron (with the deployed threshold and with
    the best one), of gradient boosting, of the rule of TCP Veno, and of the best single features."""
    rules = result.outcomes[2:]
    venos = [o for o in rules if o.name.startswith("veno,")]
    singles = sorted((o for o in rules if o not in venos), key=lambda o: -o.balanced_accuracy)
    return [*learned(result), *venos, *singles[:SINGLES]]


def learned(result: Result) -> list[Outcome]:
    ours, ceiling = result.outcomes[:2]
    limit = deployed_threshold(ours.name)
    return [
        ours.limited(limit, f"{ours.name}, deployed threshold {limit:g}"),
        replace(ours, name=f"{ours.name}, best threshold"),
        replace(ceiling, name=f"{ceiling.name}, best threshold"),
    ]


def deployed_threshold(model: str) -> float:
    """Return the default threshold of the loss classifier `mlp` with the model named `model`."""
    known = algorithms.by_name(algorithms.LOSS)
    params = known.get(f"mlp/{model}", known["mlp"]).params
    return next(p.default for p in params if p.key == "threshold")


def table(outcomes: Iterable[Outcome], title: str = "") -> Table:
    """Return a table with a row for each of `outcomes`, the tested loss classifiers: balanced accuracy with
    its bootstrap interval, recalls, AUC, calibration error."""
    out = Table(
        headed(
            "classifier",
            "balanced accuracy",
            f"{scores.INTERVAL} %",
            "congestion",
            "random",
            "AUC",
            "calibration",
        ),
        title=title,
    )
    for o in outcomes:
        low, high = o.interval
        error = o.calibration_error
        cells = [text(o.name), _number(o.balanced_accuracy), text(f"{low:.3f} to {high:.3f}")]
        cells += map(_number, o.recalls)
        out.rows.append([*cells, _number(o.auc), _number(error) if error is not None else Cell()])
    return out


def _number(value: float) -> Cell:
    return Cell(f"{value:.3f}", value)


def markdown(result: Result, command: str, stem: str) -> str:
    ours, ceiling = result.outcomes[:2]
    congested = float(result.data.congested.mean())
    parts = zip(slices.parts(ours), slices.parts(ceiling), strict=True)
    return filled(
        _FOLDER / "loss.md.j2",
        options=result.options,
        choices=result.options.choices,
        command=command,
        stem=stem,
        about_data=_data(result.data),
        weights=sum(map(len, result.model.hidden)) + 2 * len(result.model.hidden) + 1,
        ours=ours,
        ceiling=ceiling,
        shown=markdown_of(table(shown(result))),
        both_causes=_both_causes(learned(result)),
        rows_split=markdown_of(table(result.rows_split)),
        interval=scores.INTERVAL,
        parts=[(label, part, best) for (label, part), (_, best) in parts],
        thresholds=_thresholds(ours),
        falls=sorted(result.falls.items(), key=lambda f: -f[1])[:10],
        meanings=losses.meanings(),
        resampled=result.resampled,
        most_frequent=max(congested, 1 - congested),
        varied=markdown_of(table([o for _, o in result.varied])) if result.varied else "",
    )


def _both_causes(outcomes: Sequence[Outcome]) -> str:
    both = [o.of_both_causes() for o in outcomes]
    if not len(both[0].data):
        return ""
    return (
        f"The next table is for the {both[0].data.count} scenarios in which both congestion and chance "
        "cause losses (in the others, knowing the scenario would be enough to know the cause):\n\n"
        f"{markdown_of(table(both))}\n"
    )


def _data(data: Dataset) -> str:
    congested = int(data.congested.sum())
    return (
        f"## Data\n\nThe training data have {data.read} fast recoveries in {len(data.scenarios)} scenarios. "
        f"Recoveries in which no packet was lost ({data.spurious}) are left out. Of a scenario with more "
        "recoveries than a limit (`--most`), only that many, chosen at random, are used. "
        f"This leaves {len(data)} recoveries in {data.count} scenarios: {congested} losses by congestion "
        f"and {len(data) - congested} random losses. A loss counts as congestion if a queue dropped any "
        "packet of the window.\n"
    )


def _thresholds(ours: Outcome) -> str:
    limited = {threshold: ours.limited(threshold, ours.name) for threshold in THRESHOLDS}
    rows = [[f"{t:g}", *(f"{recall:.3f}" for recall in of.recalls)] for t, of in limited.items()]
    found = table_of(["threshold", "congestion", "random"], rows, [True, False, False])
    return f"Recalls with other values of the parameter `threshold`:\n\n{found}\n"


def write(result: Result, folder: Path, command: str) -> list[Path]:
    """Write the model, its card (a Markdown page, which shows the command line `command`) and pictures to
    `folder`. Return their paths."""
    make_directory(folder)
    stem = f"loss_{result.options.name}"
    about = {"command": command, "version": provenance.made_by()["version"], "rows": len(result.data)}
    model = replace(result.model, about={**about, "scenarios": result.data.count})
    written = pictures.write(result.outcomes[0], result.falls, stem, folder)
    texts = {f"{stem}.json": models.text(model), f"{stem}.md": markdown(result, command, stem)}
    if result.history:
        texts["loss_history.md"] = _history(result, result.history, command)
    for name, content in texts.items():
        write_atomically(folder / name, content)
        written.append(folder / name)
    return written


def _history(result: Result, found: Fitted, command: str) -> str:
    """Return the card of the loss classifier `history`, which uses the trained perceptron."""
    ours = [found.deployed, found.best, found.refitted, *learned(result)[:2]]
    return filled(
        _FOLDER / "history.md.j2",
        name=result.options.name,
        command=command,
        found=found,
        about_data=_data(result.data),
        interval=scores.INTERVAL,
        resamples=RESAMPLES,
        weights=list(zip(WEIGHTS, found.weights, found.intervals, found.shipped, strict=True)),
        shown=markdown_of(table(ours)),
        both_causes=_both_causes(ours),
        thresholds=_thresholds(found.deployed),
    )
