# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The fields of a metric: key, unit, hosts, meaning, and how tables show it."""

from dataclasses import dataclass
from functools import cache

#: The ending of a key and its unit; the longest ending that fits counts.
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
#: The unit of shares, ratios, rates and counts.
NO_UNIT = "1"

REPLAY, NS3, LAB, EXPLAIN = "replay", "ns3", "lab", "explain"


def _ending(key: str) -> tuple[str, str]:
    return next(((end, unit) for end, unit in UNITS if key.endswith(end)), ("", NO_UNIT))


@cache
def unit_of(key: str) -> str:
    """Return the unit that `key` ends in; "1" for shares and counts. A program's counter may begin with
    it."""
    return "B" if key.partition(".")[2].startswith("bytes_") else _ending(key)[1]


def without_unit(key: str) -> str:
    return key.removesuffix(_ending(key)[0])


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric, the same in every host that has it."""

    key: str  # ends in its unit; shares, ratios and counts have none
    hosts: tuple[str, ...]
    meaning: str
    heading: str = ""  # heading of its column, one or two lines; "": no table of flows has it
    name: str = ""  # name in a legend, if it differs from the heading
    rank: int = 0  # a narrow table leaves out the column of the lowest rank first
    ratio: int = 0  # the rank of the column of its ratio to `jacobson`; 0: it has no ratio
    percent: bool = False  # a share that is shown in percent
    signed: bool = False
    rare: bool = False  # its column comes after all others, and only if something was measured
    short: str = ""  # its meaning, for the legend below a table
    share_of: tuple[str, str] | None = None  # the two counters of the engine whose ratio it is
    in_row: bool = True  # in the row of a replay's flow; False: of its identity, or of a suite or study

    @property
    def unit(self) -> str:
        return unit_of(self.key)

    @property
    def ratio_key(self) -> str:
        """The key of its ratio to `jacobson` on the same flow: `mean_rto_ratio` for `mean_rto_ms`."""
        return f"{without_unit(self.key)}_ratio"


@dataclass(frozen=True, slots=True)
class Family:
    """Metrics whose keys have the same prefix: of a suite or a study, or a host's counters under the names of
    their source."""

    prefix: str
    hosts: tuple[str, ...]
    meaning: str
