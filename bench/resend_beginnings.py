# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures the cost of the resend policy `priced` (a rule for when TCP's timer retransmits) at the start of a
connection, for values of `prior_misses`, the number of spurious retransmissions that it assumes at first.
Prints spurious retransmissions in 1,000 requests, and response times divided by those of Linux's own timer.
  python bench/resend_beginnings.py RTT.csv..."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
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


@dataclass(frozen=True)
class Beginning:
    """Represents a connection that starts in the middle of a recorded RTT series. `record` has the RTTs from
    that point on."""

    record: paths.Record
    seed: int

    def requests(self, process: str, policy: str) -> tuple[np.ndarray, np.ndarray]:
        """Return two arrays with a value for each request, under the loss process `process` and the timer
        `policy` (a key of POLICIES): the response time in ms, and the number of spurious retransmissions."""
        setup = resends.Setup((process,), REQUESTS, self.seed)
        found = resends.played(self.record, process, POLICIES[policy], setup)
        return found["response_us"] / 1000, found["needless"]


def beginnings(file: Path) -> Iterator[list[Beginning]]:
    rng = np.random.default_rng(SEED)
    for record in paths.records(file, TraceOptions(), ""):
        places = rng.integers(0, max(len(record.rtt_us) - 2 * paths.LEAST_SAMPLES, 1), CONNECTIONS)
        yield [Beginning(_from(record, k), s) for s, k in enumerate(places.tolist())]


def _from(record: paths.Record, k: int) -> paths.Record:
    return replace(record, time_us=record.time_us[k:] - record.time_us[k], rtt_us=record.rtt_us[k:])


def figures(connections: list[Beginning], process: str, policy: str) -> Figures:
    times, spurious = zip(*(c.requests(process, policy) for c in connections), strict=True)
    response_ms = np.sort(np.concatenate(times))
    return {
        "spurious": 1000 * float(np.mean(spurious)),
        f"spurious, first {FIRST}": 1000 * float(np.mean([n[:FIRST] for n in spurious])),
        "p99, × stock": float(np.percentile(response_ms, 99)),
        "p99.9, × stock": float(np.percentile(response_ms, 99.9)),
        "slowest 2 %, × stock": float(response_ms[-len(response_ms) // 50 :].mean()),
    }


def main(files: list[str]) -> None:
    cells: dict[str, list[Figures]] = {name: [] for name in POLICIES}
    for file in files:
        for connections in beginnings(Path(file)):
            for process in PROCESSES:
                for name in POLICIES:
                    cells[name].append(figures(connections, process, name))
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
