# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes a directory of small traces for each test."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from samples import ROOT, series

CAPTURE = ROOT / "examples" / "captures" / "access-link.pcap.gz"


def csv(seed: int, rows: int) -> str:
    """Return a CSV trace of a flow with a probe every 20 ms. One in fifteen answers is late, so that timers
    miss."""
    late = np.random.default_rng(seed + 1000).random(rows) < 1 / 15
    rtt = np.where(late, 2, 1) * series(seed, rows)
    sent = np.arange(rows) * 20_000
    time = np.maximum.accumulate(sent + rtt)
    lines = [f"{t / 1e6:.6f},{r / 1e3:.3f}" for t, r in zip(time, time - sent, strict=True)]
    return "\n".join(["t_s,rtt_ms", *lines]) + "\n"


def fill(folder: Path) -> Path:
    """Write three long series, one of them compressed, a short one, a very short one, and a file that is no
    trace."""
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "b.csv").write_text(csv(1, 900))
    (folder / "a.csv").write_text(csv(2, 600))
    (folder / "deep" / "er" / "c.csv.gz").write_bytes(gzip.compress(csv(3, 700).encode()))
    (folder / "deep" / "short.csv").write_text(csv(4, 200))
    (folder / "deep" / "tiny.csv").write_text(csv(5, 9))
    (folder / "deep" / "notes.txt").write_text("nothing to see\n")
    (folder / ".hidden.csv").write_text("not looked at")
    return folder


def shared() -> Path:
    """Return the folder of real traces beside the checkout; skip the test if there is none."""
    found = Path(os.environ.get("TCPLEARN_SHARED", ROOT.parent / "shared")) / "data"
    if not (found / "rtt").is_dir():
        pytest.skip(f"no traces in {found}")
    return found
