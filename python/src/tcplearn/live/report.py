# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Report how much waiting learned minimum RTOs saved and how many spurious retransmissions they caused, from
what `tcplearn live status --json` has written on one or several machines."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tcplearn.errors import UserError, printable

from . import effect
from .effect import Effect, Estimate

Session = dict[str, Any]
_ENTRIES_SHOWN = 5
_NOTHING = "nothing can be told yet"


def read(files: Sequence[Path]) -> list[Session]:
    """Return the sessions (BPF programs with their counts) in `files`, which `tcplearn live status --json`
    has written; "-" is standard input. Raise UserError."""
    found = []
    for path in files:
        name = "standard input" if str(path) == "-" else printable(path)
        try:
            text = sys.stdin.read() if str(path) == "-" else path.read_text()
            sessions = json.loads(text)
            if not isinstance(sessions, list):
                raise TypeError
            for session in sessions:
                lines([session])
            found += sessions
        except OSError as error:
            raise UserError(f"{name}: {error.strerror}") from error
        except (ValueError, TypeError, KeyError) as error:
            raise UserError(f"{name}: not what `tcplearn live status --json` writes") from error
    return found


def lines(sessions: Sequence[Session]) -> list[str]:
    """Return the report on `sessions`, BPF programs with their counts, as lines of text."""
    found = [*rows(sessions)]
    return [f"{name:14}{text}" for name, text in found] or ["live is not started: there is nothing to report"]


def rows(sessions: Sequence[Session]) -> Iterator[tuple[str, str]]:
    """Yield the lines of the report on `sessions`, BPF programs with their counts, as pairs: the subject (""
    if it is that of the line before), and the text. Programs that only observe are left out."""
    acting = [session for session in sessions if not session["observe"]]
    if acting:
        yield from _rows(acting)


def effect_of(sessions: Sequence[Session]) -> Effect | None:
    """Return how much shorter learned minimum RTOs made round trips with a loss, over all `sessions` (BPF
    programs with their counts), or None if there are too few losses."""
    return effect.effect_of(_strata(sessions))


def _strata(sessions: Sequence[Session]) -> list[dict[str, Any]]:
    """Return what can be compared: the counts of connections with learned minimum RTOs and without, in one
    dict for each of `sessions` and each share of new connections that got them, except the shares 0 and 1."""
    return [one for session in sessions for one in session["arms"] if 0 < one["share"] < 1]


def _rows(sessions: Sequence[Session]) -> Iterator[tuple[str, str]]:
    hosts = sorted({session["host"] for session in sessions})
    yield "hosts", f"{len(hosts)}: {', '.join(map(printable, hosts[:5]))}{', …' if len(hosts) > 5 else ''}"
    begun = min(float((s["guard"] or s).get("since") or s["since"]) for s in sessions)
    ended = max(s["until"] for s in sessions)
    yield "time", f"{_clock(begun)} to {_clock(ended)}"
    every = [one for session in sessions for one in session["arms"]]
    counts = {name: sum(one[name]["connections"] for one in every) for name in ("control", "ours", "stopped")}
    yield (
        "connections",
        f"{sum(counts.values()):,}, of them {counts['ours']:,} with learned floors",
    )
    held = [place for session in sessions if session["guard"] for place in session["guard"]["places"]]
    yield (
        "places",
        f"{sum(session['places'] for session in sessions):,}, of them {len(held)} without learned floors",
    )
    yield from _gained(_strata(sessions))
    for name, title in (("ours", "spurious"), ("control", "")):
        of = effect.spurious_of(one[name] for one in every)
        whose = "with learned floors" if name == "ours" else "with the kernel's timer"
        rounds = sum(one[name]["rounds"] for one in every)
        yield title, f"{_span(of, 2)} in 1,000 rounds {whose}" if rounds else f"{_NOTHING} {whose}"
    yield from _decided(sessions)


def _gained(strata: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    found = effect.effect_of(strata)
    if not found:
        lost = {name: sum(one[name]["needed"] for one in strata) for name in ("control", "ours")}
        yield (
            "lossy rounds",
            f"{_NOTHING}: {lost['control']} in the control group, {lost['ours']} with floors",
        )
        return
    yield (
        "lossy rounds",
        f"{found.control.ms:.0f} ms with the kernel's timer, {found.ours.ms:.0f} ms with learned floors",
    )
    less = found.less_ms
    sure = "" if less.low > 0 or less.high < 0 else f"; {_NOTHING}"
    yield "", f"{_span(less, 0)} ms less each{sure}"
    yield "saved", f"{_span(found.saved_s(), 1)} s of waiting in {found.ours.rounds:,} lossy rounds"


def _decided(sessions: Sequence[Session]) -> Iterator[tuple[str, str]]:
    for session in sessions:
        title = f"{session['host']}, {session['cgroup']}"
        if not session["guard"]:
            yield "guard", f"{printable(title)}: none"
            continue
        yield "guard", f"{printable(title)}: learned floors for {100 * session['guard']['share']:.2g} %"
        for entry in session["guard"]["journal"][-_ENTRIES_SHOWN:]:
            yield "", f"{_clock(entry['at_s'])}  {printable(entry['text'])}"


def _span(of: Estimate, digits: int) -> str:
    return f"{of.value:,.{digits}f} ({of.low:,.{digits}f} to {of.high:,.{digits}f})"


def _clock(at_s: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at_s))
