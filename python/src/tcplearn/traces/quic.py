# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Turn an endpoint's log of a QUIC connection (packets sent, ACK frames, losses) into a row for each ACK."""

from bisect import bisect_left, bisect_right
from collections import Counter, deque
from typing import TypeAlias

from .base import Reason
from .many_flows import info_of

#: Most packets kept in a packet number space above, and below, the largest acknowledged packet number.
_MOST_AHEAD = 1 << 17
_MOST_BEHIND = 1 << 10
_MOST_WAITING = 1 << 16
_MOST_COUNT = (1 << 32) - 1
_REORDERING = 3  # kPacketThreshold (RFC 9002, 6.1.1)

#: The counters of `Connection.left_out` and their texts in warnings.
LEFT_OUT = {
    "twice": "packets whose number was sent before: left out",
    "many": "packets forgotten, as too many were never acknowledged",
}


Row: TypeAlias = dict[str, int]  # values by column; columns that QUIC does not have are missing


class _Packet:
    """A packet that was sent. `out` is true while the packet is in flight: it elicits an ACK, and is neither
    acknowledged nor lost."""

    __slots__ = ("eliciting", "lost", "order", "out", "sent_us", "size")

    def __init__(self, sent_us: int, size: int, order: int, eliciting: bool) -> None:
        self.sent_us, self.size, self.order, self.eliciting = sent_us, size, order, eliciting
        self.out, self.lost = eliciting, False


class _Space:
    """A packet number space (RFC 9000, section 12.3)."""

    def __init__(self) -> None:
        self.packets: dict[int, _Packet] = {}
        self.numbers: list[int] = []  # the numbers of `packets`, ascending
        self.largest_sent = self.largest_acked = -1
        self.closed = False

    def take(self, start: int, end: int) -> list[tuple[int, _Packet]]:
        """Remove and return the packets whose packet numbers are `self.numbers[start:end]`."""
        taken = [(number, self.packets.pop(number)) for number in self.numbers[start:end]]
        del self.numbers[start:end]
        return taken


class Connection:
    """A QUIC connection as one endpoint logged it. Its finished rows (one for each ACK that acknowledges new
    data) are appended to `rows`; `left_out` counts, for each reason in `LEFT_OUT`, the packets left out."""

    def __init__(
        self,
        number: int,
        name: str,
        side: str,
        *,
        near: bool,
        chosen: bool,
        left_out: Counter[str],
        rows: list[Row],
    ) -> None:
        self.info = info_of(number, name, 0, 0, 0, 0, 0)
        self.info.update({"near_sender": near, "near_reason": "", "chosen": chosen})
        self.ack_frames = 0
        self._side, self._left_out, self._rows = side, left_out, rows
        self._spaces = (_Space(), _Space(), _Space())
        self._order: deque[_Packet] = deque()  # ack-eliciting packets as sent; the first is in flight
        self._sent = 0
        self._out = self._out_bytes = 0
        self._armed_us: int | None = None
        self._lost_head: _Packet | None = None  # the oldest packet declared lost since the last row
        self._acked_order = -1
        self._latest_rtt_us: int | None = None
        self._waiting: deque[tuple[Row, _Packet]] = deque()

    def sent(
        self, now_us: int, space: int, number: int, size: int, eliciting: bool, frames: set[str]
    ) -> None:
        info, of = self.info, self._spaces[space]
        info["first_us"] = info["first_us"] if self._sent else now_us
        info["last_us"] = now_us
        if space == 1 and self._side == "client":
            self._close(0)  # RFC 9001, 4.9.1
        if "handshake_done" in frames:
            self._close(1)
        if number <= of.largest_sent or of.closed:
            self._left_out["twice"] += not of.closed
            return
        packet = _Packet(now_us, size, self._sent, eliciting)
        self._sent += 1
        of.largest_sent = number
        of.packets[number] = packet
        of.numbers.append(number)
        if eliciting:
            self._order.append(packet)
            if self._out == 0:
                self._armed_us = now_us  # RFC 6298, (5.1)
            self._out += 1
            self._out_bytes += size
            info["data_packets"] += 1
            info["data_bytes"] += size
            info["mss_bytes"] = max(info["mss_bytes"], size)
        if len(of.numbers) > _MOST_AHEAD + _MOST_BEHIND:
            self._left_out["many"] += 1
            self._forget(of, 1)

    def received(self, now_us: int, kind: str, frames: set[str]) -> None:
        self.info["last_us"] = now_us
        if kind in ("retry", "version_negotiation"):  # RFC 9002, 6.3
            self._discard(0)
            self._spaces[0].largest_sent = -1
        if kind == "handshake" and self._side != "client":
            self._close(0)
        if "handshake_done" in frames:
            self._close(1)

    def acknowledged(self, now_us: int, space: int, ranges: list[tuple[int, int]], delay_us: int) -> None:
        """Process an ACK frame, which gives a row if it newly acknowledges an ack-eliciting packet."""
        of = self._spaces[space]
        self.ack_frames += 1
        newly: list[tuple[int, _Packet]] = []
        for low, high in ranges:
            newly += of.take(bisect_left(of.numbers, low), bisect_right(of.numbers, high))
        largest = max(high for _, high in ranges)
        reason = Reason.SACKED_EARLIER if largest <= of.largest_acked else Reason.NOT_CAPTURED
        of.largest_acked = max(of.largest_acked, min(largest, of.largest_sent))
        eliciting = [packet for _, packet in newly if packet.eliciting]
        if eliciting:
            # RFC 9002, section 5.1: an RTT sample needs that the largest acknowledged packet is newly
            # acknowledged, and that a newly acknowledged packet is ack-eliciting.
            timed = next((packet for number, packet in newly if number == largest), None)
            self._row(now_us, timed, reason, eliciting, delay_us)
        behind = bisect_right(of.numbers, of.largest_acked)
        if behind > _MOST_BEHIND:
            self._forget(of, behind - _MOST_BEHIND)
        self._settle()

    def _row(
        self, now_us: int, timed: _Packet | None, reason: int, acked: list[_Packet], delay_us: int
    ) -> None:
        heads = [packet for packet in (self._head(), self._lost_head) if packet is not None]
        head = min(heads or acked, key=lambda packet: packet.order)
        armed_us = head.sent_us if self._armed_us is None else self._armed_us
        in_flight_bytes, flight_segments = min(self._out_bytes, _MOST_COUNT), max(self._out, 1)
        for packet in acked:
            self._remove(packet)
        self._lost_head = None
        self._armed_us = now_us if self._out else None  # RFC 6298, (5.2) and (5.3)
        self._acked_order = max(self._acked_order, *(packet.order for packet in acked))
        sent_us = rtt_us = -1
        if timed is not None:
            sent_us, rtt_us, reason = timed.sent_us, now_us - timed.sent_us, Reason.NONE
            self._latest_rtt_us = rtt_us
        acked_bytes = min(sum(packet.size for packet in acked), _MOST_COUNT)
        row = {
            "time_us": now_us,
            "sent_us": sent_us,
            "rtt_us": rtt_us,
            "armed_us": armed_us,
            "head_sent_us": head.sent_us,
            "flow": self.info["id"],
            "acked_bytes": acked_bytes,
            "in_flight_bytes": in_flight_bytes,
            "flight_segments": flight_segments,
            "no_sample": reason,
            "ack_delay_us": delay_us,
        }
        self._waiting.append((row, head))
        self.info["acks"] += 1
        self.info["samples"] += timed is not None
        self._give_up(now_us)

    def _give_up(self, now_us: int) -> None:
        """Declare the oldest packets lost that were sent more than 2 RTT ago and at least three packets
        before an acknowledged one, because the log may not show all losses."""
        while (head := self._head()) is not None and self._latest_rtt_us is not None:
            if (
                head.order + _REORDERING > self._acked_order
                or now_us - head.sent_us <= 2 * self._latest_rtt_us
            ):
                return
            self._lose(head)

    def lost(self, space: int, number: int) -> None:
        packet = self._spaces[space].packets.get(number)
        if packet is not None and packet.out:
            self._lose(packet)
            if self._lost_head is None or packet.order < self._lost_head.order:
                self._lost_head = packet
            self._settle()

    def _lose(self, packet: _Packet) -> None:
        self._remove(packet)  # it stays in its space: its ACK may still arrive and give a sample
        packet.lost = True
        self.info["retransmitted_packets"] += 1

    def _remove(self, packet: _Packet) -> None:
        if packet.out:
            packet.out = False
            self._out -= 1
            self._out_bytes -= packet.size
            if self._out == 0:
                self._armed_us = None

    def _head(self) -> _Packet | None:
        while self._order and not self._order[0].out:
            self._order.popleft()
        return self._order[0] if self._order else None

    def _forget(self, of: _Space, count: int) -> None:
        for _, packet in of.take(0, count):
            if packet.out:
                self._lose(packet)
        self._head()

    def _discard(self, space: int) -> None:
        of = self._spaces[space]
        for _, packet in of.take(0, len(of.numbers)):
            self._remove(packet)  # RFC 9002, 6.4
            packet.lost = True  # whether it arrived cannot be known
        self._settle()

    def _close(self, space: int) -> None:
        if not self._spaces[space].closed:
            self._spaces[space].closed = True
            self._discard(space)

    def _settle(self, final: bool = False) -> None:
        """Append the waiting rows (one for each ACK) to `rows`, in order, up to the first row whose oldest
        packet in flight may still be acknowledged or lost. With `final`, append all rows."""
        while self._waiting:
            row, head = self._waiting[0]
            if head.out and not final:
                if len(self._waiting) <= _MOST_WAITING:
                    return
                self._lose(head)
            row["retransmitted"] = int(head.lost or head.out)
            self._rows.append(row)
            self._waiting.popleft()

    def finish(self) -> None:
        self._settle(final=True)
