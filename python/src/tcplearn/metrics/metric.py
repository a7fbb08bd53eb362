# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the fields of a metric: key, unit, programs that report it, meaning, and how tables show it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

#: (ending of a metric's key, unit). The first ending that fits the key determines the unit.
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
#: The unit of shares, ratios, rates and counts, which have no unit.
NO_UNIT = "1"

REPLAY, NS3, LAB, EXPLAIN = "replay", "ns3", "lab", "explain"


def _ending(key: str) -> tuple[str, str]:
    return next(((end, unit) for end, unit in UNITS if key.endswith(end)), ("", NO_UNIT))


@cache
def unit_of(key: str) -> str:
    """Return the unit in which the metric `key` ends, such as "ms" ("B" for "ss.bytes_sent"), or "1" if it
    has none."""
    return "B" if key.partition(".")[2].startswith("bytes_") else _ending(key)[1]


def without_unit(key: str) -> str:
    return key.removesuffix(_ending(key)[0])


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric, with the same meaning in every program that reports it."""

    key: str  # ends in the unit; shares, ratios and counts have no unit
    hosts: tuple[str, ...]
    meaning: str
    heading: str = ""  # column heading, one or two lines; "": not in tables of flows
    name: str = ""  # name in a legend, if not the heading
    rank: int = 0  # a table that is too wide leaves out the lowest rank first
    ratio: int = 0  # rank of the column with its ratio to `jacobson` (RFC 6298); 0: no ratio
    percent: bool = False  # a share, shown in percent
    signed: bool = False
    rare: bool = False  # the metric's column comes last, and is shown only if it has a value
    short: str = ""  # meaning in the legend below a table
    share_of: tuple[str, str] | None = None  # the metric is the ratio of these two counters of the engine
    in_row: bool = True  # whether a replay's row for a flow has it

    @property
    def unit(self) -> str:
        return unit_of(self.key)

    @property
    def ratio_key(self) -> str:
        """Return the key of the ratio of this metric to the same metric of `jacobson` (RFC 6298), such as
        `mean_rto_ratio`."""
        return f"{without_unit(self.key)}_ratio"


def described(hosts: tuple[str, ...], /, **meanings: str) -> Iterator[Metric]:
    """Yield the metrics with the keys of `meanings`, which the programs `hosts` report and tables of flows do
    not show."""
    return (Metric(key, hosts, meaning) for key, meaning in meanings.items())


@dataclass(frozen=True, slots=True)
class Family:
    """Metrics whose keys share a prefix, such as "nstat." for the Linux kernel's own counters."""

    prefix: str
    hosts: tuple[str, ...]
    meaning: str
