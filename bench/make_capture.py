#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write a synthetic capture for benchmarks: python3 make_capture.py OUT.pcap [--packets 1000000]. It has
the headers of several bulk transfers, seen at the sender, with timestamps and SACK. One segment in 500 is
lost and repaired by fast retransmission. The same arguments always give the same bytes."""

import heapq
import random
import struct
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

MSS = 1448
TIMESTAMP_BYTES = 12
FIN, SYN, ACK = 0x01, 0x02, 0x10
SERVER, CLIENT = b"\x0a\x00\x00\x01\x00\x50", b"\xc0\x00\x02"  # address and port; first bytes of an address
ETHERNET = b"\2" * 12 + b"\x08\x00"
PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 1)
START_S = 1_600_000_000


@dataclass
class Flow:
    number: int
    rtt_us: int
    spacing_us: int  # transmission time of a segment; the jitter is shorter, so no packets are reordered
    window: int = 64  # segments
    isn: int = 0
    una: int = 0  # segments acknowledged
    nxt: int = 0
    last_send_us: int = 0
    rwnd_edge: int = 0  # receiver: next segment expected
    above: set[int] = field(default_factory=set)
    ts_recent: int = 0
    duplicates: int = 0
    recover: int = 0


def record(
    time_us: int,
    ends: tuple[bytes, bytes],
    numbers: tuple[int, int],
    flags: int,
    size: int,
    identification: int,
    options: bytes = b"",
    ttl: int = 64,
) -> bytes:
    """Return a packet's pcap record, without the payload of `size` bytes. `ends` has the address and port (6
    bytes) of the source and of the destination; `numbers` has the sequence and the acknowledgment number."""
    source, destination = ends
    seq, ack = (number % 2**32 for number in numbers)
    length = 40 + len(options) + size
    ip = struct.pack("!BBHHHBBH", 0x45, 0, length, identification % 65535 + 1, 0x4000, ttl, 6, 0)
    words = 5 + len(options) // 4
    tcp = struct.pack("!IIBBHHH", seq, ack, words << 4, flags, 65535, 0, 0) + options
    data = ETHERNET + ip + source[:4] + destination[:4] + source[4:] + destination[4:] + tcp
    second, fraction = divmod(time_us, 1_000_000)
    return struct.pack("<IIII", START_S + second, fraction, len(data), len(data) + size) + data


class Writer:
    """Writes packets, which the caller gives in order of time, to a pcap file."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.count = 0
        out.write(PCAP_HEADER)

    def packet(
        self, t: int, flow: Flow, from_server: bool, seq: int, ack: int, flags: int, size: int, options: bytes
    ) -> None:
        client = CLIENT + struct.pack("!BH", flow.number + 1, 40000 + flow.number)
        ends, ttl = ((SERVER, client), 64) if from_server else ((client, SERVER), 51)
        self._out.write(record(t, ends, (seq, ack), flags, size, self.count, options, ttl))
        self.count += 1


def stamps(value: int, echo: int) -> bytes:
    return b"\1\1\x08\x0a" + struct.pack("!II", value % 2**32, echo % 2**32)


def sack_option(flow: Flow, newest: int) -> bytes:
    """Return a SACK option of up to three ranges. The first range contains segment `newest` (RFC 2018,
    section 4)."""
    ranges: list[tuple[int, int]] = []
    for segment in sorted(flow.above):
        if ranges and ranges[-1][1] == segment:
            ranges[-1] = (ranges[-1][0], segment + 1)
        else:
            ranges.append((segment, segment + 1))
    ranges.sort(key=lambda r: not r[0] <= newest < r[1])
    body = b"".join(
        struct.pack("!II", *((flow.isn + 1 + MSS * edge) % 2**32 for edge in span)) for span in ranges[:3]
    )
    return b"\1\1" + struct.pack("!BB", 5, 2 + len(body)) + body


def simulate(writer: Writer, packets: int, flows: int, seed: int) -> None:
    rng = random.Random(seed)
    events: list[tuple[int, int, str, Flow, int, int, bytes]] = []
    ticket = 0

    def at(t: int, kind: str, flow: Flow, a: int = 0, b: int = 0, c: bytes = b"") -> None:
        nonlocal ticket
        ticket += 1
        heapq.heappush(events, (t, ticket, kind, flow, a, b, c))

    def transmit(t: int, flow: Flow, segment: int) -> None:
        flow.last_send_us = max(t, flow.last_send_us + flow.spacing_us)
        at(flow.last_send_us, "send", flow, segment)

    handshake = b"\x02\x04\x05\xb4\x04\x02" + b"\x08\x0a"
    for number in range(flows):
        flow = Flow(number, rng.randrange(5_000, 120_000), rng.randrange(20, 200), isn=rng.randrange(2**32))
        at(number * 10_000, "syn", flow)

    while events and writer.count < packets:
        t, _, kind, flow, a, b, c = heapq.heappop(events)
        ms = t // 1000
        base = flow.isn + 1
        if kind == "syn":
            writer.packet(t, flow, False, 0, 0, SYN, 0, handshake + struct.pack("!II", ms, 0))
            at(t + 20, "syn-ack", flow)
        elif kind == "syn-ack":
            writer.packet(t, flow, True, flow.isn, 1, SYN | ACK, 0, handshake + struct.pack("!II", ms, ms))
            at(t + flow.rtt_us, "open", flow)
        elif kind == "open":
            writer.packet(t, flow, False, 1, base, ACK, 0, stamps(ms, ms))
            while flow.nxt < flow.window:
                transmit(t, flow, flow.nxt)
                flow.nxt += 1
        elif kind == "send":
            writer.packet(t, flow, True, base + a * MSS, 1, ACK, MSS, stamps(ms, 0))
            if rng.random() >= 0.002:
                at(t + flow.rtt_us // 2 + rng.randrange(flow.spacing_us), "arrive", flow, a, ms)
        elif kind == "arrive":
            if a == flow.rwnd_edge:
                flow.ts_recent = b
                flow.rwnd_edge += 1
                while flow.rwnd_edge in flow.above:
                    flow.above.discard(flow.rwnd_edge)
                    flow.rwnd_edge += 1
            elif a > flow.rwnd_edge:
                flow.above.add(a)
            options = sack_option(flow, a) if flow.above else b""
            at(t + flow.rtt_us // 2, "ack", flow, flow.rwnd_edge, ms, stamps(ms, flow.ts_recent) + options)
        elif kind == "ack":
            writer.packet(t, flow, False, 1, base + a * MSS, ACK, 0, c)
            if a > flow.una:
                flow.una, flow.duplicates = a, 0
                if a < flow.recover and len(c) > TIMESTAMP_BYTES:
                    transmit(t, flow, a)  # a partial ACK (RFC 6582), and SACK confirms that segment a is lost
            elif a == flow.una:
                flow.duplicates += 1
                if flow.duplicates == 3 and a >= flow.recover:
                    flow.recover = flow.nxt
                    transmit(t, flow, a)
            while flow.nxt < flow.una + flow.window:
                transmit(t, flow, flow.nxt)
                flow.nxt += 1
        elif kind == "timeout" and flow.una == a:
            transmit(t, flow, flow.una)  # a retransmission was lost too
        if kind in ("open", "timeout"):
            at(t + 4 * (flow.rtt_us + flow.window * flow.spacing_us), "timeout", flow, flow.una)


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--packets", type=int, default=1_000_000)
    parser.add_argument("--flows", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with arguments.out.open("wb") as out:
        writer = Writer(out)
        simulate(writer, arguments.packets, arguments.flows, arguments.seed)
    print(f"{arguments.out}: {writer.count} packets")


if __name__ == "__main__":
    main()
