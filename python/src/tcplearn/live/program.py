# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""linux/bpf/live.bpf.c in the kernel: settings, attaching, and what it has counted."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tcplearn.bpf import build
from tcplearn.bpf.kernel import ticks_per_second
from tcplearn.bpf.libbpf import Map, Object
from tcplearn.output import temporary

SOURCE = build.SOURCES / "live.bpf.c"
PROGRAM = "live"
_COUNTS = build.SOURCES / "live_counts.h"
_KEY = bytes(4)
_PLACE_KEY_BYTES = 32  # struct live_key
_COUNT_BYTES = 8
LEAST_CAP_MS = 1000  # of TCP_RTO_MAX_MS


@dataclass(frozen=True)
class Settings:
    observe: bool = False  # learn and count, set nothing
    cap_ms: int = 0  # of the backoff; 0: the kernel's

    def packed(self) -> bytes:
        return struct.pack("=4I", ticks_per_second(), self.observe, self.cap_ms, 0)


@cache
def meanings() -> dict[str, str]:
    """The name of each count, and what it is, in the order in which the program has them."""
    return dict(re.findall(r'^\tX\((\w+), "(.*?)"\)', _COUNTS.read_text(), re.MULTILINE))


class Program:
    """Loaded until close(), or until this process ends."""

    def __init__(self, settings: Settings) -> None:
        packed = settings.packed()
        with temporary.folder() as folder:
            self._object = Object(build.compiled(SOURCE, folder / "live.o"))
        self._object.map("settings").put(_KEY, packed)

    def attach(self, cgroup: Path) -> int:
        """Attach it to a cgroup; return the descriptor of the link."""
        return self._object.attach(PROGRAM, cgroup)

    def maps(self) -> dict[str, int]:
        """The ids by which another process finds what was counted."""
        return {name: self._object.map(name).id for name in ("counts", "hosts", "places")}

    def counts(self) -> dict[str, int]:
        return counts_of(self._object.map("counts"))

    def close(self) -> None:
        self._object.close()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def counts_of(counted: Map) -> dict[str, int]:
    """The sums over the processors, by name."""
    names = [*meanings()]
    values = counted.of_each_cpu(_KEY, _COUNT_BYTES * len(names))
    rows = [struct.unpack(f"={len(names)}Q", value) for value in values]
    return {name: sum(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def known(places: Map) -> int:
    """How many hosts or places a map has."""
    return sum(1 for _ in places.keys(_PLACE_KEY_BYTES))
