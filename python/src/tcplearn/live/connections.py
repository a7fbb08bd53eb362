# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read the connections that a started BPF program of `tcplearn live` knows (live_connections.bpf.c)."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass

from tcplearn.bpf import build
from tcplearn.bpf.kernel import ticks_per_second
from tcplearn.bpf.libbpf import Object, map_of
from tcplearn.output import temporary

from .arms import NAMES

_SOURCE = build.SOURCES / "live_connections.bpf.c"
_RECORD = struct.Struct("=16s2H11IQ")  # struct record


@dataclass(frozen=True)
class Connection:
    peer: str
    own_port: int
    arm: str
    rtt_ms: float  # SRTT
    least_rtt_ms: float
    rto_ms: float
    floor_ms: float  # in force; without a learned floor, the kernel's
    chosen_ms: float  # the learned floor, even if the connection does not get it
    rounds: int
    lost: int  # rounds in which a loss needed a retransmission by timer
    spurious: int
    saved_ms: float  # of waiting, by its learned floors


class Reader:
    """Reads the connections of started BPF programs with a BPF program of its own, loaded until close()."""

    def __init__(self) -> None:
        with temporary.folder() as folder:
            self._object = Object(build.compiled(_SOURCE, folder / "connections.o"))
        self._tick_ms = 1000 / ticks_per_second()

    def read(self, connections: int) -> list[Connection]:
        """Return the connections in the BPF map with the id `connections`."""
        with map_of(connections) as of:
            records = [*self._object.records("live_connections", of, _RECORD.size)]
        return [self._connection(record) for record in records]

    def _connection(self, record: bytes) -> Connection:
        packed, port, own_port, arm, srtt, least, _, *ticks, rounds, lost, spurious, saved = _RECORD.unpack(
            record
        )
        rto, floor, chosen, _ = (self._tick_ms * count for count in ticks)
        address = ipaddress.IPv6Address(packed)
        peer = f"{address.ipv4_mapped}:{port}" if address.ipv4_mapped else f"[{address}]:{port}"
        times = (srtt / 1000, least / 1000, rto, floor, chosen)
        return Connection(peer, own_port, NAMES[arm], *times, rounds, lost, spurious, saved / 1000)

    def close(self) -> None:
        self._object.close()
