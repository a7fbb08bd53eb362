# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define the settings of the retransmission timer from which the advice of `tcplearn explain` chooses."""

from dataclasses import dataclass

#: The name of the unchanged Linux kernel among the candidates.
STOCK = "stock"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A setting of the retransmission timer. It is modelled by the resend policy `spec`, or by several in the
    notation of native/explain/forecast.h, which can also give times in ticks of the sender's timers. In the
    commands `line` and `undo`, {set} and {undo} stand for arguments of `ip route`."""

    name: str
    spec: str
    line: str = ""  # the command to type on the sending host
    undo: str = ""
    needs: str = ""  # what the setting needs beyond a stock kernel
    also: str = ""  # a sentence on the setting's other effects
    rto_min_ms: int = 0  # the rto_min that the setting gives a route; 0: none


def _route(ms: int) -> Candidate:
    # for one host a new route is added; for all destinations the default route is changed
    return Candidate(
        f"rto_min {ms} ms",
        f"stock:rto_min_us={{{ms * 1000}}}",  # the kernel keeps an rto_min in whole ticks
        "sudo ip route {set}",
        "sudo ip route {undo}",
        rto_min_ms=ms,
    )


ALL = (
    Candidate(STOCK, "stock"),
    *map(_route, (5, 20, 50, 100)),
    Candidate(
        "thin linear timeouts",
        "linear",
        "sudo sysctl net.ipv4.tcp_thin_linear_timeouts=1",
        "sudo sysctl net.ipv4.tcp_thin_linear_timeouts=0",
        also="It holds for all connections with fewer than four segments in flight, until a reboot.",
    ),
    Candidate(
        "priced",
        # a floor is at least two ticks, and the kernel adds RTTVAR instead while that is larger
        "priced + stock:rto_min_us={2 ticks}",
        "sudo $(which tcplearn) live start",
        "sudo $(which tcplearn) live stop",
        "Linux 6.1 or later with BTF: sudo $(which tcplearn) live check",
        "It shortens the timers of all new connections of the machine, until tcplearn's process ends.",
    ),
    Candidate(
        "priced/spaced",
        "priced/spaced",
        # with resend_places a connection begins with what the last one learned, as in the forecast
        "sudo sysctl net.tcplearn.resend=priced/spaced net.tcplearn.resend_places=1 "
        "net.ipv4.tcp_congestion_control=tl-cubic",
        "sudo sysctl net.tcplearn.resend=none net.tcplearn.resend_places=0",
        "the kernel module: tcplearn module install",
    ),
)
SPECS = tuple(candidate.spec for candidate in ALL)
#: The row of the measured times, which is no candidate.
SEEN = Candidate("as captured", "")
#: The first RTO, for SYNs, from the shipped model `rfc6298`.
FIRST_RTO = Candidate(
    "learned first RTO",
    "rfc6298",
    "sudo $(which tcplearn) first-rto load rfc6298",
    "sudo $(which tcplearn) first-rto unload",
    "tcplearn, clang, bpftool and libbpf-dev on that host, and Linux 6.1 or later with BTF",
)


def lines(candidate: Candidate, to: str, before: str = STOCK) -> tuple[str, str]:
    """Return the command that makes the setting `candidate` for data to the host `to` ("": to all), and the
    command that restores the setting `before`."""
    own = before.replace(" ms", "ms") if before.startswith("rto_min") else ""
    new = f"rto_min {candidate.rto_min_ms}ms"
    if to:
        six = "-6 " if ":" in to else ""
        via = f"$(ip {six}-o route get {to} | grep -oE '(via [^ ]+ )?dev [^ ]+')"
        # "add" refuses to touch a route to that host that is there already, which "del" would then remove
        if own:
            words = {"set": f"replace {to} {via} {new}", "undo": f"replace {to} {via} {own}"}
        else:
            words = {"set": f"add {to} {via} {new}", "undo": f"del {to}"}
    else:
        words = {"set": _default_with(new), "undo": _default_with(own)}
    return candidate.line.format(**words), candidate.undo.format(**words)


def effects(candidate: Candidate, to: str) -> str:
    """Return a sentence on the other effects of the command that `lines` returns, or ""."""
    if not candidate.rto_min_ms:
        return candidate.also
    new = f"rto_min {candidate.rto_min_ms} ms"
    if to:
        return (
            f"The command makes a route to {to} alone, with {new}, over today's gateway, until a reboot. If "
            "ip says that the file exists, there is a route to that host already: then set rto_min on that "
            "one, and do not type the command to undo, which would remove it."
        )
    return (
        f"The command adds {new} to the first default route and changes nothing else of it. It holds for all "
        "connections on that route, until a reboot. If `ip route show default` has an rto_min before, note "
        "it: the command to undo removes it."
    )


def _default_with(rto_min: str) -> str:
    """Return the arguments of `ip route` that give the default route the setting `rto_min` ("": none). An
    earlier rto_min is removed, because ip cannot parse the rto_min that it prints. The new one comes first,
    because ip takes no metric after the next hops of a multipath route. The backslashes that ip prints before
    these hops are removed, and so is a link's state, which ip prints but does not take."""
    at = f"; s/^default/& {rto_min}/" if rto_min else ""
    plain = f"s/ rto_min .*ms//; s/ linkdown//g; s/ dead//g{at}"
    found = f"ip -o route show default | head -1 | tr -d '\\\\' | sed '{plain}'"
    return f"change $({found} | grep . || echo default)"  # without a default route, ip's error is one line
