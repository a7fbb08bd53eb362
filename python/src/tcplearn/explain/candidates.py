# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The settings of the retransmission timer that advice chooses from: for each, the resend policy of the core
that models it, and the shell command that sets it."""

from __future__ import annotations

from dataclasses import dataclass

#: What the kernel does by itself.
STOCK = "stock"


@dataclass(frozen=True, slots=True)
class Candidate:
    """`spec` is of the core. What is in braces in its lines is of the destination, or of all."""

    name: str
    spec: str
    line: str = ""  # to type, on the host that sends
    undo: str = ""
    needs: str = ""  # what a stock kernel lacks
    also: str = ""  # what else it does, a sentence


def _route(ms: int) -> Candidate:
    # a route of its own to one host; the route that is there to all
    return Candidate(
        f"rto_min {ms} ms",
        f"stock:rto_min_us={ms * 1000}",
        f"sudo ip route {{set}} rto_min {ms}ms",
        "sudo ip route {undo}",
        also="It shortens the wait of the timer and of tail loss probes, for all traffic of that route, "
        "until a reboot.",
    )


_MODULE = "the kernel module: tcplearn module install"
_MODULE_OFF = "sudo sysctl net.tcplearn.resend=none"


def _policy(spec: str) -> Candidate:
    line = f"sudo sysctl net.tcplearn.resend={spec} net.ipv4.tcp_congestion_control=tl-cubic"
    return Candidate(spec, spec, line, _MODULE_OFF, _MODULE)


ALL = (
    Candidate(STOCK, "stock"),
    _route(5),
    _route(20),
    _route(50),
    _route(100),
    Candidate(
        "thin linear timeouts",
        "linear",
        "sudo sysctl net.ipv4.tcp_thin_linear_timeouts=1",
        "sudo sysctl net.ipv4.tcp_thin_linear_timeouts=0",
    ),
    _policy("priced"),
    _policy("priced/spaced"),
)
SPECS = tuple(candidate.spec for candidate in ALL)
#: No candidate: what was seen.
SEEN = Candidate("as it was", "")
#: Of a SYN's timer; a model that is shipped.
FIRST_RTO = Candidate(
    "learned first RTO",
    "rfc6298",
    "sudo $(which tcplearn) first-rto load rfc6298",
    "sudo $(which tcplearn) first-rto unload",
    "a checkout of tcplearn there, and Linux 6.1 or later with BTF",
)


def lines(candidate: Candidate, to: str, before: str = STOCK) -> tuple[str, str]:
    """What to type, and what undoes it. `to`: the host that the data goes to, or "" for all. `before`: the
    candidate that was in force; a `rto_min` of its route is in force again after the undoing."""
    own = before.replace(" ms", "ms") if before.startswith("rto_min") else ""
    if to:
        six = "-6 " if ":" in to else ""
        via = f"$(ip {six}-o route get {to} | grep -oE '(via [^ ]+ )?dev [^ ]+')"
        words = {"set": f"replace {to} {via}", "undo": f"replace {to} {via} {own}" if own else f"del {to}"}
    else:
        default = "ip -o route show default | head -1"
        bare = f"{default} | sed 's/ rto_min .*ms//'"  # ip does not read what it shows of rto_min
        words = {
            "set": f"change $({bare if own else default})",
            "undo": f"change $({bare}) {own}".strip(),
        }
    return candidate.line.format(**words), candidate.undo.format(**words)
