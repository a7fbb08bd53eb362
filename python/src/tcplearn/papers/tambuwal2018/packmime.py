# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""tambuwal2018's web generator between the shares at which it was read: `python -m
tcplearn.papers.tambuwal2018.packmime packmime/packmime_ranvar.cc`, of ns-2.35's source, writes
papers/tambuwal2018/between.csv.

Ours is a line over the shares of web_quantiles.h, ns-2's one over other shares and in other scales: they meet
where they were read. None of ns-2's numbers are kept here: the file is read where it is.
"""

from __future__ import annotations

import bisect
import csv
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tcplearn.papers.tambuwal2018.cells import BETWEEN
from tcplearn.simulate.engine import ROOT

QUANTILES = ROOT / "ns3" / "src" / "web_quantiles.h"
FOLDER = ROOT / "papers" / "tambuwal2018"
PARTS = 1000  # shares from 1/1000 to 999/1000
LINKS_MS = 6.0  # of common.toml, both ways
DRAWS = 400  # of either part of the RTT, all pairs of them

Curve = Callable[[float], float]


def array(text: str, name: str) -> list[float]:
    """`name[] = {1, 2}` of C++."""
    found = re.search(rf"\b{name}\[\]\s*=\s*\{{([^}}]*)\}}", text)
    if not found:
        raise SystemExit(f"no array {name}: give ns-2.35's packmime/packmime_ranvar.cc")
    return [float(value) for value in found[1].split(",")]


def line(x: Sequence[float], y: Sequence[float], at: float) -> float:
    right = min(max(bisect.bisect_left(x, at), 1), len(x) - 1)
    return y[right - 1] + (y[right] - y[right - 1]) * (at - x[right - 1]) / (x[right] - x[right - 1])


def published(text: str) -> dict[str, Curve]:
    """As value(), rfsize0() and qfsize1() read them: shares on a scale, values on another."""

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
    """As web_draw.cc reads web_quantiles.h."""
    shares = array(header, "kP")
    logits = [math.log(p / (1 - p)) for p in shares]

    def curve(name: str) -> Curve:
        logs = [math.log(value) for value in array(header, name)]
        return lambda p: math.exp(line(logits, logs, math.log(p / (1 - p))))

    names = {"client_rtt_ms": "kClientRtt", "server_rtt_ms": "kServerRtt", "file_bytes": "kFile"}
    names |= {"validation_bytes": "kValidation", "request_bytes": "kRequest"}
    return {quantity: curve(name) for quantity, name in names.items()}


def path_rtts(curves: dict[str, Curve]) -> list[float]:
    """Sorted: both parts at the middles of equal shares, and the links."""
    middles = [(k + 0.5) / DRAWS for k in range(DRAWS)]
    server = [curves["server_rtt_ms"](p) for p in middles]
    return sorted(curves["client_rtt_ms"](p) + s + LINKS_MS for p in middles for s in server)


def rows(text: str, header: str) -> Iterator[tuple[str, float, float, float, float, float]]:
    """Of each quantity: ours over ns-2's in per cent, least and most with their shares; and the part of all
    shares where it is within 5 %."""
    theirs, own = published(text), ours(header)
    shares = [k / PARTS for k in range(1, PARTS)]
    changes = {q: [(100 * (own[q](p) / curve(p) - 1), p) for p in shares] for q, curve in theirs.items()}
    both = [path_rtts(curves) for curves in (own, theirs)]
    changes["path_rtt_ms"] = [
        (100 * (a / b - 1), p) for p in shares for a, b in [(of[int(p * len(of))] for of in both)]
    ]
    for quantity, of in changes.items():
        (least, at_least), (most, at_most) = min(of), max(of)
        yield quantity, least, at_least, most, at_most, sum(abs(c) <= 5 for c, _ in of) / len(of)


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tcplearn.papers.tambuwal2018.packmime packmime_ranvar.cc")
    text, header = Path(sys.argv[1]).read_text(errors="replace"), QUANTILES.read_text()
    with (FOLDER / BETWEEN).open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("quantity", "least_percent", "at", "most_percent", "at", "within_5_percent"))
        for quantity, least, at_least, most, at_most, within in rows(text, header):
            changes = (f"{least:.1f}", f"{at_least:g}", f"{most:.1f}", f"{at_most:g}")
            out.writerow((quantity, *changes, f"{within:.2f}"))
    for name, curves in (("ns-2", published(text)), ("ours", ours(header))):
        of = path_rtts(curves)
        below = bisect.bisect(of, 50) / len(of)
        print(f"{name}: RTT below 50 ms {below:.3f}, mean {sum(of) / len(of):.1f} ms")


if __name__ == "__main__":
    main()
