# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draws values for keys of a scenario from a seed. The table `[grid.draw]` gives each key's distribution:

"topology.rate_mbps" = { log = [1.0, 50.0] }      uniform on a logarithmic scale
"load.udp_share" = { even = [0.05, 0.6] }         uniform
"load.beside" = { of = [0, 1, 2] }                one of these values, with equal chances
"topology.loss_rate" = { any = [{ of = [0.0] }, { log = [1e-4, 0.03] }] }    one of these draws
together = { any = [{ "load.udp" = ... }, ...] }  one of several sets of keys (`together` is not a key)
"""

import math
import random
from collections.abc import Mapping
from typing import Any

from tcplearn.errors import UserError

TOGETHER = "together"  # an entry that begins so is not a key: it chooses one of several sets of keys


def drawn(grid: Mapping[str, Any], name: str, seed: int) -> dict[str, Any]:
    """Return a random value for each dotted key of `grid`. The random generator of a key is seeded with
    `name`, the key and `seed`. Raise UserError."""
    out: dict[str, Any] = {}
    for key, source in grid.items():
        draw = random.Random(f"{name}/{key}/{seed}")
        if key.partition("-")[0] == TOGETHER:
            out |= {inner: _value(inner, of, draw) for inner, of in _one_of(key, source, draw).items()}
        else:
            out[key] = _value(key, source, draw)
    return out


def _one_of(key: str, source: Any, draw: random.Random) -> Mapping[str, Any]:
    tables = source.get("any") if isinstance(source, dict) and len(source) == 1 else None
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise UserError(f"grid.draw.{key}: give {{ any = [tables of keys] }}")
    chosen: Mapping[str, Any] = draw.choice(tables)
    return chosen


def _value(key: str, source: Any, draw: random.Random) -> Any:
    if not isinstance(source, dict) or len(source) != 1:
        raise UserError(f"grid.draw.{key}: give one of even, log, of, any, such as {{ even = [0.1, 0.6] }}")
    ((how, values),) = source.items()
    try:
        match how:
            case "of":
                return draw.choice(values)
            case "any":
                return _value(key, draw.choice(values), draw)
            case "even":
                low, high = map(float, values)
                return draw.uniform(low, high)
            case "log":
                low, high = map(float, values)
                return math.exp(draw.uniform(math.log(low), math.log(high)))
    except (TypeError, ValueError, LookupError, OverflowError):
        shown = repr(values)[:60]
        raise UserError(f"grid.draw.{key}: {how}: wrong values: {shown}") from None
    raise UserError(f"grid.draw.{key}: no {how!r}; give one of even, log, of, any")
