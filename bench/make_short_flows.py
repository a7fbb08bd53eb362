#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write a capture of short flows: python3 make_short_flows.py OUT.pcap [--flows 20000] [--gap-us 2000]. It
has headers only, seen at the server; a flow has a request and a response of a few segments. The same
arguments always give the same bytes."""

import heapq
import itertools
import random
import struct
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator
from pathlib import Path

from make_capture import ACK, FIN, PCAP_HEADER, SERVER, SYN, record

MSS = 1460


def flow(number: int, start_us: int, chance: random.Random) -> Iterator[tuple[int, bytes]]:
    """Yield the time (us) and the pcap record of each packet of a connection whose response has 2 to 6
    segments."""
    address = struct.pack("!I", 0x0B000000 + chance.randrange(1 << 22))
    client = address + struct.pack("!H", 1024 + number % 60_000)
    rtt_us, segments = chance.randrange(5_000, 120_000), chance.randrange(2, 7)
    c, s = chance.randrange(2**32), chance.randrange(2**32)

    def up(t: int, seq: int, ack: int, flags: int, size: int = 0) -> tuple[int, bytes]:
        return t, record(t, (client, SERVER), (c + seq, s + ack), flags, size, t)

    def down(t: int, seq: int, ack: int, flags: int, size: int = 0) -> tuple[int, bytes]:
        return t, record(t, (SERVER, client), (s + seq, c + ack), flags, size, t)

    t = start_us
    yield t, record(t, (client, SERVER), (c, 0), SYN, 0, t)
    yield down(t + 30, 0, 1, SYN | ACK)
    t += 30 + rtt_us
    yield up(t, 1, 1, ACK)
    yield up(t + 10, 1, 1, ACK, 300)
    t += 200
    for k in range(segments):
        yield down(t + 20 * k, 1 + k * MSS, 301, ACK, MSS)
        yield up(t + 20 * k + rtt_us + chance.randrange(2_000), 1 + 300, 1 + (k + 1) * MSS, ACK)
    end = 1 + segments * MSS
    t += rtt_us + 5_000
    yield down(t, end, 301, ACK | FIN)
    t += rtt_us
    yield up(t, 301, end + 1, ACK | FIN)
    yield down(t + 30, end + 1, 302, ACK)


def packets(flows: int, gap_us: int, seed: int) -> Iterator[bytes]:
    """Yield the pcap records of all flows in order of time. A flow starts every `gap_us` microseconds."""
    chance = random.Random(seed)
    waiting: list[tuple[int, int, bytes]] = []  # time in us, a unique number, the record
    count = itertools.count()
    for number in range(flows):
        start_us = number * gap_us
        while waiting and waiting[0][0] < start_us:
            yield heapq.heappop(waiting)[2]
        for time_us, data in flow(number, start_us, chance):
            heapq.heappush(waiting, (time_us, next(count), data))
    while waiting:
        yield heapq.heappop(waiting)[2]


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--flows", type=int, default=20_000)
    parser.add_argument("--gap-us", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with arguments.out.open("wb") as out:
        out.write(PCAP_HEADER)
        out.writelines(packets(arguments.flows, arguments.gap_us, arguments.seed))


if __name__ == "__main__":
    main()
