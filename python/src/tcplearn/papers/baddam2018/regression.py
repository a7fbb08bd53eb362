# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""baddam2018's regression: coefficients and MAPE beside the published, on the hosts that are shipped, and on
the bursts that the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tcplearn.jobs import Progress
from tcplearn.lab.checkout import ROOT
from tcplearn.learn.rtt import data, regression, trials
from tcplearn.learn.rtt.regression import PUBLISHED, Coefficients, Predicted
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.output.markdown import table_of
from tcplearn.papers import Request
from tcplearn.papers.baddam2018 import published
from tcplearn.papers.baddam2018.published import Burst

PAGE = "regression"
HOSTS = ROOT / "examples" / "hosts" / "emulated.parquet"
FOLDS, SEED = 10, 1
#: Of `linreg`, where they are not known: the printed bursts have neither.
HOPS, TTL = 12, 52
_COEFFICIENTS = ("b0", "hops", "min", "max", "ttl")


def write(request: Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
    if not (request.folder / published.FILE).exists():
        return None
    make_directory(request.out)
    bursts = published.bursts(request.folder)
    write_atomically(request.out / f"{PAGE}.md", "\n\n".join(_lines(bursts, request)) + "\n")
    return f"{len(bursts)} printed bursts: {request.out / PAGE}.md"


def _lines(bursts: Sequence[Burst], request: Request) -> Iterator[str]:
    table = regression.usable(data.read([HOSTS])[0])
    ours = regression.fit(table)
    mape = regression.mape(table.avg_us, ours.predicted_us(table))
    yield "# The regression, beside the published"
    yield f"Made by `{request.command}`; do not edit."
    yield (
        "Least squares of the mean RTT of a burst on hops, the burst's own least and largest RTT, and TTL, "
        f"in ms. Ours: {len(table)} rows of {len(table.destinations)} emulated hosts "
        f"(`{HOSTS.relative_to(ROOT)}`). The published: 5,000 "
        "sites, a fit in each of three kernels. MAPE on the rows that it was fitted to, as the paper gives "
        "it."
    )
    rows = [
        [f"published, {name}", *_shown(values), f"{value:.2f}"] for name, (values, value) in PUBLISHED.items()
    ]
    rows.append(["ours", *_shown(ours.values()), f"{mape:.2f}"])
    yield table_of(["fit", *_COEFFICIENTS, "MAPE, %"], rows, [True, *[False] * 6])
    folds = trials.folds_of(len(table.destinations), FOLDS, SEED)
    yield "On destinations held out (ten folds), the published ones on the same rows:"
    yield table_of(
        ["mean of a burst by", "MAPE, %"], list(_tried(regression.tried(table, folds))), [True, False]
    )
    yield (
        f"And on the {len(bursts)} bursts that the paper itself prints (its sanity check), ours trained on "
        f"none of them; hops and TTL are not printed, so {HOPS} and {TTL}:"
    )
    yield table_of(["mean of a burst by", "MAPE, %"], list(_of_printed(bursts, ours)), [True, False])
    yield request.notes(PAGE).strip()


def _shown(values: Sequence[float]) -> list[str]:
    return [f"{value:.5f}" for value in values]


def _tried(found: Sequence[Predicted]) -> Iterator[list[str]]:
    for one in found:
        yield [one.name, f"{regression.mape(one.actual_us, one.predicted_us):.2f}"]


def _of_printed(bursts: Sequence[Burst], ours: Coefficients) -> Iterator[list[str]]:
    least, mean, most = (np.array([getattr(b, name) for b in bursts]) for name in ("least", "mean", "most"))
    fits = {f"published, {name}": values for name, (values, _) in PUBLISHED.items()} | {"ours": ours.values()}
    for name, (b0, hops, low, high, ttl) in fits.items():
        predicted = b0 + hops * HOPS + low * least + high * most + ttl * TTL
        yield [name, f"{regression.mape(mean, predicted):.2f}"]
    yield ["(min + max) / 2", f"{regression.mape(mean, (least + most) / 2):.2f}"]
    yield ["min", f"{regression.mape(mean, least):.2f}"]
