# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Forecasts what learned minimum RTOs (floors) on this machine would change, from packets that `tcplearn live
observe` captures. These are the forecasts of `tcplearn explain` for its candidate setting `priced`."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from tcplearn import debian
from tcplearn.errors import UserError
from tcplearn.explain import advice, forecast
from tcplearn.explain.answers import SIDES, Forecast
from tcplearn.explain.model import KEY, Explained, address
from tcplearn.output.numbers import counted, milliseconds, permille

#: The candidate setting of `tcplearn explain` that `tcplearn live` makes.
LIVE = "priced"
_FIGURES = ("median", "p99", "p999", "slowest")


@dataclass(frozen=True)
class Outlooks:
    """What was captured (None: no packet of TCP), and a forecast for each end of connections at which this
    machine sent data that waited for a timer."""

    found: Explained | None
    forecasts: Sequence[Forecast] = ()

    @property
    def requests(self) -> int:
        return self.found.total.requests if self.found else 0

    def as_json(self) -> dict[str, Any]:
        """Return the number of requests and, for each end, response times in ms with 95 % intervals."""
        return {"requests": self.requests, "ends": [*map(self._end, self.forecasts)]}

    def _end(self, one: Forecast) -> dict[str, Any]:
        times = {
            name: {
                f"{figure}_ms": {"value": of.value, "low": of.low, "high": of.high}
                for figure in _FIGURES
                for of in (outlook.figure(figure),)
            }
            for name, outlook in (("captured", one.seen), ("with_floors", one.of(LIVE)))
        }
        return {
            "as": one.by[0],
            "stalls": one.stalls,
            **times,
            "more_spurious_permille": _more(one),
            "doubt": self._doubt(one),
        }

    def _doubt(self, one: Forecast) -> str:
        return advice.unjudged(self.found, one) if self.found else ""

    def lines(self) -> Iterator[str]:
        """Yield the forecasts as sentences."""
        requests = self.requests
        if not requests:
            yield "forecast: no requests were captured, so nothing can be forecast"
        elif not self.forecasts:
            yield (
                f"forecast: of {counted(requests, 'captured request')} none is known to have waited for a "
                "timer at an address of this network namespace; connections of containers and of forwarded "
                "traffic are not forecast"
            )
        for one in self.forecasts:
            begin = f"forecast for {counted(requests, 'captured request')}, this machine as the {one.by[0]}: "
            yield begin + (self._doubt(one) or _sentence(one))


#: The result for an interface on which no packet of TCP was captured.
NOTHING = Outlooks(None)


def _sentence(one: Forecast) -> str:
    now, then = one.seen, one.of(LIVE)
    p99, was = then.figure("p99"), now.figure("p99")
    slow, slow_was = then.figure("slowest"), now.figure("slowest")
    more = f"{permille(_more(one))} more" if _more(one) > 0 else "no more"
    return (
        f"with learned floors 99 of 100 requests would take at most {milliseconds(p99.value)} ms (95 % "
        f"interval: {milliseconds(p99.low)} to {milliseconds(p99.high)}), now {milliseconds(was.value)}, and "
        f"the slowest 2 % {milliseconds(slow.value)} ms on average ({milliseconds(slow.low)} to "
        f"{milliseconds(slow.high)}), now {milliseconds(slow_was.value)}; {more} spurious retransmissions in "
        "1,000 segments"
    )


def _more(one: Forecast) -> float:
    return one.of(LIVE).spurious_permille - one.of(one.in_force).spurious_permille


def of(found: Explained, own: frozenset[str]) -> Outlooks:
    """Return the forecasts of response times with learned floors on the machine with the addresses `own`.
    Stalls that timers of other machines ended stay as they were."""
    stalls = (
        found.stalls.filter(pl.col("by") == side).join(
            found.connections.filter(address(side).is_in(list(own))), on=KEY, how="semi"
        )
        for side in SIDES
    )
    mine = replace(found, stalls=pl.concat(stalls))
    return Outlooks(found, [one for one in forecast.of_each(mine) if len(one.by) == 1])


def addresses() -> frozenset[str]:
    """Return the IP addresses of this machine (of its network namespace). Raise UserError."""
    words = [debian.to_start("ip"), "-json", "address"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise UserError("the addresses of this machine cannot be listed: `ip -json address` fails") from error
    return frozenset(
        one["local"] for device in found for one in device.get("addr_info", ()) if "local" in one
    )
