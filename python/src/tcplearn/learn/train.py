# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Do the work of `tcplearn train loss`: train a loss classifier on labelled losses and test it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tcplearn.errors import UserError, did_you_mean, printable
from tcplearn.learn import dataset, history, perceptron, trials
from tcplearn.learn.dataset import Dataset
from tcplearn.learn.history import Fitted
from tcplearn.learn.perceptron import Choices
from tcplearn.learn.trials import Outcome, Resampled
from tcplearn.loss_model import Model

SHARES = (0.25, 0.5)  # shares of the scenarios for additional trainings, which show the effect of more data
Say = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Options:
    name: str = "wide"
    choices: Choices = field(default_factory=lambda: Choices(()))  # (): all that do not show a path's scale
    folds: int = trials.FOLDS
    most: int = 120  # most rows of a scenario
    events: int = 0  # losses for training in each resampling, as in hwang2018
    tests: int = 125  # losses for the test
    times: int = 30  # number of resamplings
    vary: bool = False  # whether the effect of each hyperparameter is tested
    history: bool = False  # whether the weights of the classifier `history` are fitted


@dataclass(slots=True)
class Result:
    data: Dataset
    options: Options
    model: Model
    outcomes: list[Outcome]  # the trained perceptron first, then gradient boosting
    rows_split: list[Outcome]  # the same two with folds of single losses, not of whole scenarios
    falls: dict[str, float]  # by feature: the decrease in balanced accuracy if it is shuffled
    resampled: Resampled | None = None
    varied: list[tuple[str, Outcome]] = field(default_factory=list)
    history: Fitted | None = None


def inputs_of(words: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the features named in `words`, by default all of `known` that do not depend on a path's RTT
    or rate. Raise UserError for an unknown name."""
    for word in words:
        if word not in known:
            raise UserError(f"no feature {printable(word)}; {did_you_mean(word, known, 'see the data')}")
    return tuple(dict.fromkeys(words)) or perceptron.free_of_scale(known)


def train(paths: Sequence[Path], options: Options, say: Say | None = None) -> Result:
    """Train a loss classifier on the losses in the files `paths`, and test it. `say` is called with the
    progress. Raise UserError if the data do not fit, and FailedError if training gives no valid model."""
    steps = _Steps(say, options)
    steps.next("reading")
    where = " ".join(printable(path) for path in paths)
    frame = dataset.frame(paths)
    whole = dataset.of(frame, where)
    choices = replace(options.choices, inputs=inputs_of(options.choices.inputs, whole.features))
    options = replace(options, choices=choices)
    data = whole.at_most(options.most, choices.seed)
    if data.count < options.folds:
        raise UserError(
            f"{data.count} scenarios are fewer than {options.folds} folds; give --folds {data.count}"
        )
    folds = list(trials.by_scenario(data, options.folds, choices.seed))
    steps.next("ours")
    fold_models = trials.models_of(choices, data, folds)
    ours, falls = trials.try_ours(options.name, choices, data, folds, fold_models)
    steps.next("the ceiling")
    outcomes = [ours, trials.try_out("boosting", partial(trials.ceiling, choices.seed), data, folds)]
    steps.next("rules")
    outcomes += [trials.veno(data, beta) for beta in trials.BETAS]
    outcomes += [
        trials.try_out(name, partial(trials.single, name), data, folds, False) for name in data.features
    ]
    steps.next("rows split")
    mixed = list(trials.by_row(data, options.folds, choices.seed))
    rows_split = [
        trials.try_out(options.name, partial(trials.ours, choices), data, mixed),
        trials.try_out("boosting", partial(trials.ceiling, choices.seed), data, mixed),
    ]
    steps.next("the model")
    model = perceptron.fit(data.columns(choices.inputs), data.congested, choices, options.name)
    result = Result(data, options, model, outcomes, rows_split, falls)
    if options.history:
        steps.next("history")
        odds = history.held_out_odds(frame, data, choices.inputs, folds, fold_models, where)
        result.history = history.fitted(data, folds, *odds)
    if options.events:
        steps.next("resamplings")
        result.resampled = trials.resampled(whole, choices, options.events, options.tests, options.times)
    if options.vary:
        result.varied = _varied(options, data, steps)
    return result


def _varied(options: Options, data: Dataset, steps: _Steps) -> list[tuple[str, Outcome]]:
    """Return a perceptron's scores and decisions on `data` in five-fold cross-validations. In each, one
    hyperparameter of those in `options`, or the share of scenarios to train on, is varied."""
    base = options.choices
    folds = list(trials.by_scenario(data, 5, base.seed))
    out = []
    for label, choices in variants(base, data.features):
        steps.next(label)
        out.append((label, trials.try_out(label, partial(trials.ours, choices), data, folds)))
    for share in SHARES:
        label = f"{share:.0%} of the scenarios to train on"
        steps.next(label)
        out.append((label, trials.try_out(label, partial(trials.of_some, base, share), data, folds)))
    return out


def variants(base: Choices, features: Sequence[str]) -> list[tuple[str, Choices]]:
    one = replace(base, starts=1)
    return [
        ("as chosen", base),
        *((f"{n} hidden units, one start", replace(one, hidden=n)) for n in (4, 8, 16, 32)),
        *((f"penalty {p:g}", replace(base, penalty=p)) for p in (0.001, 1.0)),
        *((f"{n} epochs", replace(base, epochs=n)) for n in (10, 80)),
        *((f"learning rate {r:g}", replace(base, rate=r)) for r in (0.001, 0.01)),
        ("no scaling, clipped at ±5", replace(base, scaled=False)),
        ("inputs: every feature", replace(base, inputs=tuple(features))),
        ("inputs: the two of hwang2018", replace(base, inputs=perceptron.PAPER)),
        (
            "inputs: the two of hwang2018, logarithms",
            replace(base, inputs=("log_rtt_min_per_packet", "log_rtt_per_packet")),
        ),
    ]


class _Steps:
    def __init__(self, say: Say | None, options: Options) -> None:
        self.say, self.done = say, 0
        self.count = (
            6
            + (options.events > 0)
            + options.history
            + (len(variants(options.choices, ())) + len(SHARES) if options.vary else 0)
        )

    def next(self, what: str) -> None:
        if self.say:
            self.say(self.done / self.count, what)
        self.done += 1
