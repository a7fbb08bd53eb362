# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Place names beside the points of a scatter plot without overlaps, which Vega-Lite cannot do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NARROW, USUAL, WIDE = 3.4, 6.3, 9.4  # widths of characters of a sans serif font at 11 px, in pixels
LINE_HEIGHT = 13.0
GAP = 9.0
ROUNDS = 6

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return wide * high if wide > 0 and high > 0 else 0.0


@dataclass(frozen=True)
class Label:
    """A possible position of a name, in pixels from the plot's top left corner. If `far`, a line is drawn
    from the point to (`end`, `y`)."""

    x: float  # left end of the text
    y: float  # vertical middle of the text
    end: float  # the end of the text that faces the point
    far: bool
    cost: float
    box: Box


def place(points: Sequence[Point], texts: Sequence[str], width: float, height: float) -> list[Label]:
    """Return a position for each of `texts` near its point in `points`. Each text in turn takes the position
    with the least overlap, until no text moves or `ROUNDS` rounds are over."""
    dots = [Box(x - 8, y - 7, x + 8, y + 7) for x, y in points]
    choices = []
    for point, text in zip(points, texts, strict=True):
        inside = [c for c in _candidates(point, text) if _inside(c.box, width, height)]
        inside = inside or _candidates(point, text)
        choices.append([(c, c.cost + max(c.box.overlap(d) for d in dots)) for c in inside])
    chosen = [c[0][0] for c in choices]
    for _ in range(ROUNDS):
        before = list(chosen)
        for i, mine in enumerate(choices):
            others = [(points[j], chosen[j]) for j in range(len(points)) if j != i]
            chosen[i] = min(mine, key=lambda c: c[1] + _clash(points[i], c[0], others))[0]
        if chosen == before:
            break
    return chosen


def _width(text: str) -> float:
    return sum(NARROW if c in "fijlrt/-.:,1 " else WIDE if c in "mwMW" else USUAL for c in text)


def _candidates(point: Point, text: str) -> list[Label]:
    """Return positions for `text`: beside, above and below `point`, and farther away with a line to it."""
    x, y = point
    wide = _width(text)
    out = []
    for step in (-1, 1):
        down = step * (LINE_HEIGHT + 1)
        box = Box(x - wide / 2, y + down - LINE_HEIGHT / 2, x + wide / 2, y + down + LINE_HEIGHT / 2)
        out.append(Label(box.left, y + down, x, False, 5, box))
    for reach in (GAP, 30.0, 70.0):
        for step in range(-7, 8) if reach > GAP else (0,):
            down = step * LINE_HEIGHT
            for right in (True, False):
                left = x + reach if right else x - reach - wide
                box = Box(left, y + down - LINE_HEIGHT / 2, left + wide, y + down + LINE_HEIGHT / 2)
                end = left - 2 if right else left + wide + 2
                cost = abs(step) * 4 + (reach - GAP) + (0 if right else 2)
                out.append(Label(left, y + down, end, reach > GAP, cost, box))
    return sorted(out, key=lambda label: label.cost)


def _inside(box: Box, width: float, height: float) -> bool:
    return box.left >= 0 and box.right <= width and box.top >= 0 and box.bottom <= height


def _clash(point: Point, label: Label, others: Sequence[tuple[Point, Label]]) -> float:
    total = 0.0
    for other_point, other in others:
        total += label.box.overlap(other.box) * 20
        if label.far and other.far and _cross(point, (label.end, label.y), other_point, (other.end, other.y)):
            total += 60
    return total


def _cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    def side(p: Point, q: Point, r: Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
