# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements loss recovery for aioquic with a learned probe timeout (RFC 9002, 6.2). While at most three
packets have no acknowledgement, a packet with a stream's data is probed when tcplearn.RetryTimer demands it,
and never later than with aioquic's own probe timeout. Packets without such data keep aioquic's own timeout:
nobody waits for the ACK of a PING, and the receiver may delay this ACK.

    recovery = LearnedRecovery.of(connection)       # a new QuicConnection that has sent no packet"""

from __future__ import annotations

import math
from typing import Any, Self

from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet_builder import QuicSentPacket
from aioquic.quic.rangeset import RangeSet
from aioquic.quic.recovery import QuicPacketRecovery, QuicPacketSpace
from aioquic.quic.stream import QuicStreamSender

import tcplearn

#: With more packets in flight, acknowledgements of later ones show a loss sooner than a timer.
MOST_IN_FLIGHT = 3
#: The chosen share of spurious probes.
RATE = 0.001


def has_data(packet: QuicSentPacket) -> bool:
    """Return whether `packet` has data of a stream."""
    data = QuicStreamSender.on_data_delivery
    return any(getattr(handler, "__func__", None) is data for handler, _ in packet.delivery_handlers)


class CountedRecovery(QuicPacketRecovery):
    """Adds a count of spurious probes to aioquic's own loss recovery. A probe is spurious if the probed
    packet or an earlier probe had arrived, and its acknowledgement was late or lost. One packet at a time is
    followed until it is acknowledged: the last one sent that elicits an ACK, since RFC 9002 starts the
    timeout anew with each such packet (6.2.1). After a probe, no later packet takes its place until
    the probe is acknowledged or lost. Packets sent before the handshake is confirmed are not counted."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.packets = self.probes = self.spurious = 0
        self._followed: list[int] = []  # numbers of the packet that is followed and of its probes
        self._later = 0  # number of the next packet that elicits an ACK, after a probe; 0: none
        self._space: QuicPacketSpace | None = None
        self._probe_is_next = False

    @classmethod
    def of(cls, connection: QuicConnection, **more: Any) -> Self:
        """Replace the loss recovery of `connection`, which must have sent nothing yet, and return the new
        one."""
        own = connection._loss
        settings = connection.configuration
        connection._loss = recovery = cls(
            congestion_control_algorithm=settings.congestion_control_algorithm,
            initial_rtt=settings.initial_rtt,
            max_datagram_size=connection._max_datagram_size,
            peer_completed_address_validation=own.peer_completed_address_validation,
            send_probe=own._send_probe,
            logger=own._logger,
            quic_logger=own._quic_logger,
            **more,
        )
        return recovery

    def on_packet_sent(self, *, packet: QuicSentPacket, space: QuicPacketSpace) -> None:
        super().on_packet_sent(packet=packet, space=space)
        if not (packet.is_ack_eliciting and space.is_application_data and self.handshake_confirmed):
            return
        if self._followed and self._probe_is_next:
            self._followed.append(packet.packet_number)
            self._probe_is_next = False
        elif len(self._followed) < 2 or self._followed[-1] not in space.sent_packets:
            if self._followed:
                self._unknown()
            self.packets += len(self._followed) != 1
            self._space, self._later = space, 0
            self._followed = [packet.packet_number]
            self._follow(packet)
        else:
            self._later = self._later or packet.packet_number

    def on_loss_detection_timeout(self, *, now: float) -> None:
        if self._followed and self._get_loss_space() is None:
            self._probe_is_next = True
            self.probes += 1
            self._probed(now)
        super().on_loss_detection_timeout(now=now)

    def on_ack_received(
        self, *, ack_rangeset: RangeSet, ack_delay: float, now: float, space: QuicPacketSpace
    ) -> None:
        super().on_ack_received(ack_rangeset=ack_rangeset, ack_delay=ack_delay, now=now, space=space)
        if space is not self._space or not self._followed:
            return
        received = [copy for copy, number in enumerate(self._followed) if number in ack_rangeset]
        largest = ack_rangeset.bounds().stop - 1
        if received:
            self.spurious += len(self._followed) - 1 - received[0]
        elif self._followed[-1] in space.sent_packets or self._probe_is_next:
            return
        if received and not 0 < self._later <= largest:
            self._acknowledged(received[-1], now)
        else:
            self._unknown()
        self._followed, self._later = [], 0
        self._probe_is_next = False

    def _follow(self, packet: QuicSentPacket) -> None:
        """Start to follow `packet`."""

    def _probed(self, now: float) -> None:
        """Note that the timeout fired at `now` and that a probe follows."""

    def _acknowledged(self, copy: int, now: float) -> None:
        """Note that the followed packet (`copy` 0) or its `copy`-th probe was acknowledged at `now`."""

    def _unknown(self) -> None:
        """Note that the followed packet gives no RTT sample: it was lost, a later packet is followed in its
        place, or its ACK may have been elicited by a later packet."""


class LearnedRecovery(CountedRecovery):
    """Sends probes when a tcplearn.RetryTimer demands it. This timer inherits what `earlier`, the timer of an
    earlier connection to the same server, has learned (None: nothing)."""

    def __init__(
        self, *, rate: float = RATE, earlier: tcplearn.RetryTimer | None = None, **settings: Any
    ) -> None:
        super().__init__(**settings)
        self.timer = tcplearn.RetryTimer(rate=rate)
        if earlier is not None:
            self.timer.inherit(earlier)
        self._timed = False  # whether the followed packet has a stream's data, and our timer knows it
        self._copies = 0  # number of probes at the times of our timer
        self._wait_s = 0.0
        self._now_us = 0

    def get_loss_detection_time(self, *, amplification_limited: bool) -> float | None:
        own = super().get_loss_detection_time(amplification_limited=amplification_limited)
        if own is None or not self._followed or self._space is None or self._get_loss_space() is not None:
            return own
        if self._space.ack_eliciting_in_flight > MOST_IN_FLIGHT:
            return own
        return min(own, self._time_of_last_sent_ack_eliciting_packet + self._wait_s)

    def _follow(self, packet: QuicSentPacket) -> None:
        self._copies = 0
        self._timed = has_data(packet)
        if not self._timed:
            self._wait_s = math.inf
            return
        now_us = self._us(packet.sent_time)
        self._wait_s = (self.timer.sent(self.packets, now_us) - now_us) / 1e6

    def _probed(self, now: float) -> None:
        if not self._timed:
            return
        now_us = self._us(now)
        for _, copy in self.timer.fired(now_us):
            self._copies = copy
            self._wait_s = ((self.timer.deadline_us() or now_us) - now_us) / 1e6

    def _acknowledged(self, copy: int, now: float) -> None:
        if not self._timed or (copy and self._copies != len(self._followed) - 1):
            self._unknown()  # aioquic's own timeout came before ours: which wait ended is not known
        else:
            self.timer.answered(self.packets, self._us(now), copy)

    def _unknown(self) -> None:
        if self._timed:
            self.timer.cancelled(self.packets)

    def _us(self, time_s: float) -> int:
        """Return `time_s` in us, but at least the previous result: asyncio's timers may fire early by the
        resolution of their clock and still report the time for which they were set."""
        self._now_us = max(self._now_us, round(time_s * 1e6))
        return self._now_us
