# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists all metrics in the order of docs/metrics.md and of the columns of tables. Finds a metric by its key,
and says which program may report it."""

from collections.abc import Iterator

from tcplearn.metrics import flows, kernel, prediction, replays, responses, timers, transfers, web
from tcplearn.metrics.metric import REPLAY, Family, Metric

METRICS: tuple[Metric, ...] = (
    *prediction.METRICS,
    *timers.METRICS,
    *replays.METRICS,
    *transfers.METRICS,
    *responses.METRICS,
    *flows.METRICS,
    *web.METRICS,
    *kernel.METRICS,
)
FAMILIES: tuple[Family, ...] = (*replays.FAMILIES, *responses.FAMILIES, *kernel.FAMILIES)

BY_KEY = {metric.key: metric for metric in METRICS}
if len(BY_KEY) != len(METRICS):
    raise AssertionError("a metric is listed twice")


def known(key: str, host: str) -> bool:
    """Return whether the program `host` ("replay", "ns3", "lab" or "explain") may report the metric `key`."""
    metric = BY_KEY.get(key)
    if metric is not None:
        return host in metric.hosts
    if host == REPLAY and key in of_replay():
        return True
    return any(key.startswith(family.prefix) and host in family.hosts for family in FAMILIES)


def with_ratio() -> Iterator[Metric]:
    """Yield the metrics that `replay` also reports as ratios to the estimator `jacobson` (RFC 6298), with
    intervals."""
    return (metric for metric in METRICS if metric.ratio)


def of_replay() -> tuple[str, ...]:
    """Return the keys of a result row of `replay`, in order. All ratios to the estimator `jacobson` (RFC
    6298), and their intervals, come after the last metric that has such a ratio."""
    plain = [m.key for m in METRICS if REPLAY in m.hosts and m.in_row]
    at = 1 + max(plain.index(m.key) for m in with_ratio())
    ratios = [m.ratio_key for m in with_ratio()]
    return (*plain[:at], *ratios, *(f"{key}_{end}" for key in ratios for end in ("low", "high")), *plain[at:])
