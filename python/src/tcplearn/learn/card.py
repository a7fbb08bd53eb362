# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write the card of a loss classifier: data, hyperparameters, results on held-out scenarios, weaknesses."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tcplearn import losses, provenance
from tcplearn.learn import model as models
from tcplearn.learn import pictures, scores, slices
from tcplearn.learn.dataset import Dataset
from tcplearn.learn.train import Result
from tcplearn.learn.trials import Outcome
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.output.markdown import markdown as markdown_of
from tcplearn.output.markdown import table_of
from tcplearn.output.table import Cell, Table, headed, text

SINGLES = 5  # how many classifiers with a single feature are shown, the best first
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def shown(result: Result) -> list[Outcome]:
    """Return the outcomes to show: perceptron, gradient boosting, Veno's rules, the best single features."""
    rules = result.outcomes[2:]
    venos = [o for o in rules if o.name.startswith("veno,")]
    singles = sorted((o for o in rules if o not in venos), key=lambda o: -o.balanced_accuracy)
    return [*result.outcomes[:2], *venos, *singles[:SINGLES]]


def table(outcomes: Iterable[Outcome], title: str = "") -> Table:
    """Return a table of loss classifiers: balanced accuracy and interval, recalls, AUC, calibration error."""
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
        cells += [_number(scores.recall(o.data.congested, o.called, cause)) for cause in (1, 0)]
        out.rows.append([*cells, _number(o.auc), _number(error) if error is not None else Cell()])
    return out


def _number(value: float) -> Cell:
    return Cell(f"{value:.3f}", value)


def markdown(data: Dataset, result: Result, command: str, stem: str) -> str:
    return "\n".join(_lines(data, result, command, stem)) + "\n"


def _lines(data: Dataset, result: Result, command: str, stem: str) -> Iterator[str]:
    ours, ceiling = result.outcomes[:2]
    yield f"# `{result.options.name}`: the cause of a loss\n"
    yield f"Made by `{command}`.\n"
    yield from _data(data)
    yield from _chosen(result)
    yield "## On scenarios held out\n"
    yield (
        f"{result.options.folds} folds of whole scenarios; the intervals are from a bootstrap over "
        "scenarios. A fold's limit is the best one for the scores of the other folds, each by a model that "
        "was not trained on them; recalls are at that limit. `boosting`, the ceiling, is gradient boosting "
        f"on every feature. Ours has {ours.balanced_accuracy / ceiling.balanced_accuracy:.3f} of its "
        "balanced accuracy.\n"
    )
    yield markdown_of(table(shown(result)))
    yield "With rows of the same runs in training and test, as in the papers, the results are too good:\n"
    yield markdown_of(table(result.rows_split))
    both = [o.of_both_causes() for o in result.outcomes[:2]]
    if len(both[0].data):
        yield (
            f"Only the {both[0].data.count} scenarios with both causes (in the others the scenario itself "
            "shows the cause):\n"
        )
        yield markdown_of(table(both))
    yield from _slices(ours, ceiling)
    yield from _thresholds(ours)
    yield f"![calibration]({stem}-calibration.svg)\n"
    yield from _importances(result)
    yield f"![importances]({stem}-importances.svg)"
    if result.resampled:
        yield from _resampled(result)
    if result.varied:
        yield "\n## The effect of each choice\n"
        yield "Five folds by scenario.\n"
        yield markdown_of(table([o for _, o in result.varied]))


def _data(data: Dataset) -> Iterator[str]:
    congested = int(data.congested.sum())
    yield "## Data\n"
    yield (
        f"{data.read} recoveries in {len(data.scenarios)} scenarios, of which {data.spurious} without any "
        f"loss are left out. Used: {len(data)} rows of {data.count} scenarios, {congested} congestion, "
        f"{len(data) - congested} random. A loss is congestion if a queue dropped any packet of the "
        "window.\n"
    )


def _chosen(result: Result) -> Iterator[str]:
    c = result.options.choices
    weights = sum(map(len, result.model.hidden)) + 2 * len(result.model.hidden) + 1
    yield "## Choices\n"
    yield table_of(
        ["choice", "value"],
        [
            ["inputs", ", ".join(f"`{name}`" for name in c.inputs)],
            ["scaling", "z-scores of the training rows, clipped at ±5"],
            ["hidden units", f"{c.hidden}, of {c.starts} networks from different starts; {weights} weights"],
            ["penalty on squared weights", f"{c.penalty:g}"],
            [
                "training",
                f"Adam, rate {c.rate:g}, batches of {c.batch}, {c.epochs} epochs, log loss, seed {c.seed}",
            ],
            ["rows of a scenario", f"at most {result.options.most}, drawn at random"],
        ],
    )
    yield ""


def _slices(ours: Outcome, ceiling: Outcome) -> Iterator[str]:
    rows = []
    for (label, part), (_, best) in zip(slices.parts(ours), slices.parts(ceiling), strict=True):
        low, high = part.interval
        congested = part.data.congested
        rows.append(
            [
                label,
                str(part.data.count),
                f"{congested.mean():.2f}",
                f"{part.balanced_accuracy:.3f} ({low:.3f} to {high:.3f})",
                *(f"{scores.recall(congested, part.called, cause):.3f}" for cause in (1, 0)),
                f"{best.balanced_accuracy:.3f}",
            ]
        )
    if rows:
        yield "The same scores by slices of the scenarios:\n"
        head = ["slice", "scenarios", "share of congestion", f"balanced accuracy, {scores.INTERVAL} %"]
        yield table_of([*head, "congestion", "random", "boosting"], rows, [True] + [False] * 6) + "\n"


def _thresholds(ours: Outcome) -> Iterator[str]:
    rows = [[f"{t:g}", *(f"{recall:.3f}" for recall in ours.at(t))] for t in THRESHOLDS]
    yield "Recall by the parameter `threshold`:\n"
    yield table_of(["threshold", "congestion", "random"], rows, [True, False, False]) + "\n"


def _importances(result: Result) -> Iterator[str]:
    meanings = losses.meanings()
    best = sorted(result.falls.items(), key=lambda f: -f[1])[:10]
    yield "Fall of the balanced accuracy when a feature is shuffled among the held-out rows:\n"
    rows = [[f"`{name}`", meanings.get(name, ""), f"{fall:.3f}"] for name, fall in best]
    yield table_of(["feature", "meaning", "fall"], rows, [True, True, False]) + "\n"


def _resampled(result: Result) -> Iterator[str]:
    o, found = result.options, result.resampled
    assert found is not None

    def spread(values: Sequence[float]) -> str:
        return "{:.3f} ({:.3f} to {:.3f})".format(*values)

    share = float(np.maximum(result.data.congested.mean(), 1 - result.data.congested.mean()))
    yield "\n## The paper's protocol\n"
    yield (
        f"{o.times} models, each trained on {o.events} random events and tested on {o.tests} others: the "
        f"mean and the middle 95 %. To name always the more frequent cause gives {share:.3f}.\n"
    )
    yield table_of(
        ["figure", "ours", "hwang2018"],
        [
            ["accuracy in training", spread(found.training), "0.97"],
            ["accuracy in the test", spread(found.test), "0.96"],
            ["balanced accuracy in the test", spread(found.test_balanced), ""],
        ],
        [True, False, False],
    )


def write(result: Result, folder: Path, command: str) -> list[Path]:
    """Write the model, its card (with the command line `command`) and pictures. Return their paths."""
    make_directory(folder)
    stem = f"loss_{result.options.name}"
    about = {"command": command, "version": provenance.made_by()["version"], "rows": len(result.data)}
    model = replace(result.model, about={**about, "scenarios": result.data.count})
    written = pictures.write(result.outcomes[0], result.falls, stem, folder)
    for path, content in (
        (folder / f"{stem}.json", models.text(model)),
        (folder / f"{stem}.md", markdown(result.data, result, command, stem)),
    ):
        write_atomically(path, content)
        written.append(path)
    return written
