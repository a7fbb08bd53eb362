# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Starts, shows and stops the BPF program of `tcplearn live` for a cgroup or the whole machine."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tcplearn.errors import FailedError, UserError, printable
from tcplearn.search_path import SAFE, environment

from . import arms, holder, notes
from .conditions import need_all, need_bounds, need_free, need_privilege
from .program import Program, Settings, meanings

_ENDS_WITHIN_S = 5.0
#: Counts that are parts of another count: of the last one before them that is not in this set.
_PARTS = {"inherited", "remembered", "rounds_host_careful", "timeouts_queued"}
_OF_THESE = "of these, "
_OVERLAP = "one round can be in several of the lines that count rounds"
_ENTRIES_SHOWN = 5


def settings_of(
    observe: bool, bounds_backoff: bool, control_percent: float = 0.0, first_rto: str = ""
) -> Settings:
    """Return the BPF program's settings, with a control group of `control_percent` of the connections. Raise
    UserError if `bounds_backoff` is set and this machine cannot bound the RTO's exponential backoff."""
    if bounds_backoff:
        need_bounds()
    return Settings(observe, bounds_backoff, round(arms.WHOLE * (1 - control_percent / 100)), first_rto)


def need_free_below(cgroup: Path) -> None:
    """Raise UserError if live is already started for a cgroup below `cgroup`, where it would apply twice."""
    for note in notes.living():
        if cgroup.resolve() in Path(note.cgroup).resolve().parents:
            raise UserError(
                f"live is started already for {printable(note.cgroup)}, a part of it: stop it there first"
            )


def start(order: holder.Order, foreground: bool = False) -> None:
    """Start a process that keeps the BPF program attached to the cgroup in `order`, and return. With
    `foreground`, do this in the present process until a signal comes. Raise UserError or FailedError."""
    cgroup = Path(order.cgroup)
    need_all()
    need_free(cgroup)
    need_free_below(cgroup)
    if foreground:
        holder.stay(order)
        return
    process = subprocess.Popen(
        [sys.executable, SAFE, "-m", "tcplearn.live.holder", order.words()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    )
    assert process.stdout
    said = process.stdout.readline().strip()
    if said != holder.READY:
        process.wait()
        raise FailedError(printable(said) or "the process that holds the BPF program ended")
    process.returncode = 0  # it goes on without this process


def stop(cgroup: Path) -> dict[str, int]:
    """Detach the BPF program from `cgroup`, and return its counts by name. Raise UserError."""
    need_privilege()
    for note in notes.living():
        if Path(note.cgroup) == cgroup:
            return _end(note)
    raise UserError(f"live is not started for {printable(cgroup)}: see `tcplearn live status`")


def _end(note: notes.Note) -> dict[str, int]:
    counts: Any = note.read()["counts"]
    os.kill(note.pid, signal.SIGTERM)
    end = time.monotonic() + _ENDS_WITHIN_S
    while note.lives:
        if time.monotonic() > end:
            raise FailedError(f"process {note.pid} does not end, and still holds the BPF program")
        time.sleep(0.01)
    note.forget()
    return dict(counts)


def status() -> list[dict[str, Any]]:
    """Return a dict for each BPF program that `tcplearn live` has started, with its cgroup, settings and
    counts. Raise UserError."""
    need_privilege()
    found = []
    for note in notes.living():
        with contextlib.suppress(FailedError):  # it ended just now
            found.append(note.read())
    return found


def lines(session: dict[str, Any]) -> Iterator[str]:
    """Yield lines of text that describe `session`, a result of status()."""
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(session["since"]))
    cap = ", bounds the backoff" if session["bounds_backoff"] else ""
    gone = "" if session["cgroup_is_there"] else "; this cgroup is gone"
    does = _does(session)
    yield f"{printable(session['cgroup'])}: {does}{cap}, since {since}, process {session['pid']}{gone}"
    if session["guard"]:
        yield from _guarded(session["guard"])
    yield from counted(session["counts"])
    what = "host" if session["hosts"] == 1 else "hosts"
    within = "1 prefix" if session["places"] == 1 else f"{session['places']} prefixes"
    yield f"{session['hosts']:12}  {what} in {within} of which something was learned"


def _does(session: dict[str, Any]) -> str:
    if session["observe"]:
        return "observes, sets nothing"
    share = notes.share_of(session)
    if not share:
        return "sets no learned floors"
    of = "" if share == 1 else f" for {100 * share:.2g} % of the new connections"
    return f"sets learned floors{of}"


def _guarded(guard: dict[str, Any]) -> Iterator[str]:
    for entry in guard["journal"][-_ENTRIES_SHOWN:]:
        yield f"{time.strftime('%m-%d %H:%M:%S', time.localtime(entry['at_s']))}  {entry['text']}"
    if guard["places"]:
        yield (
            f"{len(guard['places'])} destination prefixes get no learned floors: "
            f"{', '.join(p['place'] for p in guard['places'][:5])}"
        )


def counted(counts: dict[str, int]) -> Iterator[str]:
    """Yield a line for each of the `counts` that is not zero, by name, indented if it is part of another
    count. A last line says that the counts of rounds overlap."""
    for name, meaning in meanings().items():
        part = f"  {_OF_THESE}" if name in _PARTS else ""
        if counts[name]:
            count = f"{counts[name]:12}"
            if name.endswith("_us"):
                count, meaning = f"{_seconds(counts[name]):>12}", meaning.replace("microseconds", "seconds")
            yield f"{count}  {part}{meaning.removeprefix(_OF_THESE)}"
    if counts["rounds"]:
        yield f"{'':12}  ({_OVERLAP})"


def would(counts: dict[str, int]) -> str:
    """Return a sentence on how much waiting learned minimum RTOs would have saved. `counts` are those of a
    BPF program that only observed connections."""
    if not counts["connections"]:
        return (
            "no connection was opened in this time, so nothing can be said; those that were open before are "
            "not observed"
        )
    resent = counts["resent_needed"] + counts["resent_spurious"] + counts["resent_unclear"]
    if not resent:
        return "no packet was retransmitted by a timer: learned floors would have gained nothing"
    spared = (
        f"about {_seconds(counts['saved_us'])} s of waiting in {counts['resent_needed']} rounds with a loss"
    )
    if not counts["rounds_late"]:
        return f"learned floors would have spared {spared}; no answer came later than the shorter timer"
    return (
        f"learned floors would have spared {spared}, and caused a spurious retransmission in "
        f"{counts['rounds_late']} of {counts['rounds']} rounds, whose answers came later than the shorter "
        "timer"
    )


def advised(counts: dict[str, int], chosen: str) -> str:
    """Return a sentence on what to type next. `counts` are those of a BPF program that only observed the
    connections that the options `chosen` select ("": those of the machine)."""
    if not counts["connections"]:
        return "next: observe for longer, or while clients connect"
    if not counts["saved_us"]:
        return "next: observe for longer; no wait of these connections would have been shorter so far"
    start, stop = (
        f"`{' '.join(filter(None, ('tcplearn live', verb, chosen)))}`" for verb in ("start", "stop")
    )
    return (
        f"next: {start} sets learned floors for 1 % of the new connections first, and for none if they do "
        f"harm; {stop} undoes it"
    )


def _seconds(time_us: int) -> str:
    return f"{time_us / 1e6:.3g}"


def observe(cgroup: Path, wait: Callable[[], None]) -> dict[str, int]:
    """Let the BPF program learn and count at `cgroup`, without a change of any RTO, until `wait` returns.
    Return the counts by name. Raise UserError."""
    need_all()
    need_free(cgroup)
    need_free_below(cgroup)
    settings = Settings(observe=True)
    with Program(settings) as program:
        program.attach(cgroup)
        with notes.noted(cgroup, settings, program.maps()):
            wait()
        return program.counts()
