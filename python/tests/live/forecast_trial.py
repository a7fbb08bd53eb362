# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares the forecast of `tcplearn explain` for `tcplearn live` with a measurement, where connections have
few requests each and one begins with what the last one has learned:

    PYTHONPATH=python/tests .venv/bin/python python/tests/live/forecast_trial.py    # root; five minutes

It sends requests of 1 kB over emulated paths of this machine's kernel: 30 ms, 2 % of the requests lost. Under
Linux's own timer the packets are captured, and a forecast is made from the capture. Then, over another path
with other losses but at the same time, the same requests are sent under `tcplearn live run`.
forecast_trial.py COUNT sets another number of requests."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from live_command import Room, ask, room, server, tail, words_of
from lossy_path import LossyPath, Spec

from tcplearn.explain import run
from tcplearn.explain.answers import Figure
from tcplearn.output.markdown import table_of

OF_EACH, COUNT, PAUSE_MS = (5, 10, 20, 50), 3000, 30
HEADS = (
    "requests of a connection",
    "p99 under stock, ms",
    "p99 under live: forecast",
    "measured",
    "slowest 2 % under stock, ms",
    "under live: forecast",
    "measured",
)


def _asked(at: Room, path: LossyPath, each: int, count: int, *before: str) -> list[float]:
    words = [*before, *ask(path, count, PAUSE_MS, each=each)]
    asking = at.popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = asking.communicate()[0]
    assert asking.returncode == 0, words
    found: list[float] = json.loads(output)["ms"]
    return found


def _captured(at: Room, path: LossyPath, each: int, count: int, file: Path) -> list[float]:
    words = path.within(path.near, "tcpdump", "-U", "-s", 128, "-i", "path", "-w", file)
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as capture:
        while not file.exists() or not file.stat().st_size:
            time.sleep(0.1)
        times = _asked(at, path, each, count)
        time.sleep(1)  # the last packets
        capture.terminate()
    return times


def _forecast(figure: Figure) -> str:
    return f"{figure.value:.0f} ({figure.low:.0f}-{figure.high:.0f})"


def main(count: int) -> None:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        at = stack.enter_context(room())
        spec = [Spec(rtt_ms=30, loss=0.02, seed=seed) for seed in range(1, 2 * len(OF_EACH) + 1)]
        paths = [stack.enter_context(LossyPath(one, folder)) for one in spec]
        for path in paths:
            stack.enter_context(server(path))
        with ThreadPoolExecutor(len(paths)) as pool:
            stock = [
                pool.submit(_captured, at, path, each, count, folder / f"{each}.pcap")
                for path, each in zip(paths, OF_EACH, strict=False)
            ]
            live = [
                pool.submit(_asked, at, path, each, count, *words_of("run", "--"))
                for path, each in zip(paths[len(OF_EACH) :], OF_EACH, strict=True)
            ]
            measured = [[tail(one.result()) for one in of] for of in (stock, live)]
        rows = []
        for each, before, after in zip(OF_EACH, *measured, strict=True):
            forecast = run([folder / f"{each}.pcap"]).forecast
            assert forecast
            told = forecast.of("priced")
            figures = (told.figure("p99"), told.figure("slowest"))
            pairs = zip(before, map(_forecast, figures), after, strict=True)
            cells = [cell for was, figure, now in pairs for cell in (f"{was:.0f}", figure, f"{now:.0f}")]
            rows.append([str(each), *cells])
        late_ms = max(path.end()["late_p99_ms"] for path in paths)
    print(table_of(list(HEADS), rows, [False] * len(HEADS)))
    print(f"\npaths late by {late_ms:.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT)
