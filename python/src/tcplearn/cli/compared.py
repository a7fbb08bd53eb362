# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The options that `replay`, `watch` and `suite` share: which estimators to compare, and on which samples."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tcplearn.cli import options as o
from tcplearn.cli.common import say
from tcplearn.errors import UserError


@dataclass(frozen=True)
class Compared:
    """The estimators to compare, and the samples to compare them on."""

    estimator: o.Estimators = None
    all: o.All = False
    arithmetic: o.Arithmetic = o.ArithmeticName.double
    miss: o.Miss = None
    min_rto_ms: o.MinRto = 0.0
    sender: o.Sender = "auto"
    every_ack: o.EveryAck = False
    flow: o.Flow = ""
    min_samples: o.MinSamples = 30

    def checked(self) -> dict[str, Any]:
        """Return the options as arguments of the options class of a replay or a suite. Raise UserError."""
        if not math.isfinite(self.min_rto_ms):
            raise UserError("--min-rto-ms: not a number; give milliseconds")
        return {
            "estimators": _named(self.estimator or (), everything=self.all),
            "arithmetic": self.arithmetic.value,
            "sender": o.checked_sender(self.sender),
            "every_ack": self.every_ack,
            "min_samples": self.min_samples,
            "min_rto_us": round(self.min_rto_ms * 1000),
            "flow": self.flow,
            "miss": self.miss,
        }


def _named(named: Sequence[str], *, everything: bool) -> tuple[str, ...]:
    """Return all estimators (`everything`), those `named`, or the defaults and the user's installed ones."""
    if named and not everything:
        return tuple(dict.fromkeys(named))
    from tcplearn.estimators import ALL, DEFAULTS, installed

    own, problems = installed()
    for problem in problems:
        say(f"warning: {problem}")
    if not own and not everything:
        return ()
    return tuple(dict.fromkeys((*(ALL if everything else DEFAULTS), *own, *named)))
