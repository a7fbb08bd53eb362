# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures in ns-3 how long web connections that lost a SYN-ACK wait under several first RTOs (timers of SYN
and SYN-ACK)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.lib.batches import Batch, Figures, SimulatedRuns
from experiments.lib.runs import Run, grouped


def keep(run: Any, result: Mapping[str, Any]) -> Figures:
    """Returns a run's counts of connections and SYNs, and the series `wait_ms`: for each handshake with a
    loss, the time in ms by which it took longer than the path's RTT."""
    begun = result["run"]["metrics"]["connections"]
    syns, spurious, waits_ms = begun, 0.0, []
    for flow in result["flows"]:
        metrics = flow["metrics"]
        resent = metrics.get("syn_retransmissions", 0)
        syns += resent
        if flow["lost"] == "none":
            spurious += resent
        elif "handshake_ms" in metrics:
            waits_ms.append(metrics["handshake_ms"] - metrics["path_rtt_ms"])
    load, topology = (getattr(run.scenario, part) for part in ("load", "topology"))
    counts = {"connections": begun, "syns": syns, "spurious_syns": spurious}
    return counts | {"places": load.places, "hosts": 2 * topology.pairs}, {"wait_ms": np.array(waits_ms)}


def batches(folder: Path, profile: str) -> list[Batch]:
    return [SimulatedRuns(folder / "simulated.toml", profile or "full", keep)]


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    variants = grouped(runs, lambda run: str(run.labels["variant"]))
    if "stock" not in variants:
        return {}
    counted, first = ("connections", "syns", "spurious_syns"), variants["stock"][0].metrics
    return {
        "waits": {v: np.concatenate([run.series["wait_ms"] for run in of]) for v, of in variants.items()},
        "counts": {
            v: {name: sum(r.metrics[name] for r in of) for name in counted} for v, of in variants.items()
        },
        "percentile": np.percentile,
        "hosts": int(first["hosts"]),
        "places": int(first["places"]),
        "seeds": len({run.seed for run in runs}),
    }
