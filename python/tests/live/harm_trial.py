# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures how soon the guard of `tcplearn live` stops floors that do harm, with real packets:

    PYTHONPATH=python/tests .venv/bin/python python/tests/live/harm_trial.py    # root; 45 minutes

24 connections at a time, of 20 requests each, go to 50 destination prefixes or to one, over an emulated path
with an RTT of 20 ms that loses nothing. So each retransmission by a timer is spurious. Each of CONDITIONS is
there from the first connection on, or begins when all but the control group have floors. It is tried with
the floors that the BPF program learns, and with a program that always sets the least floor, as if the
learning had failed (least_floor.bpf.c). The guard has its default plan, except where learned floors get from
50 to 95 % on a calm path. harm_trial.py WORD... runs the trials
that have all these words."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from live_command import Room, room, server
from lossy_path import LossyPath, Spec

from tcplearn.live import arms, program
from tcplearn.live.guard import Guard, Plan
from tcplearn.live.program import Program, Settings
from tcplearn.live.steward import GLANCE_EVERY_S, LOOK_EVERY_S
from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import counted

REQUESTS, AT_ONCE, PAUSE_MS, PLACES = 20, 24, 20, 50
AFTER_S, RAMP_S = 20.0, 900.0
MOST_S = {"from the start": 540.0, "at 95 %": 300.0}
RUNS_AT_ONCE = 3
LEAST_FLOOR = Path(__file__).with_name("least_floor.bpf.c")


@dataclass(frozen=True)
class Condition:
    spec: Spec
    burst: int = 1  # requests that are sent together


LEAST, LEARNED = "the least", "learned"
START, LATER = "from the start", "at 95 %"
#: Floors, when the condition begins, and the number of destination prefixes.
KINDS = (
    (LEAST, START, PLACES),
    (LEAST, START, 1),
    (LEAST, LATER, PLACES),
    (LEARNED, START, PLACES),
    (LEARNED, LATER, PLACES),
)
HEADS = (
    "condition",
    "floors",
    "it begins",
    "prefixes",
    "spurious in 1,000 rounds: stock",
    "with floors",
    "recognised",
    "floors stopped",
    "after s",
    "after rounds with floors",
    "of all rounds",
    "spurious until then",
    "afterwards",
)
CONDITIONS = {
    "steps": Condition(Spec(step_ms=100, step_s=5.0)),
    "reordering": Condition(Spec(overtaken=0.02, late_ms=(60, 120)), burst=3),
    "delayed ACKs": Condition(Spec(kept=0.025, late_ms=(40, 200))),
}
_CLIENT = f"""
import random, socket, sys, threading, time
import small_talk
burst, places = int(sys.argv[1]), int(sys.argv[2])
def ask(number):
    draw = random.Random(number)
    while True:
        with socket.create_connection((f"10.78.{{draw.randrange(places)}}.1", small_talk.PORT)) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range({REQUESTS}):
                time.sleep(draw.uniform(0.5, 1.5) * {PAUSE_MS} / 1000)
                for _ in range(burst):
                    sock.sendall(small_talk.REQUEST)
                assert small_talk._whole(sock, burst * len(small_talk.ANSWER))
threads = [threading.Thread(target=ask, args=(number,)) for number in range({AT_ONCE})]
[thread.start() for thread in threads]
"""


@dataclass(frozen=True)
class Counted:
    """What connections with floors (`ours`) and in the control group have had, and when."""

    at_s: float
    control: arms.Counts
    ours: arms.Counts
    rounds: int  # of all connections

    def since(self, other: Counted) -> Counted:
        return Counted(
            self.at_s - other.at_s,
            arms.minus(self.control, other.control),
            arms.minus(self.ours, other.ours),
            self.rounds - other.rounds,
        )


class Trial:
    """The guard, the program, and connections over an emulated path."""

    def __init__(self, loaded: Program, plan: Plan, places: int) -> None:
        self.program, self._places = loaded, places
        self.guard = Guard(plan, time.time(), loaded.seen())
        self._apply()

    def counted(self) -> Counted:
        found = [arms.added(element[arm] for element in self.program.seen().arms) for arm in range(arms.ARMS)]
        rounds = sum(one["rounds"] for one in found)
        return Counted(time.monotonic(), found[arms.CONTROL], found[arms.OURS], rounds)

    def until(
        self, holds: Callable[[Trial], bool], most_s: float, look_every_s: float = LOOK_EVERY_S
    ) -> bool:
        """Let the guard decide until `holds` is true, or for `most_s`. Return whether it is true."""
        end_s = time.monotonic() + most_s
        while not holds(self):
            if time.monotonic() >= end_s:
                return False
            self._wait(look_every_s)
            self.guard.look(time.time(), self.program.seen())
            self._apply()
        return True

    def _wait(self, most_s: float) -> None:
        """Wait as the guard's own process does: until the next look, or until harm is to be stopped at
        once."""
        end_s = time.monotonic() + most_s
        while time.monotonic() < end_s:
            time.sleep(min(GLANCE_EVERY_S, most_s))
            if self.guard.is_pressing(self.program.by_arm()):
                return

    def _apply(self) -> None:
        self.program.assign(self.guard.share, self.guard.epoch)
        self.program.make_stock(set(self.guard.places.stopped(time.time())))

    def is_whole(self) -> bool:
        return self.guard.share > arms.WHOLE / 2

    def is_stopped(self) -> bool:
        """Return whether no new connection gets a floor."""
        return self.guard.step is None or len(self.guard.places.stopped(time.time())) == self._places


@contextmanager
def trial(
    of: Condition, is_fixed: bool, plan: Plan, places: int = PLACES
) -> Iterator[tuple[Trial, LossyPath]]:
    with (
        tempfile.TemporaryDirectory() as folder,
        LossyPath(of.spec, Path(folder)) as path,
        server(path),
        room() as at,
        Program(Settings(), LEAST_FLOOR if is_fixed else program.SOURCE) as loaded,
    ):
        loaded.attach(at.cgroup)
        began = Trial(loaded, plan, places)
        with _asking(of, path, at, places):
            yield began, path


@contextmanager
def _asking(of: Condition, path: LossyPath, at: Room, places: int) -> Iterator[None]:
    lines = [f"addr add 10.78.{place}.1/32 dev lo\n" for place in range(places)]
    subprocess.run(["ip", "-n", path.far, "-batch", "-"], input="".join(lines), text=True, check=True)
    route = ["route", "add", "10.78.0.0/16", "dev", "path", *path.congestion_control]
    subprocess.run(["ip", "-n", path.near, *route], check=True)
    words = path.within(path.near, sys.executable, "-c", _CLIENT, of.burst, places)
    with at.popen(words, cwd=Path(__file__).parent, stderr=subprocess.DEVNULL) as asking:
        try:
            yield
        finally:
            asking.kill()


def _run(name: str, floors: str, begins: str, places: int) -> list[str]:
    """Return the results of one trial."""
    of = CONDITIONS[name]
    of = replace(of, spec=replace(of.spec, calm=begins == LATER))
    words = [name, floors, begins, str(places)]
    # on a calm path learned floors need hours of the default plan, as many rounds have no lower floor yet
    plan = Plan(steps=(0.5,), least_s=30.0) if (floors, begins) == (LEARNED, LATER) else Plan()
    with trial(of, floors == LEAST, plan, places) as (began, path):
        if begins == LATER:
            if not began.until(Trial.is_whole, RAMP_S):
                return [*words, *["-"] * (len(HEADS) - len(words))]
            path.disturb()
        first = began.counted()
        is_stopped = began.until(Trial.is_stopped, MOST_S[begins])
        then = began.counted()
        stopped = _stopped(began, is_stopped)
        began.until(lambda _: False, AFTER_S if is_stopped else 0.0)
        found, after = then.since(first), began.counted().since(then)
        texts = [entry.text for entry in began.guard.journal]
        print(*words, found, after, *texts, path.end(), sep="\n    ", file=sys.stderr, flush=True)
    rates = [f"{1000 * of['resent'] / max(of['rounds'], 1):.1f}" for of in (found.control, found.ours)]
    resent = found.ours["resent"]
    recognised = f"{100 * found.ours['spurious'] / resent:.0f} %" if resent else "-"
    counts = [found.at_s, found.ours["rounds"], found.rounds, resent]
    later = f"{after.ours['resent']}" if is_stopped else "-"
    return [*words, *rates, recognised, stopped, *(f"{count:,.0f}" for count in counts), later]


def _stopped(of: Trial, is_stopped: bool) -> str:
    places = len(of.guard.places.stopped(time.time()))
    if is_stopped:
        return "all" if of.guard.step is None else "to each prefix" if places > 1 else "to the prefix"
    return f"no; {100 * of.guard.share / arms.WHOLE:.0f} % reached" + (
        f", not to {counted(places, 'place')}" if places else ""
    )


def main(words: list[str]) -> None:
    kinds = [(name, *kind) for kind, name in itertools.product(KINDS, CONDITIONS)]
    kinds = [kind for kind in kinds if all(any(word in str(of) for of in kind) for word in words)]
    with ThreadPoolExecutor(RUNS_AT_ONCE) as pool:
        rows = sorted(pool.map(lambda kind: _run(*kind), kinds), key=lambda row: [*CONDITIONS].index(row[0]))
    print(table_of([*HEADS], rows, [True] * 3 + [False] * 4 + [True] + [False] * 5))


if __name__ == "__main__":
    main(sys.argv[1:])
