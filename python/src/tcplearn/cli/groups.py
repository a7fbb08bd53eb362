# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Let subcommands of tcplearn share groups of options. A parameter whose type is a dataclass stands for one
option for each field of the dataclass. `replay`, `watch` and `suite` share the group `Compared`."""

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_type_hints

from tcplearn.cli import options as o
from tcplearn.cli.common import Work, warn
from tcplearn.errors import UserError

_NAMED = inspect.Parameter.KEYWORD_ONLY


def with_groups(function: Callable[..., Work]) -> Callable[..., Work]:
    """Return `function` with each parameter that is a dataclass replaced by its fields, for typer."""
    signature = inspect.signature(function, eval_str=True)
    groups: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if dataclasses.is_dataclass(parameter.annotation)
    }

    def parameters() -> Iterator[inspect.Parameter]:
        for name, parameter in signature.parameters.items():
            if name not in groups:
                yield parameter.replace(kind=_NAMED)
                continue
            types = get_type_hints(groups[name], include_extras=True)
            for field in dataclasses.fields(groups[name]):
                yield inspect.Parameter(
                    field.name, _NAMED, default=field.default, annotation=types[field.name]
                )

    @functools.wraps(function)
    def verb(**given: Any) -> Work:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in dataclasses.fields(group)})
        return function(**given)

    vars(verb)["__signature__"] = signature.replace(parameters=[*parameters()])
    return verb


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
    """Return the names of the estimators to compare. If `everything`, they are all estimators, the user's own
    installed ones and those in `named`. Otherwise they are those in `named`. If `named` is empty, they are
    the default estimators and the user's own, or () (only the default ones) if the user has none."""
    if named and not everything:
        return tuple(dict.fromkeys(named))
    from tcplearn.estimators import ALL, DEFAULTS, installed

    own, problems = installed()
    warn(problems)
    if not own and not everything:
        return ()
    return tuple(dict.fromkeys((*(ALL if everything else DEFAULTS), *own, *named)))
