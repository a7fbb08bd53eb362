# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a metric has: key, unit, hosts, meaning, and how tables show it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

#: Ending of a key, and its unit; the longest that fits counts.
UNITS = (
    ("_ticks2", "ticks^2"),
    ("_ticks", "ticks"),
    ("_us", "us"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("_bytes", "B"),
    ("_segments", "segments"),
    ("_packets", "packets"),
    ("_pps", "packets/s"),
    ("_mbps", "Mbit/s"),
    ("_mib", "MiB"),
    ("_rtts", "RTT"),
)
#: Of shares, ratios, rates and counts.
NO_UNIT = "1"

REPLAY, NS3, LAB = "replay", "ns3", "lab"


def _ending(key: str) -> tuple[str, str]:
    return next(((end, unit) for end, unit in UNITS if key.endswith(end)), ("", NO_UNIT))


@cache
def unit_of(key: str) -> str:
    """The unit that a key ends in (of what is passed on also begins with); "1" for shares and counts."""
    return "B" if key.partition(".")[2].startswith("bytes_") else _ending(key)[1]


def without_unit(key: str) -> str:
    return key.removesuffix(_ending(key)[0])


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric, the same in every host that has it."""

    key: str  # ends in its unit; shares, ratios and counts have none
    hosts: tuple[str, ...]
    meaning: str
    heading: str = ""  # of its column, of one or two lines; none: in no table of flows
    name: str = ""  # in a legend, where it differs from the heading
    rank: int = 0  # the lowest leaves a narrow table first
    ratio: int = 0  # the rank of its ratio to `jacobson`; 0: it has none
    percent: bool = False  # a share that is shown as one
    signed: bool = False
    rare: bool = False  # a column, after all others, only where something was measured
    short: str = ""  # its meaning below a table
    share_of: tuple[str, str] | None = None  # the engine's counters that it is the ratio of
    in_row: bool = True  # of a replay's flow; False: in the row's identity, or of a suite or study alone

    @property
    def unit(self) -> str:
        return unit_of(self.key)

    @property
    def ratio_key(self) -> str:
        """`mean_rto_ms` -> `mean_rto_ratio`: below 1 is less than `jacobson`'s on the same flow."""
        return f"{without_unit(self.key)}_ratio"


@dataclass(frozen=True, slots=True)
class Family:
    """Metrics whose keys begin alike: of a suite or a study, or counters that a host passes on under the
    names that their source gives them."""

    prefix: str
    hosts: tuple[str, ...]
    meaning: str
