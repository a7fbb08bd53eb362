# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes a router drop COUNT packets of each connection from the NTH "syn" or "syn-ack" (PACKET) on. The
arguments are NAMESPACE PACKET NTH COUNT."""

import subprocess
import sys

#: (TCP flags in nft's syntax, field with the client's port) of each kind of packet
PACKETS = {"syn": ("syn", "sport"), "syn-ack": ("syn|ack", "dport")}
KEY = "ip saddr . tcp sport . ip daddr . tcp dport"


def rules(packet="", nth=1, count=1, ports=None):
    """Return nft's whole ruleset. Only connections from the client's `ports` lose packets (None: all)."""
    if not packet or ports == []:
        return "flush ruleset\n"
    flags, end = PACKETS[packet]
    only = f"tcp {end} {{ {', '.join(map(str, ports))} }} " if ports else ""
    sets = "\n".join(
        f"""set {name} {{
            type ipv4_addr . inet_service . ipv4_addr . inet_service
            flags dynamic; size 65535
        }}"""
        for name in ("earlier", "these")
    )
    earlier = (
        f"update @earlier {{ {KEY} limit rate 1/day burst {nth - 1} packets }} return\n" if nth > 1 else ""
    )
    return f"""flush ruleset
    table ip handshakes {{
        {sets}
        chain lost {{
            {earlier}
            update @these {{ {KEY} limit rate 1/day burst {count} packets }} drop
        }}
        chain through {{
            type filter hook forward priority 0
            tcp flags & (syn|ack) == {flags} {only}jump lost
        }}
    }}
    """


def lose(namespace, *which, **more):
    text = rules(*which, **more)
    command = ["/bin/ip", "netns", "exec", namespace, "nft", "-f", "-"]
    subprocess.run(command, input=text, text=True, check=True)


if __name__ == "__main__":
    router, name, first, packets = sys.argv[1:]
    lose(router, name, int(first), int(packets))
