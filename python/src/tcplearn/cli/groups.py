# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Make subcommands of functions, and let them share groups of options. A parameter whose type is a dataclass
stands for one option for each field of the dataclass. `replay`, `watch` and `suite` share `Compared`."""

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_type_hints

import typer

from tcplearn.cli import options as o
from tcplearn.cli.common import Work, warn
from tcplearn.errors import UserError

#: A subcommand: a function of the command line's text and of the subcommand's arguments and options. It may
#: return an exit code.
Command = Callable[..., int | None]
#: Subcommands by name, each with its line in the list of commands.
Commands = Mapping[str, tuple[typer.Typer | Command, str]]


def add(app: typer.Typer, commands: Commands) -> None:
    for name, (command, line) in commands.items():
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, short_help=line)
        else:
            app.command(name, short_help=line)(_parsed(command))


def group(help: str, commands: Commands) -> typer.Typer:
    """Return a subcommand that has the subcommands `commands`."""
    # without a callback, typer would make a group of one command the command itself
    app = typer.Typer(rich_markup_mode=None, help=help, callback=lambda: None)
    add(app, commands)
    return app


def _parsed(command: Command) -> Callable[..., Work]:
    """Return the function that typer calls with the options of `command`. It has no parameter for the command
    line's text, and one for each field of a parameter that is a dataclass. It returns the work to do."""
    signature = inspect.signature(command, eval_str=True)
    _, *own = signature.parameters.values()
    groups: dict[str, Any] = {p.name: p.annotation for p in own if dataclasses.is_dataclass(p.annotation)}
    parameters = []
    for parameter in own:
        if parameter.name not in groups:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        types = get_type_hints(parameter.annotation, include_extras=True)
        parameters += [
            parameter.replace(name=field.name, default=field.default, annotation=types[field.name])
            for field in dataclasses.fields(parameter.annotation)
        ]

    @functools.wraps(command)
    def parsed(**given: Any) -> Work:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in dataclasses.fields(group)})
        return functools.partial(command, **given)

    vars(parsed)["__signature__"] = signature.replace(parameters=parameters)
    return parsed


@dataclasses.dataclass(frozen=True)
class Compared:
    """The estimators to compare, and the samples to compare them on."""

    estimator: o.Estimators = None
    all: o.All = False
    arithmetic: o.Arithmetic = o.ArithmeticName.double
    miss: o.Miss = None
    min_rto_ms: o.MinRto = 0.0
    sender: o.Sender = "auto"
    every_ack: o.EveryAck = False
    flow: o.Flow = ""
    min_samples: o.MinSamples = 30

    def checked(self) -> dict[str, Any]:
        """Return the options as keyword arguments of the classes replay.Options and suite.Options. Raise
        UserError if the value of an option is invalid."""
        if not math.isfinite(self.min_rto_ms):
            raise UserError("--min-rto-ms: not a number; give milliseconds")
        return {
            "estimators": _named(self.estimator or (), everything=self.all),
            "arithmetic": self.arithmetic.value,
            "sender": o.checked_sender(self.sender),
            "every_ack": self.every_ack,
            "min_samples": self.min_samples,
            "min_rto_us": round(self.min_rto_ms * 1000),
            "flow": self.flow,
            "miss": self.miss,
        }


def _named(named: Sequence[str], *, everything: bool) -> tuple[str, ...]:
    """Return the estimators to compare: those in `named` or, if it is empty, the default ones and the user's
    own; with `everything`, all of tcplearn, the user's own and those in `named`. Return () for only the
    default ones."""
    if named and not everything:
        return tuple(dict.fromkeys(named))
    from tcplearn.estimators import ALL, DEFAULTS, installed

    own, problems = installed()
    warn(problems)
    if not own and not everything:
        return ()
    return tuple(dict.fromkeys((*(ALL if everything else DEFAULTS), *own, *named)))
