# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Counts the false alarms of the guard of `tcplearn live` on real connections:

    PYTHONPATH=python/tests .venv/bin/python python/tests/live/guard_runs.py    # root; a quarter of an hour

In each run the BPF program only observes, so the connections that the guard takes for those with learned
floors have Linux's own timer, as the control group has. Any stop, of all floors or of those to the only
destination prefix, is a false alarm. The runs are on this machine's kernel, over the emulated paths of
record_rounds.py in turn. The guard begins with half of the connections, so that both groups soon have much to
compare. guard_runs.py COUNT SECONDS sets another number of runs and another length; a further word "ramp"
takes the steps of `live start`, from 1 % on."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from live_command import room, server
from lossy_path import LossyPath
from record_rounds import PATHS

from tcplearn.live import arms
from tcplearn.live.guard import Guard, Plan
from tcplearn.live.program import Program, Settings
from tcplearn.output.markdown import table_of

COUNT, SECONDS, AT_ONCE = 20, 150.0, 4
LOOK_EVERY_S, LEAST_S = 5.0, 10.0  # as the guard looks; a step lasts a minute there
_CLIENT = """
import sys, threading
import small_talk
def ask(number):
    draw = 1_000_000 * int(sys.argv[2]) + 1000 * number
    while True:
        draw += 1
        small_talk.ask(sys.argv[1], 25, 40, draw, 25)
threads = [threading.Thread(target=ask, args=(number,)) for number in range(24)]
[thread.start() for thread in threads]
"""


def _run(number: int, seconds: float, plan: Plan) -> list[str]:
    """Return the results of one run: what both groups had, the share that was reached, and why floors were
    stopped, or "no"."""
    name, spec = list(PATHS.items())[number % len(PATHS)]
    spec = replace(spec, seed=100 + number)
    with (
        tempfile.TemporaryDirectory() as folder,
        LossyPath(spec, Path(folder)) as path,
        server(path),
        room() as at,
        Program(Settings(observe=True)) as program,
    ):
        program.attach(at.cgroup)
        guard = Guard(plan, time.time(), program.seen())
        program.assign(guard.share, guard.epoch)
        words = path.within(path.near, sys.executable, "-c", _CLIENT, path.address, number)
        with at.popen(words, cwd=Path(__file__).parent, stderr=subprocess.DEVNULL) as asking:
            try:
                stopped = _watched(guard, program, seconds)
                assert asking.poll() is None, "the clients ended"
            finally:
                asking.kill()
        share, seen = guard.share, program.seen()
    groups = [arms.added(element[arm] for element in seen.arms) for arm in (arms.CONTROL, arms.OURS)]
    per_1000 = [f"{1000 * of['spurious'] / max(of['rounds'], 1):.1f}" for of in groups]
    counted = [f"{sum(of[key] for of in groups):,}" for key in ("connections", "rounds")]
    return [str(number), name, *counted, *per_1000, f"{100 * share / arms.WHOLE:.0f} %", stopped]


def _watched(guard: Guard, program: Program, seconds: float) -> str:
    """Let the guard decide until it stops floors, or for `seconds`. Return why it has stopped, or "no"."""
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        time.sleep(LOOK_EVERY_S)
        now_s = time.time()
        guard.look(now_s, program.seen())
        program.assign(guard.share, guard.epoch)
        if guard.step is None or guard.places.stopped(now_s):
            return guard.journal[-1].text
    return "no"


def main(count: int, seconds: float, plan: Plan) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        rows = list(pool.map(lambda number: _run(number, seconds, plan), range(count)))
    heads = [
        "run",
        "path",
        "connections",
        "rounds",
        "spurious in 1,000: control",
        "the others",
        "share",
        "stopped",
    ]
    print(table_of(heads, rows, [False, True, False, False, False, False, False, True]))
    print(f"\n{sum(row[-1] != 'no' for row in rows)} false alarms in {count} runs")


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "ramp"]
    count = int(words[0]) if words else COUNT
    seconds = float(words[1]) if len(words) > 1 else SECONDS
    main(count, seconds, Plan(least_s=LEAST_S) if "ramp" in sys.argv else Plan(steps=(0.5,), least_s=LEAST_S))
