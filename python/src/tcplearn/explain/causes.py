# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define the causes of requests' waits: their keys, and their names in tables, sentences and pictures."""

from dataclasses import dataclass

from tcplearn import _native

#: Keys and meanings of the causes, in the order of their numbers in the native code.
_CAUSES, _ENDS = _native.explain_names()
MEANINGS: dict[str, str] = dict(_CAUSES)
CAUSES: tuple[str, ...] = tuple(MEANINGS)
ENDS: tuple[str, ...] = tuple(key for key, _ in _ENDS)

#: The time of round trips and transfer, which is no stall.
TRANSFER = "transfer"
#: The cause if the whole path was silent: several connections stalled at the same time. With the other causes
#: in `RESENT`, a connection stalled alone.
PATH_SILENT = "path_silent"
#: Causes of slow handshakes. Handshakes are not part of response times.
HANDSHAKE = ("syn_lost", "syn_ack_lost", "handshake_lost")
#: Causes whose stalls another timer might have ended sooner.
RESENT = ("tail_timer", "tail_probe", "resend_lost", PATH_SILENT)


@dataclass(frozen=True, slots=True)
class Words:
    """The words and the colour that stand for a cause."""

    label: str  # in tables and pictures
    spent: str  # completes the sentence "... of their time went to"
    colour: str


#: Colours of Okabe and Ito and of Tol (muted): reds for losses, blues for waits for receiver or server.
WORDS = {
    "syn_lost": Words("SYN lost", "lost SYNs", "#661100"),
    "syn_ack_lost": Words("SYN-ACK lost", "lost SYN-ACKs", "#882255"),
    "handshake_lost": Words("SYN or SYN-ACK lost", "lost packets of handshakes", "#aa4466"),
    "resend_lost": Words("lost again when sent again", "segments that were lost more than once", "#882200"),
    "tail_timer": Words("lost, repaired by the timer", "lost segments that the timer repaired", "#d55e00"),
    "tail_probe": Words(
        "lost, repaired by a tail loss probe", "lost segments that a tail loss probe repaired", "#e69f00"
    ),
    "lost_fast": Words(
        "lost, repaired by a fast retransmit", "lost segments that a fast retransmit repaired", "#ddcc77"
    ),
    "spurious": Words(
        "late, retransmitted spuriously",
        "segments that were late on the path and retransmitted spuriously",
        "#cc79a7",
    ),
    "path_silent": Words("path silent", "times when the whole path was silent", "#332288"),
    "window_closed": Words("receiver's window closed", "waiting for a receiver that read nothing", "#56b4e9"),
    "delayed_ack": Words("delayed ACK", "waiting for delayed ACKs", "#44aa99"),
    "server": Words("server's own time", "the server itself", "#0072b2"),
    "client": Words("client's own time", "the client itself", "#117733"),
    "slow_path": Words("queue or slow path", "queues on the path, or a path that slowed down", "#999933"),
    "unknown": Words(
        "server or path", "waiting for the server or the path (the capture does not show which)", "#6b6b6b"
    ),
    "transfer": Words("round trips and transfer", "round trips and transfer", "#c9ced6"),
}
