# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures emulated hosts and writes their rows, to train a model where no real network may be measured:

    .venv/bin/python python/tests/collect/emulated_hosts.py hosts.parquet    # root; two minutes

It measures 60 hosts behind 1 to 8 routers four times. RTTs are 2 to 300 ms, longer with more hops, with up
to 10 % of jitter and 5 % of loss."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl
from emulated_network import Network, Place

HOSTS, VISITS = 60, 4


def places(seed: int) -> list[Place]:
    draw = random.Random(seed)
    out = []
    for _ in range(HOSTS):
        rtt_ms = 2 * 150 ** draw.random()
        hops = round(1 + 5 * (rtt_ms / 300) ** 0.5 + draw.uniform(0, 2))
        out.append(
            Place(min(8, hops), round(rtt_ms, 3), loss=draw.uniform(0, 0.05), jitter=draw.uniform(0, 0.1))
        )
    return out


def main(out: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, Network(places(1), Path(folder)) as network:
        frames = []
        for visit in range(VISITS):
            path = Path(folder) / f"{visit}.parquet"
            hosts = [network.address(place) for place in network.places]
            words = (
                "collect",
                "-q",
                "-o",
                path,
                "--rate",
                200,
                "--interval",
                "0.2",
                "--concurrency",
                60,
                *hosts,
            )
            subprocess.run(network.command(*words), check=True, stdout=subprocess.DEVNULL)
            frames.append(pl.read_parquet(path))
    pl.concat(frames).write_parquet(out)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
