# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Analyses handshakes captured at both ends: lost packets, waits and spurious retransmissions. Packets of the
two captures are matched by their TCP timestamps (RFC 7323); a retransmission has another timestamp."""

import json
import shutil
import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tcplearn.errors import FailedError
from tcplearn.jobs import shape

from . import truth

CLIENT, SERVER = "client", "server"
FILE = "handshakes.json"
AT_ONCE_US = 2_000  # a SYN-ACK sent within this time after a SYN's arrival counts as its answer
_ACK = 0x10
_TIMESTAMPS = 8

# the second number of a client's address is that of its server's plus CLIENTS_ABOVE; connection number n has
# the client's port FIRST_PORT + n
CLIENTS_ABOVE, FIRST_PORT = 64, 20_000

Of = tuple[int, int]  # (second number of the server's address, number of the connection with that server)


@dataclass(frozen=True, slots=True)
class Packet:
    """A captured SYN, or (if `is_answer`) SYN-ACK."""

    of: Of
    at_us: int
    is_answer: bool
    stamp: int  # its TCP timestamp


@dataclass(frozen=True, slots=True)
class Sending:
    """One transmission of a SYN or SYN-ACK."""

    sent_us: int
    arrived_us: int  # -1: lost


_NUMBERS = dict.fromkeys(("host", "number", "connected_us", "answered_us"), int)
_CONNECTION = {**_NUMBERS, "syns": [Sending], "answers": [Sending]}


@dataclass(frozen=True, slots=True)
class Connection:
    host: int
    number: int
    connected_us: int  # the duration of connect(), measured by the program
    answered_us: int  # from then until the first bytes are answered
    syns: tuple[Sending, ...]
    answers: tuple[Sending, ...]  # SYN-ACKs

    @property
    def lost(self) -> int:
        return sum(one.arrived_us < 0 for one in (*self.syns, *self.answers))

    @property
    def wait_us(self) -> int:
        """Return the time in us spent waiting for timers: from the first SYN to the sending of the SYN that
        arrived first, plus from its arrival to the sending of the SYN-ACK that arrived first."""
        syn, answer = (
            min((one for one in sent if one.arrived_us >= 0), key=lambda one: one.arrived_us)
            for sent in (self.syns, self.answers)
        )
        return (syn.sent_us - self.syns[0].sent_us) + (answer.sent_us - syn.arrived_us)

    @property
    def spurious_syns(self) -> int:
        """Return the number of SYNs sent while a SYN-ACK, or an earlier SYN that gets a SYN-ACK, is still on
        its way."""
        return sum(self._is_spurious(sent.sent_us, k) for k, sent in enumerate(self.syns) if k)

    def _is_spurious(self, at_us: int, k: int) -> bool:
        through = [one for one in self.answers if one.arrived_us >= 0]
        if any(one.sent_us <= at_us < one.arrived_us for one in through):
            return True
        under_way = [one.arrived_us for one in self.syns[:k] if one.arrived_us > at_us]
        return any(0 <= one.sent_us - arrived < AT_ONCE_US for arrived in under_way for one in through)

    @property
    def spurious_answers(self) -> int:
        """Return the number of SYN-ACKs sent after the first SYN-ACK that arrived."""
        first = next((k for k, one in enumerate(self.answers) if one.arrived_us >= 0), len(self.answers))
        return max(0, len(self.answers) - 1 - first)

    @property
    def unanswered_syns(self) -> int:
        """Return the number of SYNs that arrived but got no SYN-ACK at once, because Linux answers a repeated
        SYN only once in half a second."""
        arrived = [one.arrived_us for one in self.syns if one.arrived_us >= 0]
        return sum(not any(0 <= a.sent_us - at < AT_ONCE_US for a in self.answers) for at in arrived)


def reduce(folder: Path) -> None:
    """Replace the captures in a run's `folder` by a JSON file with a record for each connection."""
    captures = folder / "pcap"
    seen = {end: list(_packets(captures / f"{end}.pcap")) for end in (CLIENT, SERVER)}
    syns = _sendings(seen[CLIENT], seen[SERVER], is_answer=False)
    answers = _sendings(seen[SERVER], seen[CLIENT], is_answer=True)
    out = []
    for line in (folder / "connections").read_text().splitlines():
        host, number, connected_us, answered_us = map(int, line.split())
        of = (host, number)
        out.append(Connection(host, number, connected_us, answered_us, tuple(syns[of]), tuple(answers[of])))
    (folder / FILE).write_text(json.dumps([asdict(one) for one in out]))
    shutil.rmtree(captures)


def read(folder: Path) -> list[Connection]:
    documents: list[dict[str, Any]] = json.loads((folder / FILE).read_bytes())
    shape.check(documents, [_CONNECTION])
    for one in documents:
        one |= {name: tuple(Sending(**sent) for sent in one[name]) for name in ("syns", "answers")}
    return [Connection(**one) for one in documents]


def _sendings(out: Sequence[Packet], into: Sequence[Packet], *, is_answer: bool) -> dict[Of, list[Sending]]:
    arrived = {(p.of, p.stamp): p.at_us for p in into if p.is_answer == is_answer}
    found: dict[Of, list[Sending]] = defaultdict(list)
    for p in out:
        if p.is_answer == is_answer:
            found[p.of].append(Sending(p.at_us, arrived.get((p.of, p.stamp), -1)))
    return found


def _packets(path: Path) -> Iterator[Packet]:
    data, starts = truth.records(path)
    for at in starts:
        seconds, micros, size = struct.unpack_from("<III", data, at)
        frame = at + truth.RECORD_BYTES
        ip = data[frame + truth.ETHERNET_BYTES : frame + size]
        tcp = ip[4 * (ip[0] & 15) :]
        is_answer = bool(tcp[13] & _ACK)
        client, port = (ip[16:20], tcp[2:4]) if is_answer else (ip[12:16], tcp[0:2])
        of = (client[1] - CLIENTS_ABOVE, int.from_bytes(port, "big") - FIRST_PORT)
        yield Packet(of, seconds * 1_000_000 + micros, is_answer, _stamp(tcp))


def _stamp(tcp: bytes) -> int:
    at, end = 20, 4 * (tcp[12] >> 4)
    while at < end and tcp[at] != 0:
        if tcp[at] == _TIMESTAMPS:
            return int.from_bytes(tcp[at + 2 : at + 6], "big")
        at += 1 if tcp[at] == 1 else tcp[at + 1]
    raise FailedError("a SYN without a timestamp")
