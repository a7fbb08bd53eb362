# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn algorithms`, which lists algorithms, such as estimators, and their
parameters."""

import math
from typing import Annotated, Any

from tcplearn.cli import completion
from tcplearn.cli.common import print_
from tcplearn.cli.options import argument
from tcplearn.errors import UserError, did_you_mean
from tcplearn.output.numbers import parameter

_LISTED = "`tcplearn algorithms` lists them"


def algorithms_command(
    _: str,
    kind: Annotated[
        str | None,
        argument(
            "KIND",
            "estimator, loss, startup, resend or first-rto; or the name of an algorithm of any kind.",
            autocompletion=completion.kinds,
        ),
    ] = None,
    name: Annotated[str | None, argument("NAME", "The name of an algorithm of that kind.")] = None,
) -> None:
    """List the algorithms of every kind or of one kind, or the parameters of an algorithm.

    Options, scenario files and the kernel's settings take an algorithm as NAME or NAME:key=value,...
    """
    words = [word for word in (kind, name) if word]
    kinds, name = _chosen(words)
    found = [(kind, info) for kind in kinds for info in _available(kind) if info.name == name]
    if name and not found:
        raise UserError(_unknown(kinds, name))
    print_(lambda _: _parameters(found) if name else _table(kinds))


def _chosen(words: list[str]) -> tuple[list[str], str]:
    """Return the kinds of algorithm that `words` select, and the name of one algorithm ("": all). Raise
    UserError."""
    from tcplearn import algorithms

    kinds = list(algorithms.kinds())
    if words and words[0] in kinds:
        kinds, words = words[:1], words[1:]
    if len(words) > 1:
        todo = did_you_mean(words[0], kinds, f"the kinds are {', '.join(kinds)}")
        raise UserError(f"no kind of algorithm is called '{words[0]}'; {todo}")
    return kinds, words[0] if words else ""


def _unknown(kinds: list[str], typed: str) -> str:
    """Return the error message for `typed`, a name or spec that no algorithm of `kinds` has."""
    name = typed.partition(":")[0]
    known = [info.name for kind in kinds for info in _available(kind)]
    if len(kinds) > 1:
        known = [*kinds, *known]
    todo = f"did you mean {name}?" if name in known else did_you_mean(name, known, _LISTED)
    what = "kind and no algorithm" if len(kinds) > 1 else "algorithm"
    return f"no {what} is called '{typed}'; {todo}"


def _available(kind: str) -> list[Any]:
    from tcplearn import algorithms, estimators

    return estimators.available() if kind == algorithms.ESTIMATOR else algorithms.available(kind)


def _table(kinds: list[str]) -> Any:
    from rich.table import Table
    from rich.text import Text

    from tcplearn import algorithms

    titles = algorithms.kinds()
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for kind in kinds:
        if len(kinds) > 1:
            if kind != kinds[0]:
                table.add_row("", "")
            table.add_row(Text(kind, style="underline"), Text(_plural(titles[kind]), style="not bold"))
        for info in _available(kind):
            table.add_row(Text(info.name), Text(info.summary))
    return table


def _plural(title: str) -> str:
    return f"{title[:-1]}ies" if title.endswith("y") else f"{title}s"


def _parameters(found: list[tuple[str, Any]]) -> Any:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from tcplearn import algorithms

    parts: list[Any] = []
    for kind, info in found:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for head in ("key", "default", "range"):
            table.add_column(head, no_wrap=head != "range")
        table.add_column("meaning")
        for p in info.params:
            table.add_row(*map(Text, (p.key, _default(p), _range(p), p.text)))
        about = Text.assemble((info.name, "bold"), f", {algorithms.kinds()[kind]}: {info.summary}")
        parts += [Text("")] * bool(parts)
        parts += [about, Text(""), table] if info.params else [about, Text("It has no parameters.")]
    return Group(*parts)


def _default(param: Any) -> str:
    return param.choices[int(param.default)] if param.choices else parameter(param.default)


def _range(param: Any) -> str:
    if not math.isfinite(param.low) and not math.isfinite(param.high):
        return "any number"
    return " | ".join(param.choices) or f"{parameter(param.low)} to {parameter(param.high)}"
