# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One algorithm of a scenario, and its name."""

from dataclasses import dataclass
from typing import Literal

NO_ESTIMATOR, STOCK = "none", "stock"
#: Values of `algorithms.settings`: NO_RACK turns RACK and tail loss probes off.
NO_RACK, LINEAR = "no-rack", "linear"
#: The end whose kernel is changed.
SENDER, RECEIVER = "sender", "receiver"
End = Literal["sender", "receiver"]


@dataclass(frozen=True, slots=True)
class Arm:
    """One algorithm of a scenario."""

    congestion: str
    estimator: str
    tlp: bool
    loss: str = ""  # a loss classifier; the timer is then the kernel's
    startup: str = STOCK
    at: End = "sender"
    resend: str = ""  # a resend policy, instead of the estimator's RTO
    rto_min_ms: int = 0  # the route's rto_min; 0: as shipped
    setting: str = ""  # a setting of the kernel

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
        """The name of the sender's congestion control in the kernel."""
        plain = self.estimator == NO_ESTIMATOR or self.at != SENDER
        return self.congestion if plain else f"tl-{self.congestion}"
