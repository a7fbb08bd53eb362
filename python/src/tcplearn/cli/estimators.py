# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn estimators`: what there is, and each one's parameters."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tcplearn.cli.common import Work, print_
from tcplearn.errors import UserError, did_you_mean
from tcplearn.output.numbers import parameter


class _Named(TyperGroup):
    """The name of an estimator shows it, without `show` before it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = args[0] in self.list_commands(ctx) or args[0].startswith("-")
        return super().resolve_command(ctx, args if known else ["show", *args])


estimators_app = typer.Typer(
    cls=_Named, rich_markup_mode=None, help="List the estimators, or one estimator's parameters."
)


@estimators_app.callback(invoke_without_command=True)
def _estimators(context: typer.Context) -> Work | None:
    if context.invoked_subcommand is not None:
        return None

    def work(_: str) -> None:
        from rich.table import Table
        from rich.text import Text

        from tcplearn import estimators

        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, style="bold")
        table.add_column()
        for info in estimators.available():
            table.add_row(Text(info.name), Text(info.summary))
        print_(lambda _: table)

    return work


@estimators_app.command("show")
def _show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `tcplearn estimators` lists it.")],
) -> Work:
    """List an estimator's parameters: key, default, range and meaning."""

    def work(_: str) -> None:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        info = _find(name)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for head in ("key", "default", "range"):
            table.add_column(head, no_wrap=head != "range")
        table.add_column("meaning")
        for p in info.params:
            table.add_row(*map(Text, (p.key, _default(p), _range(p), p.text)))
        about = Text.assemble((info.name, "bold"), f": {info.summary}")
        parts = [about, Text(""), table] if info.params else [about, Text("It has no parameters.")]
        print_(lambda _: Group(*parts))

    return work


def _find(name: str) -> Any:
    from tcplearn import estimators

    known = {info.name: info for info in estimators.available()}
    if name not in known:
        todo = did_you_mean(name, known, "`tcplearn estimators` lists them")
        raise UserError(f"no estimator is called {name!r}; {todo}")
    return known[name]


def _choices(param: Any) -> list[str]:
    choices = param.choices or ()
    return choices.split("|") if isinstance(choices, str) else list(choices)


def _default(param: Any) -> str:
    choices = _choices(param)
    if choices and not isinstance(param.default, str):
        return choices[int(param.default)]
    return parameter(param.default)


def _range(param: Any) -> str:
    if not math.isfinite(param.low) and not math.isfinite(param.high):
        return "any number"
    return " | ".join(_choices(param)) or f"{parameter(param.low)} to {parameter(param.high)}"
