# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fits baddam2018's linear regression of the mean RTT of a burst of pings to our table of hosts. Compares the
coefficients and the mean absolute percentage error (MAPE) with those that the paper prints, also on the
bursts that it prints."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.baddam2018.published import bursts
from experiments.lib.pages import ROOT
from experiments.lib.runs import Run
from tcplearn.learn.rtt import data, regression, trials

HOSTS = ROOT / "examples" / "hosts" / "emulated.parquet"
FOLDS, SEED = 10, 1
#: Hops and TTL assumed for the paper's bursts, for which the paper does not print them.
HOPS, TTL = 12, 52


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    table = regression.usable(data.read([HOSTS])[0])
    tried = regression.tried(table, trials.folds_of(len(table.destinations), FOLDS, SEED))
    fits: dict[str, tuple[Sequence[float], float]] = {
        f"published, {name}": of for name, of in regression.PUBLISHED.items()
    }
    fits["ours"] = regression.fit(table).values(), tried[0].mape
    found = bursts(folder)
    least, mean, most = np.array([(burst.least, burst.mean, burst.most) for burst in found]).T
    by = {
        name: b0 + hops * HOPS + low * least + high * most + ttl * TTL
        for name, ((b0, hops, low, high, ttl), _) in fits.items()
    }
    by |= {"(min + max) / 2": (least + most) / 2, "min": least}
    return {
        "rows": len(table),
        "destinations": len(table.destinations),
        "hosts": str(HOSTS.relative_to(ROOT)),
        "fits": [[name, *(f"{v:.5f}" for v in values), f"{of:.2f}"] for name, (values, of) in fits.items()],
        "tried": [[one.name, f"{one.mape:.2f}"] for one in tried],
        "bursts": len(found),
        "hops": HOPS,
        "ttl": TTL,
        "printed": [[name, f"{trials.mape(mean, predicted):.2f}"] for name, predicted in by.items()],
    }
