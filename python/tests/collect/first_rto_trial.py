# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""First RTOs on this machine's own kernel, on emulated paths that lose SYNs and SYN-ACKs:

    PYTHONPATH=python/tests .venv/bin/python python/tests/collect/first_rto_trial.py    # root; some minutes

Places that the shipped model was not trained on: stock's one second, the best constant of the training, the
model with history of the places, and a model of another network, whose every RTO is 20 ms."""

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
    """Of connections whose SYN or SYN-ACK was lost, milliseconds from the first SYN until the one that got
    through; and of all, SYNs that were sent again for nothing."""

    name: str
    connections: int
    waits_ms: np.ndarray
    needless: int
    syns: int


def trial(name: str, model: Model | None, chosen: Sequence[Place], count: int) -> Outcome:
    """The first connection with each place loses nothing: it is the history, and is not counted."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        network = stack.enter_context(Network(chosen, folder))
        group = stack.enter_context(Group(folder, model)) if model else None
        rows = connected(network, group, count + 1, LONGEST_S)
        return _outcome(name, network, rows, network.handshakes())


def connected(network: Network, group: Group | None, count: int, longest_s: float) -> list[Any]:
    """(address, number, port, milliseconds) of so many connections with each place."""
    words = [sys.executable, str(HERE / "connections.py"), str(count), str(longest_s)]
    running = subprocess.Popen(
        ["ip", "netns", "exec", network.client, *words, *map(network.address, network.places)],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=group.join if group else None,
    )
    output = running.communicate()[0]
    assert running.returncode == 0
    found: list[Any] = json.loads(output)
    return found


def _outcome(name: str, network: Network, rows: Sequence[Any], seen: dict[str, list[Any]]) -> Outcome:
    rtt_ms = {network.address(place): place.rtt_ms for place in network.places}
    syns = Counter((to, port) for _, to, port in seen["seen"])
    drops = Counter((to, port) for to, port in seen["dropped"])
    waits, needless, sent = [], 0, 0
    for address, number, port, elapsed_ms in rows:
        if number == 0:
            continue
        key = (address, port)
        sent += syns[key]
        needless += max(0, syns[key] - 1 - drops[key])
        if drops[key]:
            assert elapsed_ms is not None, f"{name}: {address} was given up"
            waits.append(max(0.0, elapsed_ms - rtt_ms[address]))
    return Outcome(name, len(rows) - len(rtt_ms), np.array(waits), needless, sent)


def main() -> None:
    chosen = [
        replace(place, loss=0.0, jitter=0.05, handshake_loss=HANDSHAKE_LOSS, clean_syns=1)
        for place in places(2)[:40]
    ]
    rows = []
    for name, model in MODELS.items():
        found = trial(name, model, chosen, CONNECTIONS)
        mean, p99 = float(found.waits_ms.mean()), float(np.percentile(found.waits_ms, 99))
        share = 100 * found.needless / found.syns
        row = [
            name,
            str(found.connections),
            str(len(found.waits_ms)),
            f"{mean:.0f}",
            f"{p99:.0f}",
            f"{share:.2f}",
        ]
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    heads = ["first RTO", "connections", "lost", "mean wait, ms", "99th percentile", "needless SYNs, %"]
    print(table_of(heads, rows, [True, *[False] * 5]))


if __name__ == "__main__":
    main()
