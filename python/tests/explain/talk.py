# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Simulates connections with known losses, as a capture at any place between client and server records
them."""

from __future__ import annotations

from bisect import bisect, insort
from dataclasses import dataclass, field
from pathlib import Path

from wire import FIN, SACK_PERMITTED, SYN, Frame, Host, Wire, mss, pcap, sack, timestamps

from tcplearn.explain import Explained, run

RTT_US = 40_000
#: Of the capture point: at the client, in the middle, at the server.
CLIENT, MIDDLE, SERVER = 0.0, 0.5, 1.0


@dataclass
class Talk:
    """Simulates one connection. Times are those of sending. A place is a number from CLIENT to SERVER;
    `place` is that of the capture."""

    place: float = CLIENT
    rtt_us: int = RTT_US
    stamped: bool = True
    sacks: bool = True
    numbered: bool = True  # IP counts the packets of the connection
    tick_us: int = 1000  # of the timestamps
    port: int = 40_000
    server: str = "10.0.0.2"
    own: str = "10.0.0.1"  # address of the client
    wire: Wire = field(init=False)
    #: (when, timestamp) of what came from the client and from the server, in order of time
    _arrived: dict[bool, list[tuple[int, int]]] = field(default_factory=lambda: {True: [], False: []})
    _idents: dict[bool, int] = field(default_factory=lambda: {True: 100, False: 7000})

    def __post_init__(self) -> None:
        self.wire = Wire(client=Host(self.own, self.port), server=Host(self.server, 80, isn=5_000_000))

    def send(
        self,
        at_us: int,
        by_client: bool,
        seq: int,
        payload: int,
        ack: int | None,
        *,
        flags: int = 0,
        lost: float | None = None,
        held: tuple[float, int] | None = None,
        blocks: tuple[tuple[int, int], ...] = (),
        window: int = 65535,
        options: bytes = b"",
    ) -> None:
        """Send a segment. `lost` is the place at which it is lost. `held` is the place at which the path
        delays it, and the delay in us."""
        me, other = (
            (self.wire.client, self.wire.server) if by_client else (self.wire.server, self.wire.client)
        )
        one_way = self.rtt_us // 2
        to_here = self.place if by_client else 1 - self.place
        held_at, held_us = held or (0.0, 0)
        self._idents[by_client] += 1
        if self.stamped:
            came = self._arrived[not by_client]
            known = bisect(came, at_us, key=lambda one: one[0])
            # a SYN-ACK echoes the SYN that it was first made for, all else what came last
            echo = came[0 if flags & SYN else known - 1][1] if known else 0
            options += timestamps(at_us // self.tick_us + 1, echo)
            if lost is None:
                insort(self._arrived[by_client], (at_us + one_way + held_us, at_us // self.tick_us + 1))
        if blocks and self.sacks:
            options += sack(*((other.isn + left, other.isn + right) for left, right in blocks))
        gone = 2.0 if lost is None else lost if by_client else 1 - lost
        if gone < to_here:
            return
        ident = self._idents[by_client] if self.numbered else 0
        late_us = held_us if to_here > (held_at if by_client else 1 - held_at) else 0
        self.wire.send(
            at_us + round(one_way * to_here) + late_us,
            me,
            seq,
            payload,
            ack=ack,
            flags=flags,
            options=options,
            window=window,
            ident=ident,
        )

    def client(self, at_us: int, seq: int, payload: int, ack: int | None, **more: object) -> None:
        """Send a segment from the client, with further arguments of `send` in `more`."""
        self.send(at_us, True, seq, payload, ack, **more)  # type: ignore[arg-type]

    def answer(self, at_us: int, seq: int, payload: int, ack: int | None, **more: object) -> None:
        """Send a segment from the server, with further arguments of `send` in `more`."""
        self.send(at_us, False, seq, payload, ack, **more)  # type: ignore[arg-type]

    def syn(self, at_us: int, lost: float | None = None) -> None:
        """Send the client's SYN."""
        self.client(at_us, 0, 0, None, flags=SYN, lost=lost, options=self._offer())

    def syn_ack(self, at_us: int, lost: float | None = None) -> None:
        """Send the server's SYN-ACK."""
        self.answer(at_us, 0, 0, 1, flags=SYN, lost=lost, options=self._offer())

    def _offer(self) -> bytes:
        return mss(1460) + (SACK_PERMITTED if self.sacks else b"")

    def open(self, at_us: int = 0) -> int:
        """Perform the handshake and return the time at which it ends at the client."""
        self.syn(at_us)
        self.syn_ack(at_us + self.rtt_us // 2)
        self.client(at_us + self.rtt_us, 1, 0, 1)
        return at_us + self.rtt_us

    def exchanges(
        self, at_us: int, count: int, request: int = 200, answer: int = 1, pause_us: int = 50_000
    ) -> int:
        """Exchange `count` requests and answers from the beginning of both streams; return the time of the
        next request."""
        for k in range(count):
            self.client(at_us, 1 + k * request, request, 1 + k * answer)
            at_us += self.rtt_us // 2
            self.answer(at_us, 1 + k * answer, answer, 1 + (k + 1) * request)
            at_us += self.rtt_us // 2 + pause_us
        return at_us

    def close(self, at_us: int, client_seq: int, server_seq: int) -> None:
        """Close the connection from both ends, which acknowledges all data."""
        self.client(at_us, client_seq, 0, server_seq, flags=FIN)
        self.answer(at_us + self.rtt_us // 2, server_seq, 0, client_seq + 1, flags=FIN)
        self.client(at_us + self.rtt_us, client_seq + 1, 0, server_seq + 1)

    def frames(self) -> list[Frame]:
        """Return the captured packets in order of time."""
        return sorted(self.wire.frames, key=lambda frame: frame[0])


def pcap_of(*talks: Talk) -> bytes:
    """Return a capture of all the connections `talks`."""
    return pcap(sorted((frame for talk in talks for frame in talk.frames()), key=lambda frame: frame[0]))


def explained(folder: Path, *talks: Talk) -> Explained:
    """Return the result of `explain` for one capture of all the connections `talks`."""
    path = folder / "talk.pcap"
    path.write_bytes(pcap_of(*talks))
    return run([path])
