# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write the card of a loss classifier, a Markdown page: data, hyperparameters, results, weaknesses."""

from collections.abc import Iterable, Iterator, Sequence
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

SINGLES = 5  # how many classifiers with a single feature are shown, the best first
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
    yield f"This page was made by `{command}`.\n"
    yield from _data(data)
    yield from _chosen(result)
    yield "## Results on held-out scenarios\n"
    yield (
        f"The scenarios are divided into {result.options.folds} folds, and each fold is tested with a model "
        "that was trained on the other folds. A loss is called congestion if its score, the probability of "
        "congestion that a model gives, is at or above a threshold. The deployed threshold is the default of "
        "the classifier `mlp` with this model. The best threshold of a fold has the highest balanced "
        "accuracy on the other folds. `boosting` is gradient boosting on every feature; it shows what "
        "accuracy these features allow. With the best thresholds the balanced accuracy of the model is "
        f"{ours.balanced_accuracy / ceiling.balanced_accuracy:.3f} times that of `boosting`.\n"
    )
    yield (
        "The columns `congestion` and `random` are the recalls: the share of the losses of a cause for which "
        "the classifier names this cause. The balanced accuracy is their mean. `calibration` is the expected "
        "calibration error: the mean difference between the predicted probability of congestion and the "
        "share of congestion. Intervals are from a bootstrap over scenarios.\n"
    )
    yield markdown_of(table(shown(result)))
    yield from _both_causes(learned(result))
    yield (
        "If rows of the same runs are in both the training and the test data, the results are too good. "
        "The next table has such results, with the best thresholds:\n"
    )
    yield markdown_of(table(result.rows_split))
    yield from _slices(ours, ceiling)
    yield from _thresholds(ours)
    yield f"![calibration]({stem}-calibration.svg)\n"
    yield from _importances(result)
    yield f"![importances]({stem}-importances.svg)"
    if result.resampled:
        yield from _resampled(result)
    if result.varied:
        yield "\n## The effect of each choice\n"
        yield "Each row differs from the first in one choice. There are five folds of whole scenarios.\n"
        yield markdown_of(table([o for _, o in result.varied]))


def _both_causes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    both = [o.of_both_causes() for o in outcomes]
    if len(both[0].data):
        yield (
            f"The next table is for the {both[0].data.count} scenarios in which both congestion and chance "
            "cause losses (in the others, knowing the scenario would be enough to know the cause):\n"
        )
        yield markdown_of(table(both))


def _data(data: Dataset) -> Iterator[str]:
    congested = int(data.congested.sum())
    yield "## Data\n"
    yield (
        f"The training data have {data.read} fast recoveries in {len(data.scenarios)} scenarios. Recoveries "
        f"in which no packet was lost ({data.spurious}) are left out. Of a scenario with more recoveries "
        "than a limit (`--most`), only that many, chosen at random, are used. "
        f"This leaves {len(data)} recoveries in {data.count} scenarios: {congested} losses by congestion "
        f"and {len(data) - congested} random losses. A loss counts as congestion if a queue dropped any "
        "packet of the window.\n"
    )


def _chosen(result: Result) -> Iterator[str]:
    c = result.options.choices
    weights = sum(map(len, result.model.hidden)) + 2 * len(result.model.hidden) + 1
    yield "## Choices\n"
    yield table_of(
        ["choice", "value"],
        [
            ["inputs", ", ".join(f"`{name}`" for name in c.inputs)],
            ["scaling", "each input to mean 0 and standard deviation 1 in the training rows, clipped at ±5"],
            [
                "hidden units",
                f"{c.hidden}; networks with different initial weights: {c.starts}; weights: {weights}",
            ],
            ["penalty on squared weights", f"{c.penalty:g}"],
            [
                "training",
                f"Adam, learning rate {c.rate:g}, batches of {c.batch} rows, {c.epochs} epochs, log loss, "
                f"seed {c.seed}",
            ],
            ["recoveries of a scenario", f"at most {result.options.most}, chosen at random"],
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
        yield "Results for parts of the scenarios, at the best thresholds:\n"
        head = ["part", "scenarios", "share of congestion", f"balanced accuracy, {scores.INTERVAL} %"]
        yield table_of([*head, "congestion", "random", "boosting"], rows, [True] + [False] * 6) + "\n"


def _thresholds(ours: Outcome) -> Iterator[str]:
    rows = [[f"{t:g}", *(f"{recall:.3f}" for recall in ours.at(t))] for t in THRESHOLDS]
    yield "Recalls with other values of the parameter `threshold`:\n"
    yield table_of(["threshold", "congestion", "random"], rows, [True, False, False]) + "\n"


def _importances(result: Result) -> Iterator[str]:
    meanings = losses.meanings()
    best = sorted(result.falls.items(), key=lambda f: -f[1])[:10]
    yield (
        "The more the balanced accuracy falls when the values of a feature are exchanged at random among "
        "the held-out rows, the more the model depends on this feature:\n"
    )
    rows = [[f"`{name}`", meanings.get(name, ""), f"{fall:.3f}"] for name, fall in best]
    yield table_of(["feature", "meaning", "fall"], rows, [True, True, False]) + "\n"


def _resampled(result: Result) -> Iterator[str]:
    o, found = result.options, result.resampled
    assert found is not None

    def spread(values: Sequence[float]) -> str:
        return "{:.3f} ({:.3f} to {:.3f})".format(*values)

    congested = float(result.data.congested.mean())
    yield "\n## The paper's protocol\n"
    yield (
        f"As in hwang2018 (Hwang et al. 2018), a model is trained on {o.events} fast retransmits and tested "
        f"on {o.tests} others; this is repeated {o.times} times with other random choices. The table has the "
        f"mean and the middle 95 % of the results. A rule that always names the more frequent cause has an "
        f"accuracy of {max(congested, 1 - congested):.3f}.\n"
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
    """Write the model, its card (a Markdown page, which shows the command line `command`) and pictures to
    `folder`. Return their paths."""
    make_directory(folder)
    stem = f"loss_{result.options.name}"
    about = {"command": command, "version": provenance.made_by()["version"], "rows": len(result.data)}
    model = replace(result.model, about={**about, "scenarios": result.data.count})
    written = pictures.write(result.outcomes[0], result.falls, stem, folder)
    texts = {f"{stem}.json": models.text(model), f"{stem}.md": markdown(result.data, result, command, stem)}
    if result.history:
        texts["loss_history.md"] = "\n".join(_history(result, result.history, command)) + "\n"
    for name, content in texts.items():
        write_atomically(folder / name, content)
        written.append(folder / name)
    return written


def _history(result: Result, found: Fitted, command: str) -> Iterator[str]:
    """Yield the lines of the card of the loss classifier `history`, which uses the trained perceptron."""
    data, name = result.data, result.options.name
    yield f"# `history` over `{name}`: the cause of a loss from this loss and earlier ones\n"
    yield f"This page was made by `{command}`.\n"
    yield (
        "The classifier `history` calls a loss congestion if σ(`answer` · l + `past` · m + `bias`) is at "
        "least `threshold`. l is the log odds of congestion that the neural network "
        f"`{name}` gives for the loss, m the mean of l over the earlier fast recoveries of the connection, "
        "and σ(x) = 1 / (1 + e^-x).\n"
    )
    yield from _data(data)
    yield (
        f"The recoveries belong to {found.connections} connections. The mean m over the earlier "
        "recoveries of a connection includes those in which no packet was lost, since a sender cannot leave "
        "them out.\n"
    )
    yield "## Weights\n"
    yield (
        "The weights are fitted by logistic regression. The log odds l of a loss come from a network that "
        "was not trained on the scenario. The intervals are the middle "
        f"{scores.INTERVAL} % of {RESAMPLES} fits to scenarios that are drawn with replacement. The deployed "
        "weights are the defaults of the classifier `history`. They come from an earlier fit and are "
        "rounded; `tcplearn train loss` does not change them.\n"
    )
    rows = [
        [f"`{weight}`", f"{value:.3f} ({low:.3f} to {high:.3f})", f"{shipped:g}"]
        for weight, value, (low, high), shipped in zip(
            WEIGHTS, found.weights, found.intervals, found.shipped, strict=True
        )
    ]
    yield table_of(["weight", "fitted", "deployed"], rows, [True, False, False]) + "\n"
    yield "## Results on held-out scenarios\n"
    yield (
        f"The columns and the best thresholds are those of [the card of `{name}`](loss_{name}.md). The "
        "deployed threshold is not from these data: it was chosen by what senders that follow `history` do "
        "to the queue and to competing transfers ([the choice]"
        "(../../experiments/hwang2018/simulated.md#how-the-threshold-of-history-was-chosen)).\n"
    )
    ours = [found.deployed, found.best, found.refitted, *learned(result)[:2]]
    yield markdown_of(table(ours))
    yield from _both_causes(ours)
    yield from _thresholds(found.deployed)
