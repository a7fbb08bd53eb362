# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What is started, in the text format of Prometheus: for the textfile collector of its node exporter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .program import meanings


def lines(sessions: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The lines of the sessions that status() returns."""
    for name, meaning in meanings().items():
        metric = f"tcplearn_live_{name}_total"
        yield f"# HELP {metric} {meaning}"
        yield f"# TYPE {metric} counter"
        for session in sessions:
            yield f'{metric}{{cgroup="{_escaped(session["cgroup"])}"}} {session["counts"][name]}'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
