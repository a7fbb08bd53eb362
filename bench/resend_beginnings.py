# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures the cost of the resend policy `priced` (a rule for when TCP's timer retransmits) at the start of a
connection, for values of `prior_misses`, the number of spurious retransmissions that it assumes at first.
Prints spurious retransmissions in 1,000 requests, and response times divided by those of Linux's own timer.
  python bench/resend_beginnings.py RTT.csv..."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from tcplearn.output.markdown import table_of
from tcplearn.replay import resend_paths as paths
from tcplearn.replay import resends
from tcplearn.traces import TraceOptions

REQUESTS, CONNECTIONS, FIRST = 300, 12, 50
PROCESSES = ("none", "iid1", "iid3", "fade_short", "overflow")
PRIORS = (0.5, 0.25, 0.1, 0.05, 0.0)
POLICIES = {
    "stock": ("stock", {}),
    "rto_min 5 ms": ("stock", {"rto_min_us": 5000.0}),
    **{f"{name}, {p}": (name, {"prior_misses": p}) for name in ("priced", "priced/spaced") for p in PRIORS},
}
SEED = 5
Figures = dict[str, float]


def beginnings(file: Path) -> Iterator[list[paths.Record]]:
    """Yield, for each RTT series of `file`, some connections that start in it: the RTTs from there on."""
    rng = np.random.default_rng(SEED)
    for record in paths.records(file, TraceOptions(), ""):
        places = rng.integers(0, max(len(record.rtt_us) - 2 * paths.LEAST_SAMPLES, 1), CONNECTIONS)
        yield [
            replace(record, time_us=record.time_us[k:] - record.time_us[k], rtt_us=record.rtt_us[k:])
            for k in places.tolist()
        ]


def figures(connections: list[paths.Record], process: str, policy: str) -> Figures:
    """Return figures of all requests of the `connections`, under the loss process `process` and the timer
    `policy` (a key of POLICIES)."""
    played = [
        resends.played(record, process, POLICIES[policy], resends.Setup((process,), REQUESTS, seed))
        for seed, record in enumerate(connections)
    ]
    response_ms = np.sort(np.concatenate([found["response_us"] / 1000 for found in played]))
    spurious = [found["needless"] for found in played]
    return {
        "spurious": 1000 * float(np.mean(spurious)),
        f"spurious, first {FIRST}": 1000 * float(np.mean([n[:FIRST] for n in spurious])),
        "p99, × stock": float(np.percentile(response_ms, 99)),
        "p99.9, × stock": float(np.percentile(response_ms, 99.9)),
        "slowest 2 %, × stock": float(response_ms[-len(response_ms) // 50 :].mean()),
    }


def main(files: list[str]) -> None:
    every = [connections for file in files for connections in beginnings(Path(file))]
    cells = {
        name: [figures(connections, process, name) for connections in every for process in PROCESSES]
        for name in POLICIES
    }
    rows = []
    for name, found in cells.items():
        row = [name]
        for key in found[0]:
            values = [f[key] for f in found]
            if "stock" in key:
                values = [v / s[key] for v, s in zip(values, cells["stock"], strict=True)]
            row.append(f"{resends.mean(values):.2f}" if "stock" in key else f"{np.mean(values):.1f}")
        rows.append(row)
    print(table_of(["timer, `prior_misses`", *cells["stock"][0]], rows))


if __name__ == "__main__":
    main(sys.argv[1:])
