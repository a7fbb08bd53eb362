# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Make the two ends of an emulated link: network namespaces with TUN devices and their addresses."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tcplearn import debian
from tcplearn.checkout import last_line
from tcplearn.errors import FailedError

from . import kernel

DEVICE = "path0"
MTU = 1500
#: Ranges for measurements: RFC 2544 and RFC 5180.
ADDRESSES = {"CLIENT": "198.18.0.1", "SERVER": "198.18.0.2"}
ADDRESSES6 = {"CLIENT": "2001:2::1", "SERVER": "2001:2::2"}
_QUEUE_PACKETS = 10_000  # of the device, until the emulator reads them
_SENT_DROPPED = 11  # the field of /proc/net/dev (proc(5)) with the packets that the device dropped


@dataclass(frozen=True)
class End:
    """One end of the emulated link."""

    network: int  # file handle of the namespace
    device: int  # file handle of the TUN device


def make(near: str, far: str) -> End:
    """Make an end of the link in a new network namespace, into which this process moves. `near` and `far` are
    the keys in ADDRESSES of this end and of the other. Raise OSError or FailedError."""
    kernel.unshare(kernel.NEW_NET)
    end = End(os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC), kernel.tun(DEVICE))
    lines = [
        "link set lo up",
        f"link set {DEVICE} multicast off mtu {MTU} txqueuelen {_QUEUE_PACKETS} up",
        f"addr add {ADDRESSES[near]} peer {ADDRESSES[far]} dev {DEVICE}",
    ]
    if has_ipv6():
        lines.insert(1, f"link set {DEVICE} addrgenmode none")  # it sends nothing of its own accord
        lines.append(f"addr add {ADDRESSES6[near]} peer {ADDRESSES6[far]} dev {DEVICE} nodad")
    command, script = [debian.to_start("ip"), "-batch", "-"], "\n".join(lines)
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedError(f"ip: {last_line(done.stderr)}")
    return end


def has_ipv6() -> bool:
    return Path("/proc/thread-self/net/if_inet6").exists()


def variables() -> dict[str, str]:
    """Return the environment variables that tell both commands the addresses of client and server."""
    out = {f"TCPLEARN_{end}": address for end, address in ADDRESSES.items()}
    if has_ipv6():
        out |= {f"TCPLEARN_{end}6": address for end, address in ADDRESSES6.items()}
    return out


def overrun(end: End) -> int:
    """Return how many packets the device of `end` dropped because the emulator did not read them in time. The
    calling thread is then in the network namespace of `end`."""
    kernel.enter(end.network)
    for line in Path("/proc/thread-self/net/dev").read_text().splitlines():
        name, _, fields = line.partition(":")
        if name.strip() == DEVICE:
            return int(fields.split()[_SENT_DROPPED])
    return 0


def is_listening(port: int) -> bool:
    """Return whether a TCP socket of this thread's network namespace listens on `port`."""
    for name in ("tcp", "tcp6"):
        table = Path("/proc/thread-self/net", name)
        for line in table.read_text().splitlines()[1:] if table.exists() else ():
            _, local, _, state, *_ = line.split()
            if state == "0A" and int(local.rpartition(":")[2], 16) == port:
                return True
    return False
