# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads the RTT series of each flow from trace files."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tcplearn.traces import TraceError, open_trace

Series = Mapping[str, NDArray[np.int64]]


def files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def read(paths: Iterable[Path], least: int = 250) -> Series:
    """Return a dict with the RTTs in us of each flow in the traces `paths` that has `least` RTTs or more. Its
    keys are "file:flow", with the file's path and the flow's number."""
    out: dict[str, NDArray[np.int64]] = {}
    for path in files(paths):
        flows: dict[int, list[np.ndarray]] = {}
        try:
            for batch in open_trace(path).batches():
                sampled = batch["rtt_us"] >= 0
                for flow in np.unique(batch["flow"][sampled]).tolist():
                    flows.setdefault(flow, []).append(batch["rtt_us"][sampled & (batch["flow"] == flow)])
        except TraceError as e:
            print(f"{path}: {e}", file=sys.stderr)
        whole = {f"{path}:{flow}": np.concatenate(parts) for flow, parts in flows.items()}
        out |= {name: y for name, y in whole.items() if len(y) >= least}
    return out
