# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Load the BPF program of `tcplearn live` (linux/bpf/live.bpf.c) into the kernel, attach it, change its
settings, and read its counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tcplearn.bpf import build, floors, kernel
from tcplearn.bpf.libbpf import Map, Object
from tcplearn.output import temporary

from . import arms

SOURCE = floors.SOURCE
_FIRST_RTO = build.SOURCES / "first_rto.bpf.c"
PROGRAM = "live"
_KEY = bytes(4)
# names of the maps that other processes read
_SHOWN = ("arms", "connections", "counts", "hosts", "places", "stock_places", "traffic")


@dataclass(frozen=True)
class Settings:
    """The settings of the BPF program. A floor is a learned minimum RTO."""

    observe: bool = False  # learn and count, set nothing
    bounds_backoff: bool = False  # linux/bpf/live_backoff.h
    share: int = arms.WHOLE  # of the new connections that get floors; if all do, there is no control group
    first_rto: str = ""  # settings of linux/bpf/first_rto.bpf.c in hexadecimal digits; "": not loaded

    def packed(self, epoch: int = 0, ticks_per_second: int = 0) -> bytes:
        """Return the settings as bytes for the BPF program, which counts new connections under the number
        `epoch`. `ticks_per_second` is CONFIG_HZ of the kernel that runs it (0: this kernel's)."""
        ticks = ticks_per_second or kernel.ticks_per_second()
        return floors.settings(
            ticks, observe=self.observe, bounds_backoff=self.bounds_backoff, share=self.share, epoch=epoch
        )


@cache
def meanings() -> dict[str, str]:
    """Return the meaning of each count of the BPF program, by the count's name, in the program's order."""
    return arms.meanings_in(build.SOURCES / "live_counts.h")


class Program:
    """The BPF program live.bpf.c, or a variant of it in the file `source`. It stays loaded until close() is
    called or this process ends."""

    def __init__(self, settings: Settings, source: Path = SOURCE) -> None:
        self._settings = settings
        packed = settings.packed()
        with temporary.folder() as folder:
            self._object = Object(build.compiled(source, folder / "live.o"))
            self._first = None
            if settings.first_rto:
                self._first = Object(build.compiled(_FIRST_RTO, folder / "first_rto.o"))
                self._first.map("settings").put(_KEY, bytes.fromhex(settings.first_rto))
        self._object.map("settings").put(_KEY, packed)
        self._stock: set[bytes] = set()

    def assign(self, share: int, epoch: int) -> None:
        """From now on, give learned minimum RTOs to the share `share` / arms.WHOLE of new connections, and
        count all new connections under the number `epoch`."""
        settings = replace(self._settings, share=share)
        self._object.map("settings").put(_KEY, settings.packed(epoch % arms.EPOCHS))

    def make_stock(self, places: set[bytes]) -> None:
        """Give no learned minimum RTOs to new connections to the destination prefixes `places`. New
        connections to prefixes of an earlier call that are not in `places` get learned minimum RTOs again."""
        held = self._object.map("stock_places")
        for key in places - self._stock:
            held.put(key, _KEY)
        for key in self._stock - places:
            held.remove(key)
        self._stock = set(places)

    def by_arm(self) -> list[list[arms.Counts]]:
        """Return the counts by epoch and arm (group of connections)."""
        counted = self._object.map("arms")
        return [arms.element(counted, epoch) for epoch in range(arms.EPOCHS)]

    def seen(self) -> arms.Seen:
        return arms.Seen(self.by_arm(), arms.places(self._object.map("traffic")))

    def attach(self, cgroup: Path) -> list[int]:
        """Attach the BPF program to `cgroup`; return the descriptors of the links."""
        links = [self._object.attach(PROGRAM, cgroup)]
        return [*links, self._first.attach("first_rto", cgroup)] if self._first else links

    def maps(self) -> dict[str, int]:
        """Return the ids of the BPF maps, by name, with which another process can read the counts."""
        return {name: self._object.map(name).id for name in _SHOWN}

    def counts(self) -> dict[str, int]:
        return counts_of(self._object.map("counts"))

    def close(self) -> None:
        if self._first:
            self._first.close()
        self._object.close()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def counts_of(counted: Map) -> dict[str, int]:
    """Return the counts in the BPF map `counted`, by name, summed over the processors."""
    return arms.summed(counted, 0, [*meanings()])


def known(places: Map) -> int:
    """Return the number of hosts or destination prefixes in the BPF map `places`."""
    return sum(1 for _ in places.keys(arms.KEY_BYTES))
