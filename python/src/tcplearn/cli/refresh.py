# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Show the table of a live capture's results on the terminal and refresh it, until Ctrl-C or for a given
time."""

from __future__ import annotations

import contextlib
import math
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcplearn.cli.common import Outputs
from tcplearn.cli.options import FormatName
from tcplearn.errors import UserError, printable
from tcplearn.output.numbers import counted

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

    from tcplearn.replay.replay import Progress
    from tcplearn.replay.results import Replay
    from tcplearn.traces import CaptureTrace, Interface

REFRESH_S = 1.0
#: The largest share of the time that refreshes may take. Each computes all flows' bootstrap intervals anew.
SHARE_OF_TIME = 0.1
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}

Render = Callable[["Replay", "Console"], "RenderableType"]


def seconds(text: str) -> float:
    """Return the seconds in `text`, such as "30s", "5m", "1h" or "30". Return infinity if `text` is empty."""
    if not text:
        return math.inf
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h|)", text, re.ASCII)
    if not found or not float(found[1]):
        raise UserError(f"--for {printable(text)}: not a time; give it as 30s, 5m or 1h")
    return float(found[1]) * _SECONDS[found[2]]


def is_pipe(path: Path) -> bool:
    return str(path) == "-" or (path.exists() and not path.is_file())


def any_live(sources: Sequence[Path | Interface]) -> bool:
    return any(not isinstance(source, Path) or is_pipe(source) for source in sources)


def on_terminal(outputs: Outputs) -> bool:
    """Return whether the table is shown on a terminal while the capture is being read."""
    shown = outputs.format is FormatName.table and outputs.output is None and not outputs.quiet
    return shown and sys.stdout.isatty()


class Refresh:
    """A capture's callback that refreshes the table of results, and stops the capture after a given time."""

    def __init__(self, duration_s: float, render: Render | None, progress: Progress | None) -> None:
        """Prepare to show the table from `render` or, if that is None, to report time and packets to
        `progress`."""
        self._duration_s = duration_s
        self._render = render
        self._progress = progress
        self._stack = contextlib.ExitStack()
        self._screen: Live | None = None
        self._start_s: float | None = None
        self._next_s = 0.0
        self._ending = False

    def __call__(self, trace: CaptureTrace, so_far: Callable[[], Replay | None]) -> None:
        now_s = time.monotonic()
        if self._start_s is None:
            self._start_s = now_s
        elapsed_s = now_s - self._start_s
        if self._ending or elapsed_s >= self._duration_s:
            trace.stop()
            return
        if now_s < self._next_s:
            return
        state = f"{elapsed_s:.0f} s, {counted(trace.packets, 'packet')}"
        if self._render:
            self._refresh(self._render, state, so_far())
        elif self._progress:
            self._progress(min(elapsed_s / self._duration_s, 1.0), state)
        cost_s = time.monotonic() - now_s
        self._next_s = now_s + max(REFRESH_S, cost_s / SHARE_OF_TIME)

    def _refresh(self, render: Render, state: str, result: Replay | None) -> None:
        from rich.console import Console, Group
        from rich.live import Live
        from rich.text import Text

        if self._screen is None:
            console = Console(highlight=False)
            live = Live(console=console, auto_refresh=False, transient=True)
            self._screen = self._stack.enter_context(live)
        waiting = "" if result else "; no round trip yet"
        parts: list[Any] = [Text(f"{state}{waiting}; Ctrl-C ends and keeps the table", style="dim")]
        if result:
            parts.append(render(result, self._screen.console))
        self._screen.update(Group(*parts), refresh=True)

    def _on_signal(self, _number: int, _frame: object) -> None:
        if self._start_s is None or self._ending:  # no live capture yet, or the second signal
            raise KeyboardInterrupt
        self._ending = True

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Within this context, let the first SIGINT, SIGTERM or SIGHUP end the capture, not the program."""
        ending = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup sets SIG_IGN
            ending.append(signal.SIGHUP)
        before = {s: signal.signal(s, self._on_signal) for s in ending}
        try:
            with self._stack:
                yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
