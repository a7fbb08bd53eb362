# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Describe the result of a run over an emulated link: packets, lateness, and whether it can be used."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: Why the emulator dropped packets: the causes in its counts, with the words for messages.
CAUSES = {
    "queue": "full queue",
    "policer": "policer",
    "random": "random loss",
    "burst": "bursts",
    "fade": "fades",
    "forced": "forced",
}
_SIDES = {"forward": "to the server", "reverse": "to the client"}


@dataclass(frozen=True)
class Result:
    """The result of a run. `found` has what the emulating process returned (exit codes, numbers of packets,
    lateness), with the keys that docs/emulate.md describes. `late_limit_us` is the lateness of a packet above
    which the run cannot be used."""

    found: Mapping[str, Any]
    late_limit_us: int

    @property
    def exit_code(self) -> int:
        """Return the command's exit code, or 1 if it is 0 and the run cannot be used."""
        return int(self.found["exit_code"]) or int(bool(self.unusable))

    @property
    def unusable(self) -> list[str]:
        """Return the reasons why the emulated link differed from the path's description, if it did."""
        return [*self._why()]

    def _why(self) -> Iterator[str]:
        late_us = self.found["late_us"]["max"]
        if late_us > self.late_limit_us:
            yield f"a packet was {late_us} us late, more than {self.late_limit_us} (--late-limit-us)"
        if overrun := self.found["overrun"]:
            yield f"{overrun} packets came faster than the emulator read them, and were lost"
        if refused := sum(self.found[side]["refused"] for side in _SIDES):
            yield f"{refused} packets were refused by the device to which they were delivered"
        if self.found["server_exit_code"]:
            yield f"the server ended with code {self.found['server_exit_code']} before the command"

    def record(self) -> dict[str, Any]:
        """Return the entries of `found`, the limit of lateness and the reasons in `unusable`, for JSON."""
        return {**self.found, "late_limit_us": self.late_limit_us, "unusable": self.unusable}

    def lines(self) -> Iterator[str]:
        for side, name in _SIDES.items():
            yield f"{name}: {_counts(self.found[side])}"
        late = self.found["late_us"]
        flying = f"; {n} were on the way at the end" if (n := self.found["in_flight"]) else ""
        quantiles = f"{late['p50']} us (median), {late['p99']} us (p99), {late['max']} us (most)"
        if late["packets"]:
            yield f"packets released late by {quantiles}{flying}"
        if not self.found["real_time"]:
            yield "the emulator had no real-time priority (CAP_SYS_NICE)"
        for why in self.unusable:
            yield discarded(why)


def discarded(why: str) -> str:
    return f"discard this run: {why}"


def _counts(side: Mapping[str, Any]) -> str:
    dropped = side["dropped"]
    causes = ", ".join(f"{dropped[cause]} {name}" for cause, name in CAUSES.items() if dropped[cause])
    lost = f"{sum(dropped.values())} dropped" + (f" ({causes})" if causes else "")
    return f"{side['packets']} packets, {side['delivered']} delivered, {lost}"
