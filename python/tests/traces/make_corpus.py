#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes the seed corpus of fuzz_capture: python3 make_corpus.py DIRECTORY."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import make_captures
import wire
from wire import FIN, RST, SYN, Host, Wire


def transfer(kind: int = wire.EN10MB, tags: tuple[int, ...] = (), v6: bool = False, isn: int = 1000) -> Wire:
    """Return a capture of a handshake, a loss with SACK and its repair, and a close."""
    w = Wire(kind=kind, tags=tags)
    if v6:
        w.client.address, w.server.address = "2001:db8::1", "2001:db8::2"
    w.client.isn = isn
    t = w.handshake(options=wire.SACK_PERMITTED + wire.timestamps(1, 0))
    base = isn
    for i in range(4):
        w.send(t + i * 100, w.client, 1 + i * 100, 100, ack=1, options=wire.timestamps(10 + i, 1))
    w.send(t + 40_000, w.server, 1, ack=101, options=wire.timestamps(5, 10))
    w.send(
        t + 40_100, w.server, 1, ack=101, options=wire.timestamps(5, 10) + wire.sack((base + 201, base + 401))
    )
    w.send(t + 41_000, w.client, 101, 150, ack=1, options=wire.timestamps(60, 5))
    w.send(t + 81_000, w.server, 1, ack=401, options=wire.timestamps(50, 60))
    w.send(t + 82_000, w.client, 401, 1, ack=1, flags=FIN)
    w.send(t + 120_000, w.server, 1, ack=403, flags=FIN)
    w.send(t + 120_100, w.client, 403, ack=2)
    return w


def main(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    seeds: dict[str, bytes] = {
        "ethernet.pcap": transfer().pcap(),
        "big-endian-ns.pcap": transfer().pcap(order=">", nanoseconds=True),
        "ethernet.pcapng": transfer().pcapng(),
        "qinq.pcap": transfer(tags=(0x88A8, 0x8100)).pcap(),
        "wrap.pcap": transfer(isn=2**32 - 150).pcap(),
        "ipv6.pcap": transfer(v6=True).pcap(),
        "ethernet.pcap.gz": gzip.compress(transfer().pcap(), mtime=0),
    }
    for name, kind in {
        "sll": wire.SLL,
        "sll2": wire.SLL2,
        "raw": wire.RAW,
        "null": wire.NULL,
        "loop": wire.LOOP,
    }.items():
        seeds[f"{name}.pcap"] = transfer(kind=kind).pcap()
    packets = transfer(kind=wire.RAW).frames
    for name, (kind, wrap) in make_captures.WRAPPED.items():
        seeds[f"{name}.pcap"] = wire.pcap(make_captures.each(wrap, packets), kind)
    w = Wire(client=Host("10.0.0.1", 1), server=Host("10.0.0.2", 2))
    w.send(0, w.client, 0, flags=SYN)
    w.send(9, w.server, 0, ack=1, flags=RST)
    w.send(20, w.client, 500, flags=SYN)
    w.send(25, w.server, 0, ack=501, flags=SYN, window=0)
    w.send(30, w.client, 501, 1, ack=1)
    w.send(35, w.server, 1, ack=501, window=0)
    w.send(40, w.client, 501, 1400, ack=1)
    w.send(400_000_000, w.server, 1, ack=1901)
    seeds["refused-probe-idle.pcap"] = w.pcap()
    for name, data in seeds.items():
        (directory / name).write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
