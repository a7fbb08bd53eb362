# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Let verbs share groups of options: a parameter whose type is a dataclass stands for an option per field."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints

from tcplearn.cli.common import Work

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
