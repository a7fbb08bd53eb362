# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes a capture of many short flows."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent / "traces"))
import wire


def write(path: Path, flows: int, rtts: int = 10) -> Path:
    chance = np.random.default_rng(1)
    frames = []
    for k in range(flows):
        w = wire.Wire(client=wire.Host("10.0.0.1", 40_000 + k), start_us=1_600_000_000_000_000 + k * 500_000)
        now = w.handshake()
        for i in range(rtts - 1):
            rtt_us = int(40_000 * chance.lognormal(0, 0.1))
            w.send(now, w.client, 1 + 100 * i, 100, ack=1)
            w.send(now + rtt_us, w.server, 1, ack=101 + 100 * i)
            now += rtt_us + 2000
        frames += w.frames
    path.write_bytes(wire.pcap(sorted(frames, key=lambda f: f[0])))
    return path
