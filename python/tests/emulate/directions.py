# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes hops in the form of tcplearn.emulate.path, and sends packets over them without devices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcplearn import _native
from tcplearn.emulate import path as emulated
from tcplearn.scenario import path as network_path

MS, S = 10**6, 10**9  # nanoseconds
Ints = NDArray[np.int64]

PLAIN: dict[str, Any] = {
    "rate_mbps": None, "opportunities_ns": None, "limit_packets": 100, "limit_bytes": None,
    "policer_mbps": None, "policer_bytes": None, "delay_ns": 0,
    "jitter_ns": 0, "tail_ns": 0, "distribution": "normal", "correlation": 0.0, "jitter_reorders": False,
    "reorder": 0.0, "reorder_ns": 0, "loss": 0.0, "bursts": None, "slot_ns": None, "changes": [], "fades": [],
}  # fmt: skip


def one_way(**keys: Any) -> list[dict[str, Any]]:
    """Return a path of one hop whose forward direction has the settings `keys`."""
    return [{"forward": PLAIN | keys, "reverse": PLAIN}]


def hops_of(text: str, folder: Path) -> list[dict[str, Any]]:
    """Return the hops of a path file with the content `text`."""
    file = folder / "mine.toml"
    file.write_text(text)
    return emulated.hops(network_path.load(file, "emulate"))


def crossed(
    hops: Sequence[dict[str, Any]],
    at_ns: Sequence[int] | Ints,
    size: int | Sequence[int] = 1500,
    seed: int = 1,
    forward: bool | Sequence[bool] = True,
) -> tuple[Ints, NDArray[np.uint8]]:
    """Return the arrival or drop time of each packet, and the cause of its drop if it was dropped."""
    times = np.asarray(at_ns, np.int64)
    sizes = np.broadcast_to(np.asarray(size, np.int64), times.shape).copy()
    sides = np.broadcast_to(np.asarray(forward, bool), times.shape).copy()
    return _native.EmulatedPath(hops, seed).run(times, sizes, sides)
