# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares first RTOs on this machine's own kernel, on emulated paths that lose SYNs and SYN-ACKs:

    PYTHONPATH=python/tests .venv/bin/python python/tests/collect/first_rto_trial.py    # root; some minutes

The shipped model was not trained on these places. The first RTO is stock Linux's one second, the best
constant of the training, that of the model with the history of the places, or that of a model of another
network, which is always 20 ms."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from emulated_hosts import places
from emulated_network import HERE, Network, Place
from sock_ops import Group

from tcplearn.learn.export import shipped_rtt
from tcplearn.learn.rtt.model import Model
from tcplearn.output.markdown import table_of

SHIPPED = shipped_rtt()[1]
NOTHING = SHIPPED.steps["nothing"]
ABSENT = dict.fromkeys(SHIPPED.steps)
MODELS: dict[str, Model | None] = {
    "stock, 1 s": None,
    "best constant": replace(SHIPPED, steps={**ABSENT, "nothing": NOTHING}, max_age_us=0),
    "model, places known": SHIPPED,
    "model of another network": replace(SHIPPED, steps={**ABSENT, "nothing": {"constant_us": 20_000.0}}),
}
HANDSHAKE_LOSS, CONNECTIONS = 0.1, 50
LONGEST_S = 120.0


@dataclass(frozen=True)
class Outcome:
    """Holds the times at the first router from the first SYN to the last of connections that lost a SYN or
    SYN-ACK and, of all connections, the SYNs, those resent although nothing was lost (`needless`) and those
    beyond one per loss (`unanswered`), as Linux answers a second SYN within half a second only once."""

    name: str
    connections: int
    waits_ms: np.ndarray[Any, Any]
    syns: int
    needless: int
    unanswered: int


def trial(name: str, model: Model | None, chosen: Sequence[Place], count: int) -> Outcome:
    """Return the results of `count` connections to each place. One more connection to each place comes first:
    it loses nothing, gives the model its history, and is not counted."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        network = stack.enter_context(Network(chosen, folder))
        group = stack.enter_context(Group(folder, model)) if model else None
        rows = connected(network, group, count + 1, LONGEST_S)
        return _outcome(name, network, rows, network.handshakes())


def connected(network: Network, group: Group | None, count: int, longest_s: float) -> list[Any]:
    """Open `count` connections to each place and return address, number, port and milliseconds of each."""
    return rows_of(connecting(network, group, network.places, count, longest_s))


def connecting(
    network: Network, group: Group | None, places: Sequence[Place], count: int, longest_s: float
) -> subprocess.Popen[str]:
    """Start and return a process that opens `count` connections to each of `places`."""
    words = [sys.executable, str(HERE / "connections.py"), str(count), str(longest_s)]
    return subprocess.Popen(
        ["ip", "netns", "exec", network.client, *words, *map(network.address, places)],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=group.join if group else None,
    )


def rows_of(running: subprocess.Popen[str]) -> list[Any]:
    """Wait for the process to end and return the rows that it printed."""
    output = running.communicate()[0]
    assert running.returncode == 0
    found: list[Any] = json.loads(output)
    return found


def _outcome(name: str, network: Network, rows: Sequence[Any], found: dict[str, list[Any]]) -> Outcome:
    times_s: dict[tuple[str, int], list[float]] = {}
    for when_s, to, port in found["seen"]:
        times_s.setdefault((to, port), []).append(when_s)
    drops = Counter((to, port) for to, port in found["dropped"])
    waits_ms, syns, needless, unanswered = [], 0, 0, 0
    for address, number, port, elapsed_ms in rows:
        if number == 0:
            continue
        assert elapsed_ms is not None, f"{name}: {address} was given up"
        sent_s, lost = times_s[address, port], drops[address, port]
        syns += len(sent_s)
        more = max(0, len(sent_s) - 1 - lost)
        needless += more if not lost else 0
        unanswered += more if lost else 0
        if lost:
            waits_ms.append(1000 * (sent_s[-1] - sent_s[0]))
    counted = len(rows) - len(network.places)
    return Outcome(name, counted, np.array(waits_ms), syns, needless, unanswered)


def main() -> None:
    chosen = [
        replace(place, loss=0.0, jitter=0.05, handshake_loss=HANDSHAKE_LOSS, clean_syns=1)
        for place in places(2)[:40]
    ]
    rows = []
    for name, model in MODELS.items():
        found = trial(name, model, chosen, CONNECTIONS)
        waits_ms = found.waits_ms
        figures = [waits_ms.mean(), np.percentile(waits_ms, 99), waits_ms.sum() / found.connections]
        shares = [100 * found.needless / found.syns, 100 * found.unanswered / found.syns]
        row = [name, str(found.connections), str(len(waits_ms))]
        row += [*(f"{figure:.0f}" for figure in figures), *(f"{share:.2f}" for share in shares)]
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    heads = ["first RTO", "connections", "with a loss", "mean wait, ms", "99th percentile", "mean of all"]
    heads += ["needless SYNs, %", "unanswered, %"]
    print(table_of(heads, rows, [True, *[False] * 7]))


if __name__ == "__main__":
    main()
