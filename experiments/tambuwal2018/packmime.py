# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares the quantile curves of our web traffic generator with those of PackMime in ns-2.35, which
tambuwal2018 uses. The curves agree at the shares (cumulative probabilities) in web_quantiles.h and differ
between these shares, because ns-2 interpolates between other shares and on other scales. The program's
argument is the path of the file packmime/packmime_ranvar.cc of ns-2.35. The program writes between.csv; with
--read it first writes ns3/src/web_quantiles.h and quantiles.csv from ns-2's curves."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments.lib.runs import Floats
from tcplearn.checkout import ROOT

BETWEEN = "between.csv"
QUANTILES = ROOT / "ns3" / "src" / "web_quantiles.h"
FOLDER = ROOT / "experiments" / "tambuwal2018"
PARTS = 10_000
LINKS_MS = 6.0  # the delay of the links in common.toml, both directions together
DRAWS = 400  # number of values of each of the RTT's two parts (client, server); all pairs are formed

#: The shares at which ns-2's curves are read. Between them the logarithm of a quantile is linear in the logit
#: of the share; there are enough shares that no quantile differs from ns-2's by 5 %.
LOW = (0.001, 0.003, 0.01, 0.02, 0.04, 0.05, 0.1, 0.15, 0.25, 0.34, 0.44, 0.5, 0.68, 0.69, 0.75)
HIGH = (0.82, 0.87, 0.9, 0.93, 0.945, 0.95, 0.97, 0.98, 0.99, 0.994, 0.997, 0.998, 0.9985, 0.999, 0.9999)
READ = (*LOW, *HIGH)
#: The shares in quantiles.csv: some of `READ`, and others.
COMPARED = (0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.46, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99)
NAMES = {
    "validation_bytes": "kValidation",
    "file_bytes": "kFile",
    "request_bytes": "kRequest",
    "client_rtt_ms": "kClientRtt",
    "server_rtt_ms": "kServerRtt",
}

Curve = Callable[[Any], Floats]  # of one share or of an array of shares


def array(text: str, name: str) -> Floats:
    """Returns the numbers of the C++ array that `text` defines as `name[] = {...}`."""
    found = re.search(rf"\b{name}\[\]\s*=\s*\{{([^}}]*)\}}", text)
    if not found:
        raise SystemExit(f"no array {name}: give ns-2.35's packmime/packmime_ranvar.cc")
    return np.array([float(value) for value in found[1].split(",")])


def line(x: Floats, y: Floats, at: Any) -> Any:
    """Interpolates linearly between the points (`x`, `y`), with ascending `x`, and extrapolates beyond them;
    returns the values at the places `at`."""
    right = np.clip(np.searchsorted(x, at), 1, len(x) - 1)
    return y[right - 1] + (y[right] - y[right - 1]) * (at - x[right - 1]) / (x[right] - x[right - 1])


def published(text: str) -> dict[str, Curve]:
    """Returns ns-2's quantile curves by quantity, as value(), rfsize0() and qfsize1() in `text`
    (packmime_ranvar.cc) compute them from tables of transformed shares and values."""

    def curve(name: str, scale: Curve, back: Curve) -> Curve:
        x, y = array(text, f"{name}_X"), array(text, f"{name}_Y")
        return lambda p: back(line(x, y, scale(p)))

    def rtt(name: str, power: int) -> Curve:
        return curve(name, lambda p: -np.log10(1 - p), lambda y: y**power)

    def size(name: str) -> Curve:
        return curve(name, lambda p: np.log2(1 - p), np.exp2)

    low, high = curve("FSIZE1_INVCDF_A", np.asarray, np.asarray), size("FSIZE1_INVCDF_B")
    return {
        "client_rtt_ms": rtt("SHORT_RTT_INVCDF", 5),
        "server_rtt_ms": rtt("LONG_RTT_INVCDF", 3),
        "validation_bytes": curve("FSIZE0_INVCDF_A", np.asarray, np.asarray),
        "file_bytes": size("FSIZE0_INVCDF_B"),
        "request_bytes": lambda p: np.where(p <= 0.5, low(2 * p), high(2 * p - 1)),
    }


def ours(header: str) -> dict[str, Curve]:
    """Returns our quantile curves by quantity, as web_draw.cc computes them from web_quantiles.h."""
    shares = array(header, "kP")
    logits = np.log(shares / (1 - shares))

    def curve(name: str) -> Curve:
        logs = np.log(array(header, name))
        return lambda p: np.exp(line(logits, logs, np.log(p / (1 - p))))

    return {quantity: curve(name) for quantity, name in NAMES.items()}


def read_again(text: str) -> None:
    """Writes the arrays of web_quantiles.h and the rows of quantiles.csv from ns-2's curves in `text`."""
    theirs, header = published(text), QUANTILES.read_text()
    values: dict[str, Iterable[float]] = {"kP": READ}
    values |= {name: theirs[quantity](np.array(READ)) for quantity, name in NAMES.items()}
    for name, of in values.items():
        digits = 4 if name == "kP" else 3
        listed = ", ".join(f"{float(f'{value:.{digits}g}'):g}" for value in of)
        header = re.sub(rf"\b{name}\[\] = \{{[^}}]*\}}", f"{name}[] = {{{listed}}}", header)
    QUANTILES.write_text(header)
    with (FOLDER / "quantiles.csv").open(newline="") as file:
        head, *old = csv.reader(file)
    rows = [row for row in old if row[0] not in NAMES]
    for quantity in NAMES:
        for p in COMPARED:
            value = float(theirs[quantity](p))
            rows.append([quantity, f"{p:g}", f"{value:.4f}" if quantity.endswith("ms") else f"{int(value)}"])
    _write("quantiles.csv", [head, *sorted(rows, key=lambda row: (row[0], float(row[1])))])


def _write(name: str, rows: list[list[str]]) -> None:
    with (FOLDER / name).open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def path_rtts(curves: dict[str, Curve]) -> Floats:
    """Returns the sorted RTTs, in ms, of all pairs of a client and a server. An RTT is the sum of the
    client's part and the server's part, each from its curve in `curves`, and the links' delay."""
    middles = (np.arange(DRAWS) + 0.5) / DRAWS
    client, server = (curves[name](middles) for name in ("client_rtt_ms", "server_rtt_ms"))
    return np.sort(np.add.outer(client, server), axis=None) + LINKS_MS


def rows(text: str, header: str) -> Iterator[tuple[str, float, float, float, float, float]]:
    """Yields, for each quantity, the lowest and the highest difference of our curve from ns-2's in %, each
    followed by the share (cumulative probability) at which it occurs, and the part of all shares at which the
    difference is at most 5 %."""
    theirs, own = published(text), ours(header)
    shares = np.arange(PARTS // 1000, PARTS - PARTS // 1000 + 1) / PARTS
    ratios = {quantity: own[quantity](shares) / curve(shares) for quantity, curve in theirs.items()}
    above, below = (path_rtts(curves)[(shares * DRAWS**2).astype(int)] for curves in (own, theirs))
    ratios["path_rtt_ms"] = above / below
    for quantity, of in ratios.items():
        change = 100 * (of - 1)
        least, most = change.argmin(), change.argmax()
        within = float(np.mean(abs(change) <= 5))
        yield quantity, change[least], shares[least], change[most], shares[most], within


def main() -> None:
    *options, name = sys.argv[1:] or [""]
    if options not in ([], ["--read"]) or not name:
        raise SystemExit("usage: python -m experiments.tambuwal2018.packmime [--read] packmime_ranvar.cc")
    text = Path(name).read_text(errors="replace")
    if options:
        read_again(text)
    header = QUANTILES.read_text()
    table = [["quantity", "least_percent", "at", "most_percent", "at", "within_5_percent"]]
    for quantity, least, at_least, most, at_most, within in rows(text, header):
        changes = (f"{least:.1f}", f"{at_least:g}", f"{most:.1f}", f"{at_most:g}")
        table.append([quantity, *changes, f"{within:.2f}"])
    _write(BETWEEN, table)
    for whose, curves in (("ns-2", published(text)), ("ours", ours(header))):
        of = path_rtts(curves)
        print(f"{whose}: share of RTTs below 50 ms {np.mean(of <= 50):.3f}, mean RTT {of.mean():.1f} ms")


if __name__ == "__main__":
    main()
