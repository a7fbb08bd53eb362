# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines an "arm": a congestion control, timer and settings that a scenario of `tcplearn lab` compares."""

import re
import zlib
from dataclasses import dataclass
from typing import Literal

# values of an estimator: the kernel without tcplearn's module; the kernel's own timer, measured by the module
NO_ESTIMATOR, STOCK = "none", "stock"
# values of algorithms.settings: linear timeouts of thin streams (tcp_thin_linear_timeouts); RACK off; CUBIC
# without its TCP-friendly region (RFC 9438, 4.3)
LINEAR, NO_RACK, NO_FRIENDLY = "linear", "no-rack", "no-friendly-region"
# `tcplearn live` (linux/bpf/live.bpf.c) on a kernel without the module, without and with a bounded backoff
LIVE, LIVE_BOUNDED = BY_BPF = "live", "live-bounded"
SENDER, RECEIVER = "sender", "receiver"  # the end of the connection whose kernel uses the algorithm
End = Literal["sender", "receiver"]

_FOLDER_MAX = 120  # characters of an algorithm in the name of its folder


@dataclass(frozen=True, slots=True)
class Arm:
    """What runs in one transfer. A resend policy, if there is one, or else the estimator sets the timer."""

    congestion: str  # the congestion control, such as "cubic"
    estimator: str
    tlp: bool  # whether tail loss probes are on
    loss: str = ""  # a loss classifier; the kernel's own timer is used with it
    startup: str = STOCK
    at: End = "sender"
    resend: str = ""  # a resend policy, which sets the timer instead of the estimator
    rto_min_ms: int = 0  # rto_min of the route; 0: the kernel's default
    setting: str = ""  # one of the settings above; "": none

    @property
    def name(self) -> str:
        name = f"{self.congestion}+{self.loss or self.resend or self.estimator}"
        name += f"+{self.estimator}" if self.resend and self.estimator != STOCK else ""
        name += f"+{self.setting}" if self.setting else ""
        name += f"+{self.at}" if self.at != SENDER else ""
        name += f"+rto_min-{self.rto_min_ms}ms" if self.rto_min_ms else ""
        return name if self.startup == STOCK else f"{name}+{self.startup}"

    @property
    def folder(self) -> str:
        """Return the name of the folder with the output of the transfer."""
        plain = self.name.replace("/", "--").replace(":", "-").replace(",", "-").replace("=", "-")
        plain = re.sub("[^A-Za-z0-9_.+-]", "-", plain)  # a model's file may have any name
        if len(plain) > _FOLDER_MAX:
            plain = f"{plain[: _FOLDER_MAX - 9]}-{zlib.crc32(plain.encode()):08x}"
        return f"{plain}+tlp-{'on' if self.tlp else 'off'}"

    @property
    def kernel_name(self) -> str:
        """Return the sender's congestion control: "tl-..." if it is from tcplearn's kernel module."""
        plain = self.estimator == NO_ESTIMATOR or self.at != SENDER
        return self.congestion if plain else f"tl-{self.congestion}"
