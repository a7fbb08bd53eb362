# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Report how much waiting learned minimum RTOs saved and how many spurious retransmissions they caused, from
what `tcplearn live status --json` has written on one or several machines. A session is a BPF program with its
counts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tcplearn.errors import UserError, printable
from tcplearn.output.numbers import local_time

from . import effect
from .by_place import by_place
from .effect import Effect, Estimate

Session = dict[str, Any]
_ENTRIES_SHOWN, _PLACES_SHOWN = 5, 10
_ARMS = ("control", "ours")
NOTHING = "nothing can be told yet"


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
    if it is that of the previous line), and the text. Programs that only observe are left out."""
    if acting := acting_of(sessions):
        yield from summed(acting)
        yield from _at_places(acting)
        yield from _decided(acting)


def acting_of(sessions: Sequence[Session]) -> list[Session]:
    """Return those of `sessions` (BPF programs with their counts) that set learned minimum RTOs."""
    return [session for session in sessions if not session["observe"]]


def effect_of(sessions: Sequence[Session]) -> Effect | None:
    """Return how much shorter learned minimum RTOs made round trips with a loss, over all `sessions` (BPF
    programs with their counts), or None if there are too few losses."""
    return effect.effect_of(_strata(sessions))


def _strata(sessions: Sequence[Session]) -> list[dict[str, Any]]:
    """Return what can be compared: the counts of each session (BPF program) for each share of new connections
    with learned minimum RTOs, except the shares 0 and 1."""
    return [one for session in sessions for one in session["arms"] if 0 < one["share"] < 1]


def summed(sessions: Sequence[Session]) -> Iterator[tuple[str, str]]:
    """Yield the lines of the report on all `sessions` together, as rows() does."""
    hosts = sorted({session["host"] for session in sessions})
    yield "hosts", f"{len(hosts)}: {', '.join(map(printable, hosts[:5]))}{', …' if len(hosts) > 5 else ''}"
    begun = min(float((s["guard"] or s).get("since") or s["since"]) for s in sessions)
    ended = max(s["until"] for s in sessions)
    yield "time", f"{local_time(begun)} to {local_time(ended)}"
    every = [one for session in sessions for one in session["arms"]]
    counts = {name: sum(one[name]["connections"] for one in every) for name in ("control", "ours", "stopped")}
    yield "connections", f"{sum(counts.values()):,}, of them {counts['ours']:,} with learned floors"
    held = [place for session in sessions if session["guard"] for place in session["guard"]["places"]]
    yield (
        "places",
        f"{sum(session['places'] for session in sessions):,}, of them {len(held)} without learned floors",
    )
    yield from _gained(_strata(sessions))
    for name, title in (("ours", "spurious"), ("control", "")):
        of = effect.spurious_of(one[name] for one in every)
        whose = "with learned floors" if name == "ours" else "with the kernel's timer"
        yield title, f"{span(of, 2)} in 1,000 rounds {whose}" if of else f"{NOTHING} {whose}"


def figures(sessions: Sequence[Session]) -> dict[str, Any]:
    """Return, for JSON, the estimates of the report on `sessions`, BPF programs with their counts. An
    estimate is a dict with its value and the limits of its interval, or None if nothing was counted."""
    acting = acting_of(sessions)
    found = effect_of(acting)
    spurious = {arm: spurious_of(acting, arm) for arm in _ARMS}
    return {
        "lossy_rounds": _effect(found) if found else None,
        "saved_s": vars(found.saved_s()) if found else None,
        "spurious_in_1000": _spurious(spurious),
        "places": [
            {
                "place": one.place,
                "rounds": one.rounds,
                "lossy_rounds": _effect(one.effect) if one.effect else None,
                "spurious_in_1000": _spurious({"control": one.control, "ours": one.ours}),
            }
            for one in by_place(acting)
        ],
    }


def spurious_of(sessions: Sequence[Session], arm: str) -> Estimate | None:
    """Return the number of rounds (round trips) with a spurious retransmission in 1,000 rounds of the group
    `arm` in all `sessions` (BPF programs with their counts), or None if it had no rounds."""
    return effect.spurious_of(one[arm] for session in sessions for one in session["arms"])


def _spurious(by_arm: Mapping[str, Estimate | None]) -> dict[str, Any]:
    return {arm: vars(of) if of else None for arm, of in by_arm.items()}


def _effect(of: Effect) -> dict[str, Any]:
    means = {
        arm: {"rounds": mean.rounds, "ms": mean.ms}
        for arm, mean in zip(_ARMS, (of.control, of.ours), strict=True)
    }
    return {**means, "less_ms": vars(of.less_ms)}


def _at_places(sessions: Sequence[Session]) -> Iterator[tuple[str, str]]:
    found = by_place(sessions)
    for at, one in enumerate(found[:_PLACES_SHOWN]):
        less = f"{span(one.effect.less_ms, 0)} ms less each lossy round, " if one.effect else ""
        rate = f"{span(one.ours, 1)} spurious in 1,000 of " if one.ours else ""
        spurious = f"{rate}{one.rounds:,} rounds with floors"
        yield "" if at else "by place", f"{printable(one.place)}: {less}{spurious}"
    if len(found) > _PLACES_SHOWN:
        yield "", f"and {len(found) - _PLACES_SHOWN} more places, in --json and --report"


def _gained(strata: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    found = effect.effect_of(strata)
    if not found:
        lost = {name: sum(one[name]["needed"] for one in strata) for name in ("control", "ours")}
        yield (
            "lossy rounds",
            f"{NOTHING}: {lost['control']} in the control group, {lost['ours']} with floors",
        )
        return
    yield (
        "lossy rounds",
        f"{found.control.ms:.0f} ms with the kernel's timer, {found.ours.ms:.0f} ms with learned floors",
    )
    sure = "" if found.is_sure else f"; {NOTHING}"
    yield "", f"{span(found.less_ms, 0)} ms less each{sure}"
    yield "saved", f"{span(found.saved_s(), 1)} s of waiting in {found.ours.rounds:,} lossy rounds"


def _decided(sessions: Sequence[Session]) -> Iterator[tuple[str, str]]:
    for session in sessions:
        title = f"{session['host']}, {session['cgroup']}"
        if not session["guard"]:
            yield "guard", f"{printable(title)}: none"
            continue
        yield "guard", f"{printable(title)}: learned floors for {100 * session['guard']['share']:.2g} %"
        for entry in session["guard"]["journal"][-_ENTRIES_SHOWN:]:
            yield "", f"{local_time(entry['at_s'])}  {printable(entry['text'])}"


def span(of: Estimate, digits: int) -> str:
    """Return the estimate `of` and its interval as text."""
    return f"{of.value:,.{digits}f} ({of.low:,.{digits}f} to {of.high:,.{digits}f})"
