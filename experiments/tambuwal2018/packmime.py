# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares the quantile curves of our web traffic generator with those of PackMime in ns-2.35, which
tambuwal2018 uses. The curves agree at the shares (cumulative probabilities) in web_quantiles.h and differ
between these shares, because ns-2 interpolates between other shares and on other scales. The program's
argument is the path of the file packmime/packmime_ranvar.cc of ns-2.35. The program writes between.csv; with
--read it first writes ns3/src/web_quantiles.h and quantiles.csv from ns-2's curves."""

from __future__ import annotations

import bisect
import csv
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from experiments.tambuwal2018.cells import BETWEEN
from tcplearn.checkout import ROOT

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

Curve = Callable[[float], float]


def array(text: str, name: str) -> list[float]:
    """Returns the numbers of the C++ array that `text` defines as `name[] = {...}`."""
    found = re.search(rf"\b{name}\[\]\s*=\s*\{{([^}}]*)\}}", text)
    if not found:
        raise SystemExit(f"no array {name}: give ns-2.35's packmime/packmime_ranvar.cc")
    return [float(value) for value in found[1].split(",")]


def line(x: Sequence[float], y: Sequence[float], at: float) -> float:
    right = min(max(bisect.bisect_left(x, at), 1), len(x) - 1)
    return y[right - 1] + (y[right] - y[right - 1]) * (at - x[right - 1]) / (x[right] - x[right - 1])


def published(text: str) -> dict[str, Curve]:
    """Returns ns-2's quantile curves by quantity, as value(), rfsize0() and qfsize1() in `text`
    (packmime_ranvar.cc) compute them from tables of transformed shares and values."""

    def curve(name: str, scale: Curve, back: Curve) -> Curve:
        x, y = array(text, f"{name}_X"), array(text, f"{name}_Y")
        return lambda p: back(line(x, y, scale(p)))

    def tail(p: float) -> float:
        return -math.log10(1 - p)

    def size(name: str) -> Curve:
        return curve(name, lambda p: math.log2(1 - p), lambda y: 2**y)

    low, high = curve("FSIZE1_INVCDF_A", float, float), size("FSIZE1_INVCDF_B")
    return {
        "client_rtt_ms": curve("SHORT_RTT_INVCDF", tail, lambda y: y**5),
        "server_rtt_ms": curve("LONG_RTT_INVCDF", tail, lambda y: y**3),
        "validation_bytes": curve("FSIZE0_INVCDF_A", float, float),
        "file_bytes": size("FSIZE0_INVCDF_B"),
        "request_bytes": lambda p: low(2 * p) if p <= 0.5 else high(2 * p - 1),
    }


def ours(header: str) -> dict[str, Curve]:
    """Returns our quantile curves by quantity, as web_draw.cc computes them from web_quantiles.h."""
    shares = array(header, "kP")
    logits = [math.log(p / (1 - p)) for p in shares]

    def curve(name: str) -> Curve:
        logs = [math.log(value) for value in array(header, name)]
        return lambda p: math.exp(line(logits, logs, math.log(p / (1 - p))))

    return {quantity: curve(name) for quantity, name in NAMES.items()}


def read_again(text: str) -> None:
    """Writes the arrays of web_quantiles.h and the rows of quantiles.csv from ns-2's curves in `text`."""
    theirs, header = published(text), QUANTILES.read_text()
    values: dict[str, list[float]] = {"kP": list(READ)} | {
        name: [theirs[quantity](p) for p in READ] for quantity, name in NAMES.items()
    }
    for name, of in values.items():
        digits = 4 if name == "kP" else 3
        listed = ", ".join(f"{float(f'{value:.{digits}g}'):g}" for value in of)
        header = re.sub(rf"\b{name}\[\] = \{{[^}}]*\}}", f"{name}[] = {{{listed}}}", header)
    QUANTILES.write_text(header)
    with (FOLDER / "quantiles.csv").open(newline="") as file:
        head, *old = csv.reader(file)
    kept = [row for row in old if row[0] not in NAMES]
    new = [
        [q, f"{p:g}", f"{theirs[q](p):.4f}" if q.endswith("ms") else f"{int(theirs[q](p))}"]
        for q in NAMES
        for p in COMPARED
    ]
    with (FOLDER / "quantiles.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerows([head, *sorted(kept + new, key=lambda row: (row[0], float(row[1])))])


def path_rtts(curves: dict[str, Curve]) -> list[float]:
    """Returns the sorted RTTs, in ms, of all pairs of a client and a server. An RTT is the sum of the
    client's part and the server's part, each from its curve in `curves`, and the links' delay."""
    middles = [(k + 0.5) / DRAWS for k in range(DRAWS)]
    server = [curves["server_rtt_ms"](p) for p in middles]
    return sorted(curves["client_rtt_ms"](p) + s + LINKS_MS for p in middles for s in server)


def rows(text: str, header: str) -> Iterator[tuple[str, float, float, float, float, float]]:
    """Yields, for each quantity, the lowest and the highest difference of our curve from ns-2's in %, each
    followed by the share (cumulative probability) at which it occurs, and the part of all shares at which the
    difference is at most 5 %."""
    theirs, own = published(text), ours(header)
    shares = [k / PARTS for k in range(PARTS // 1000, PARTS - PARTS // 1000 + 1)]
    changes = {q: [(100 * (own[q](p) / curve(p) - 1), p) for p in shares] for q, curve in theirs.items()}
    both = [path_rtts(curves) for curves in (own, theirs)]
    changes["path_rtt_ms"] = [
        (100 * (a / b - 1), p) for p in shares for a, b in [(of[int(p * len(of))] for of in both)]
    ]
    for quantity, of in changes.items():
        (least, at_least), (most, at_most) = min(of), max(of)
        yield quantity, least, at_least, most, at_most, sum(abs(c) <= 5 for c, _ in of) / len(of)


def main() -> None:
    *options, name = sys.argv[1:] or [""]
    if options not in ([], ["--read"]) or not name:
        raise SystemExit("usage: python -m experiments.tambuwal2018.packmime [--read] packmime_ranvar.cc")
    text = Path(name).read_text(errors="replace")
    if options:
        read_again(text)
    header = QUANTILES.read_text()
    with (FOLDER / BETWEEN).open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("quantity", "least_percent", "at", "most_percent", "at", "within_5_percent"))
        for quantity, least, at_least, most, at_most, within in rows(text, header):
            changes = (f"{least:.1f}", f"{at_least:g}", f"{most:.1f}", f"{at_most:g}")
            out.writerow((quantity, *changes, f"{within:.2f}"))
    for whose, curves in (("ns-2", published(text)), ("ours", ours(header))):
        of = path_rtts(curves)
        below = bisect.bisect(of, 50) / len(of)
        print(f"{whose}: share of RTTs below 50 ms {below:.3f}, mean RTT {sum(of) / len(of):.1f} ms")


if __name__ == "__main__":
    main()
