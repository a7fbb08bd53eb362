# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define how estimators look in pictures. The hue shows the family of an estimator. The dash pattern (of
lines) and the shape (of points) show the estimator within its family. The hues (Okabe and Ito's, then Tol's
muted set) can also be told apart by colour-blind people."""

from collections.abc import Iterable
from dataclasses import dataclass

FAMILIES = {
    "last": "#6b6b6b",
    "jacobson": "#0072b2",
    "linux": "#009e73",
    "rfc9002": "#56b4e9",
    "eifel": "#cc79a7",
    "experts": "#d55e00",
    "linreg": "#e69f00",
    "tracking": "#332288",
    "conformal": "#882255",
}
OTHERS = ("#999933", "#44aa99", "#661100", "#117733")
DASHES: tuple[list[int], ...] = ([1, 0], [7, 3], [2, 2], [10, 3, 2, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond")

SAMPLE = "#adb4bd"  # measured RTTs, drawn behind all lines


@dataclass(frozen=True)
class Look:
    colour: str
    dash: list[int]
    shape: str


def family(estimator: str) -> str:
    """Return the family of `estimator`, such as `experts` for `experts/fitted:n=50`."""
    return estimator.partition(":")[0].partition("/")[0]


def looks(estimators: Iterable[str]) -> dict[str, Look]:
    out: dict[str, Look] = {}
    hues = dict(FAMILIES)
    members: dict[str, int] = {}
    for estimator in dict.fromkeys(estimators):
        name = family(estimator)
        hue = hues.setdefault(name, OTHERS[(len(hues) - len(FAMILIES)) % len(OTHERS)])
        nth = members.get(name, 0)
        members[name] = nth + 1
        out[estimator] = Look(hue, DASHES[nth % len(DASHES)], SHAPES[nth % len(SHAPES)])
    return out
