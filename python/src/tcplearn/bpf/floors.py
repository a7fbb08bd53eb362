# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Pack the settings of the BPF program linux/bpf/live.bpf.c, which learns for each connection a floor: the
least time that the RTO adds to SRTT (the kernel's rto_min)."""

import struct

from tcplearn.bpf import build

SOURCE = build.SOURCES / "live.bpf.c"
WHOLE = 1 << 16  # the share of all new connections


def settings(
    ticks_per_second: int,
    *,
    observe: bool = False,
    bounds_backoff: bool = False,
    share: int = WHOLE,
    epoch: int = 0,
) -> bytes:
    """Return the bytes of `struct live_settings`. `ticks_per_second` is CONFIG_HZ of the kernel that runs the
    program. With `observe` the program learns floors (least times that the RTO adds to SRTT), but sets none.
    `bounds_backoff` says whether it bounds the RTO's exponential backoff (linux/bpf/live_backoff.h). The
    share `share` / WHOLE of the connections that begin from now on gets floors. These connections, with
    floors or without, are counted under the number `epoch`, which must change whenever `share` changes."""
    return struct.pack("=6I", ticks_per_second, observe, bounds_backoff, 0, share, epoch)
