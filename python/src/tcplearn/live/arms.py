# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What linux/bpf/live_arms.h and live_member.h count: of each arm of each epoch, and of each place."""

from __future__ import annotations

import ipaddress
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tcplearn.bpf import build, floors
from tcplearn.bpf.libbpf import Map

CONTROL, OURS, STOPPED = range(3)
ARMS = 3
NAMES = ("control", "ours", "stopped")
EPOCHS = 16
WHOLE = floors.WHOLE
UNIT_US = 100  # of the times that are counted
KEY_BYTES = 32  # struct live_key
_SOURCE = build.SOURCES / "live_arms.h"
_IPV4_BITS = 96
_MOST_PLACES = 4096  # TL_LIVE_PLACES

Counts = dict[str, int]


def meanings_in(source: Path) -> dict[str, str]:
    """The name of each count in a header's list, and what it is, in the order of the program."""
    return dict(re.findall(r'^\tX\((\w+), "(.*?)"\)', source.read_text(), re.MULTILINE))


@cache
def meanings() -> dict[str, str]:
    """Those of the counts of an arm."""
    return meanings_in(_SOURCE)


def summed(counted: Map, at: int, names: Sequence[str]) -> Counts:
    """The counts in an element of a map that has one for each processor, summed over the processors."""
    layout = struct.Struct(f"={len(names)}Q")
    rows = map(layout.unpack, counted.of_each_cpu(struct.pack("=I", at), layout.size))
    return {name: sum(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


@cache
def side_names() -> tuple[str, ...]:
    """Those of the counts of a place, of connections in one arm."""
    source = build.SOURCES / "live_member.h"
    found = re.search(r"define TL_LIVE_SIDE_COUNTS\(X\)(.*)", source.read_text())
    assert found
    return tuple(re.findall(r"X\((\w+)\)", found[1]))


def none() -> Counts:
    return dict.fromkeys(meanings(), 0)


def added(parts: Iterable[Mapping[str, int]]) -> Counts:
    whole = none()
    for part in parts:
        for name in whole:
            whole[name] += part[name]
    return whole


def plus(now: Mapping[str, int], more: Mapping[str, int]) -> Counts:
    return {name: now[name] + more[name] for name in now}


def minus(now: Mapping[str, int], before: Mapping[str, int]) -> Counts:
    return {name: now[name] - before[name] for name in now}


def read(counted: Map) -> list[list[Counts]]:
    """The arms of each epoch, summed over the processors."""
    return [element(counted, epoch) for epoch in range(EPOCHS)]


def element(counted: Map, epoch: int) -> list[Counts]:
    """The arms of an epoch."""
    return [summed(counted, epoch * ARMS + arm, [*meanings()]) for arm in range(ARMS)]


@dataclass(frozen=True)
class Place:
    """What the connections of a place (/24, /48) have had since the program was loaded."""

    stock: Counts
    ours: Counts
    last_us: int = 0  # of the last event, by the clock that started with the machine
    srtt_us: int = 0  # then
    floor_us: int = 0

    @property
    def rounds(self) -> int:
        return self.stock["rounds"] + self.ours["rounds"]


@dataclass(frozen=True)
class Seen:
    """What the guard looks at: everything that was counted since the program was loaded."""

    arms: list[list[Counts]]
    places: Mapping[bytes, Place] = field(default_factory=dict)


def places(traffic: Map) -> dict[bytes, Place]:
    names = side_names()
    layout = struct.Struct(f"={2 * len(names) + 1}Q2I")
    found = {}
    for key, packed in traffic.items(KEY_BYTES, layout.size, _MOST_PLACES):
        *values, last_us, srtt_us, floor_us = layout.unpack(packed)
        stock, ours = values[: len(names)], values[len(names) :]
        found[key] = Place(
            dict(zip(names, stock, strict=True)),
            dict(zip(names, ours, strict=True)),
            last_us,
            srtt_us,
            floor_us,
        )
    return found


def name_of(key: bytes) -> str:
    """A place as text: 192.0.2.0/24. Places of different network namespaces have the same name."""
    bits = struct.unpack_from("=I", key, 24)[0]
    address = ipaddress.IPv6Address(key[8:24])
    if address.ipv4_mapped:
        return f"{address.ipv4_mapped}/{bits - _IPV4_BITS}"
    return f"{address}/{bits}"


def pooled(elements: Iterable[tuple[int, list[Counts]]]) -> Iterator[dict[str, object]]:
    """What was drawn with the same share, added up. `elements`: share (of WHOLE) and arms of each epoch."""
    by_share: dict[int, list[list[Counts]]] = {}
    for share, element_of in elements:
        by_share.setdefault(share, []).append(element_of)
    for share, found in sorted(by_share.items()):
        sums = {name: added(one[arm] for one in found) for arm, name in enumerate(NAMES)}
        yield {"share": share / WHOLE, **sums}
