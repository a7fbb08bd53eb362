# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The first RTO in ns-3: web connections whose SYN-ACK was lost, from the runs that exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from tcplearn.jobs import Progress
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.output.markdown import table_of
from tcplearn.papers import Request
from tcplearn.scenario import tree
from tcplearn.simulate import sweep
from tcplearn.simulate.results import Json, RunStore

PAGE, FILE = "simulated", "simulated.toml"
RUNS = f"tcplearn simulate papers/baddam2018/{FILE} --profile {tree.FULL}"
#: Variants of the file, as the page names them.
NAMES: Mapping[str, str] = {
    "stock": "stock, 1 s",
    "constant": "best constant of the training",
    "model": "model, known places",
    "wrong": "model of another network (20 ms)",
}
HEAD = (
    "first RTO, both ends", "connections", "lost a SYN-ACK", "mean wait, ms", "to stock's", "median, ms",
    "p99, ms", "needless SYNs, %",
)  # fmt: skip
ABOUT = (
    "Web connections of PackMime over one bottleneck at 40 % load (`papers/baddam2018/simulated.toml`), of "
    "{hosts} hosts with {places} places; one packet in twenty is lost on its way to the client. *Wait*: what "
    "the handshake took above its path's RTT, of connections that lost a SYN-ACK; *needless*: SYNs of "
    "connections that lost none. {seeds} seeds. No TCP timestamps here: after a handshake that was sent "
    "again the next one of its place waits four times as long, whatever was lost."
)


@dataclass
class Arm:
    connections: int = 0
    syns: int = 0
    needless: int = 0
    waits_ms: list[float] = field(default_factory=list)

    def add(self, result: Json) -> None:
        begun = int(result["run"]["metrics"]["connections"])
        self.connections += begun
        self.syns += begun
        for flow in result["flows"]:
            metrics = flow["metrics"]
            resent = int(metrics.get("syn_retransmissions", 0))
            self.syns += resent
            if flow["lost"] == "none":
                self.needless += resent
            elif "handshake_ms" in metrics:
                self.waits_ms.append(metrics["handshake_ms"] - metrics["path_rtt_ms"])


def write(request: Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
    """None where there are no runs: `tcplearn simulate` makes them."""
    file = request.folder / FILE
    if not file.exists():
        return None
    finished = sweep.stored([file], tree.FULL, RunStore(request.kept)).finished()
    arms: dict[str, Arm] = {}
    for run, result in finished:
        arms.setdefault(str(run.labels["variant"]), Arm()).add(result)
    if "stock" not in arms:
        return None
    load, topology = (getattr(finished[0][0].scenario, part) for part in ("load", "topology"))
    seeds = len({run.seed for run, _ in finished})
    make_directory(request.out)
    lines = [
        "# The first RTO, in ns-3",
        f"Made by `{request.command}`, of the runs of `{RUNS}`; do not edit.",
        ABOUT.format(hosts=2 * topology.pairs, places=load.places, seeds=seeds),
        table_of(HEAD, list(_rows(arms)), [True, *[False] * (len(HEAD) - 1)]),
        request.notes(PAGE).strip(),
    ]
    write_atomically(request.out / f"{PAGE}.md", "\n\n".join(filter(None, lines)) + "\n")
    return f"{len(finished)} runs: {request.out / PAGE}.md"


def _rows(arms: Mapping[str, Arm]) -> Iterator[list[str]]:
    stock = float(np.mean(arms["stock"].waits_ms))
    for variant, arm in arms.items():
        mean = float(np.mean(arm.waits_ms))
        yield [
            NAMES[variant], str(arm.connections), str(len(arm.waits_ms)),
            f"{mean:.0f}", f"{mean / stock:.2f}",
            *(f"{np.percentile(arm.waits_ms, q):.0f}" for q in (50, 99)),
            f"{100 * arm.needless / arm.syns:.2f}",
        ]  # fmt: skip
