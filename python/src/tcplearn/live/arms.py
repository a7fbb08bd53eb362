# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read the counts of the BPF program of `tcplearn live`: for each arm of each epoch (linux/bpf/live_arms.h),
and for each destination prefix, called place (live_member.h). An arm is a group of connections: the control
group, those with learned minimum RTOs (floors), or those to places where the guard has stopped floors. An
epoch is a time in which the share of new connections with floors does not change. A round is a request and
its answer, or a flight of segments and its ACK."""

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
EPOCHS = 16  # the number of epochs whose counts the BPF program keeps
WHOLE = floors.WHOLE
UNIT_US = 100  # the unit of the times that the BPF program counts, in microseconds
KEY_BYTES = 32  # struct live_key
_IPV4_BITS = 96
_MOST_PLACES = 4096  # TL_LIVE_PLACES

Counts = dict[str, int]  # by the name of the count


def meanings_in(source: Path) -> dict[str, str]:
    """Return the meaning of each count in the list of counts of the C header `source`, by name, in order."""
    return dict(re.findall(r'^\tX\((\w+),[\s\\]+"(.*?)"\)', source.read_text(), re.MULTILINE))


@cache
def meanings() -> dict[str, str]:
    """Return the meaning of each count in live_arms.h (of a group of connections), by the count's name."""
    return meanings_in(build.SOURCES / "live_arms.h")


def summed(counted: Map, at: int, names: Sequence[str]) -> Counts:
    """Return the counts `names` in element `at` of the BPF map `counted`, summed over the processors."""
    layout = struct.Struct(f"={len(names)}Q")
    rows = map(layout.unpack, counted.of_each_cpu(struct.pack("=I", at), layout.size))
    return {name: sum(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


@cache
def side_names() -> tuple[str, ...]:
    """Return the names of the counts of a destination prefix that are kept separately for connections with
    and without learned minimum RTOs (floors)."""
    source = build.SOURCES / "live_member.h"
    found = re.search(r"define TL_LIVE_SIDE_COUNTS\(X\)(.*)", source.read_text())
    assert found
    return tuple(re.findall(r"X\((\w+)\)", found[1]))


def none() -> Counts:
    return dict.fromkeys(meanings(), 0)


def added(parts: Iterable[Mapping[str, int]]) -> Counts:
    found = [*parts]
    return {name: sum(part[name] for part in found) for name in meanings()}


def plus(now: Mapping[str, int], more: Mapping[str, int]) -> Counts:
    return {name: now[name] + more[name] for name in now}


def minus(now: Mapping[str, int], before: Mapping[str, int]) -> Counts:
    return {name: now[name] - before[name] for name in now}


def element(counted: Map, epoch: int) -> list[Counts]:
    """Return the counts of the epoch with the index `epoch` in the BPF map `counted`, by arm."""
    return [summed(counted, epoch * ARMS + arm, [*meanings()]) for arm in range(ARMS)]


@dataclass(frozen=True)
class Place:
    """The counts of connections to a destination prefix (/24 or /48) since the BPF program was loaded."""

    stock: Counts
    ours: Counts
    last_us: int = 0  # time of the last event, since the machine's start
    srtt_us: int = 0  # of the connection that had this event
    floor_us: int = 0  # the minimum RTO of this connection

    @property
    def rounds(self) -> int:
        return self.stock["rounds"] + self.ours["rounds"]


@dataclass(frozen=True)
class Seen:
    """What the BPF program has counted since it was loaded: `arms` by epoch and arm, `places` by prefix."""

    arms: list[list[Counts]]
    places: Mapping[bytes, Place] = field(default_factory=dict)


def places(traffic: Map) -> dict[bytes, Place]:
    names = side_names()
    layout = struct.Struct(f"={2 * len(names) + 1}Q2I")
    found = {}
    for key, packed in traffic.items(KEY_BYTES, layout.size, _MOST_PLACES):
        *values, last_us, srtt_us, floor_us = layout.unpack(packed)
        sides = values[: len(names)], values[len(names) :]
        stock, ours = (dict(zip(names, side, strict=True)) for side in sides)
        found[key] = Place(stock, ours, last_us, srtt_us, floor_us)
    return found


def name_of(key: bytes) -> str:
    """Return the prefix in `key` as text, such as 192.0.2.0/24. The key's network namespace is left out."""
    bits = struct.unpack_from("=I", key, 24)[0]
    address = ipaddress.IPv6Address(key[8:24])
    if address.ipv4_mapped:
        return f"{address.ipv4_mapped}/{bits - _IPV4_BITS}"
    return f"{address}/{bits}"


def pooled(elements: Iterable[tuple[int, list[Counts]]]) -> Iterator[dict[str, object]]:
    """Yield a dict for each share of new connections with learned minimum RTOs: "share", from 0 to 1, and the
    counts of each arm (group of connections), summed over the epochs (times) with this share. `elements` has
    for each epoch its share, in units of 1 / WHOLE, and its counts."""
    by_share: dict[int, list[list[Counts]]] = {}
    for share, element_of in elements:
        by_share.setdefault(share, []).append(element_of)
    for share, found in sorted(by_share.items()):
        sums = {name: added(one[arm] for one in found) for arm, name in enumerate(NAMES)}
        yield {"share": share / WHOLE, **sums}
