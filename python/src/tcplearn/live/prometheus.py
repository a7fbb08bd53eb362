# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write the counts of the BPF programs of `tcplearn live` in the text format of Prometheus, for the textfile
collector of its node exporter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import arms
from .notes import share_of
from .program import meanings

Session = dict[str, Any]


def lines(sessions: Sequence[Session]) -> Iterator[str]:
    """Yield the metrics of `sessions`, the result of sessions.status(), as lines for Prometheus."""
    for name, meaning in meanings().items():
        values = ((_of(session), session["counts"][name]) for session in sessions)
        yield from _metric(f"tcplearn_live_{name}_total", "counter", meaning, values)
    for name, meaning in arms.meanings().items():
        values = (
            (f'{_of(session)},arm="{arm}",share="{one["share"]:.4f}"', one[arm][name])
            for session in sessions
            for one in session["arms"]
            for arm in arms.NAMES
        )
        yield from _metric(
            f"tcplearn_live_arm_{name}_total", "counter", f"in a group (arm): {meaning}", values
        )
    for name, meaning, read in (
        ("share", "share of the new connections that gets learned floors", share_of),
        ("stopped", "1 while the guard has stopped learned floors, or the kill switch is set", _stopped),
        ("stopped_places", "destination prefixes that get no learned floors, by the guard", _stopped_places),
    ):
        values = ((_of(session), read(session)) for session in sessions)
        yield from _metric(f"tcplearn_live_{name}", "gauge", meaning, values)


def _metric(name: str, kind: str, meaning: str, values: Iterable[tuple[str, float]]) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"
    for labels, value in values:
        yield f"{name}{{{labels}}} {value}"


def _stopped(session: Session) -> int:
    guard = session["guard"]
    return int(bool(guard) and (guard["killed"] or guard["stopped_until"] is not None))


def _stopped_places(session: Session) -> int:
    return len(session["guard"]["places"]) if session["guard"] else 0


def _of(session: Session) -> str:
    return f'cgroup="{_escaped(session["cgroup"])}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
