# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines one algorithm that a lab scenario compares (an "arm"), with its name in result rows and in
folders."""

from dataclasses import dataclass
from typing import Literal

NO_ESTIMATOR, STOCK = "none", "stock"
#: Values of the scenario key `algorithms.settings`: "no-rack" turns RACK and tail loss probes off,
#: "linear" turns thin linear timeouts on.
NO_RACK, LINEAR = "no-rack", "linear"
#: The end of the connection whose kernel uses the algorithm.
SENDER, RECEIVER = "sender", "receiver"
End = Literal["sender", "receiver"]


@dataclass(frozen=True, slots=True)
class Arm:
    """One algorithm of a lab scenario: a congestion control with a timer, a loss classifier or a resend
    policy."""

    congestion: str
    estimator: str
    tlp: bool
    loss: str = ""  # a loss classifier; the kernel's own timer is used with it
    startup: str = STOCK
    at: End = "sender"
    resend: str = ""  # a resend policy, which sets the timer instead of the estimator
    rto_min_ms: int = 0  # rto_min of the route; 0: the kernel's default
    setting: str = ""  # LINEAR or NO_RACK; "": neither

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
        plain = self.name.replace("/", "--").replace(":", "-").replace(",", "-").replace("=", "-")
        return f"{plain}+tlp-{'on' if self.tlp else 'off'}"

    @property
    def kernel_name(self) -> str:
        """Return the name of the sender's congestion control in the kernel. The prefix "tl-" means that
        the tcplearn module runs on top of it."""
        plain = self.estimator == NO_ESTIMATOR or self.at != SENDER
        return self.congestion if plain else f"tl-{self.congestion}"
