# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Gives completions to the shells' completion scripts, which are in packaging/completions."""

import os
from typing import Any

#: The variable in which a script says what it asks for. Typer derives it from the program's name.
VARIABLE = "_TCPLEARN_COMPLETE"


def asked() -> bool:
    return VARIABLE in os.environ


def estimators() -> list[tuple[str, str]]:
    """Return the names of the C core's estimators, each with its summary."""
    from tcplearn import algorithms

    return [(info.name, info.summary) for info in algorithms.by_name(algorithms.ESTIMATOR).values()]


def kinds() -> list[str]:
    from tcplearn import algorithms

    return [*algorithms.kinds()]


def answer(app: Any) -> int:
    """Print completions of the words that a shell's completion script passes in the environment. Return an
    exit code."""
    from typer._completion_classes import completion_init

    completion_init()
    try:
        app([], prog_name="tcplearn", standalone_mode=False)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0
    return 0
