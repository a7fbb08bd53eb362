# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""tambuwal2018's startups on a real kernel, as a Markdown page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from tcplearn.lab.pages import Page
from tcplearn.lab.scenario import STOCK
from tcplearn.output.markdown import table_of
from tcplearn.papers.tambuwal2018.lab_cells import (
    Interval,
    Part,
    after_handshake_ms,
    mean,
    quantile,
    ratio,
    whole_ms,
)

NO_SSTHRESH = 2**30 - 1
ABOUT = (
    "Pages from nginx to curl over a real kernel in virtual time, a connection a page, one after the "
    "other; the first SYN-ACK is dropped on purpose. `stock` is the kernel's own startup, measured by the "
    "module; the others are the core's policies in the module. A page's whole time is curl's, from the "
    "first SYN to the last byte, the timer of a second included; after the handshake: from its end at the "
    "client. In brackets 95 % intervals, the pages drawn again 2,000 times, and for a ratio of means, "
    "below 1 where it is sooner than stock, in pairs: the same pages of a run lose under every startup. All: "
    "the pages of every size together, as many of each."
)
BEGAN = (
    "What the server's connections began with whose SYN-ACK was dropped, by the module's log, and how "
    "often they had sent one again when the handshake was done:"
)
HEAD = (
    "page",
    "startup",
    "pages",
    "whole, ms",
    "to stock's",
    "p99, ms",
    "after the handshake, ms",
    "to stock's",
)


def page(parts: Sequence[Part], drawn: Sequence[tuple[str, str]], command: str, notes: str) -> str:
    kernels = ", ".join(sorted({kernel for part in parts for kernel in part.kernels}))
    commits = ", ".join(sorted({commit for part in parts for commit in part.commits}))
    lines = [
        "# Startup after a lost SYN-ACK, on a real kernel",
        f"Made by `{command}`; do not edit. Kernel {kernels}; runs made at {commits}.",
        ABOUT,
        notes.strip(),
    ]
    for part in parts:
        lines += [
            f"## {part.scenario.name}: {part.scenario.title}",
            BEGAN,
            _began(part),
            _times(part, lambda _: True),
        ]
        if any(not page.is_lost for cell in part.fetched.values() for page in cell):
            lines += ["Those whose SYN-ACK was dropped alone:", _times(part, lambda page: page.is_lost)]
    lines += ["## Figures", *(f"**{title}**\n\n![{title}](figures/{name})" for name, title in drawn)]
    return "\n\n".join(filter(None, lines)) + "\n"


def _shares(values: Sequence[int], shown: Callable[[int], str] = str) -> str:
    counts = Counter(map(shown, values))
    return ", ".join(f"{name} ({100 * n / len(values):.0f} %)" for name, n in counts.most_common())


def _threshold(segments: int) -> str:
    return "none" if segments >= NO_SSTHRESH else str(segments)


def _began(part: Part) -> str:
    rows = []
    for startup, fetched in part.fetched.items():
        began = [p.began for p in fetched if p.is_lost and p.began is not None]
        if not began:
            continue
        windows = _shares([b.iw for b in began])
        limits = _shares([b.ssthresh for b in began], _threshold)
        resent = _shares([b.retransmitted for b in began])
        rows.append([f"`{startup}`", str(len(began)), windows, limits, resent])
    return table_of(("startup", "connections", "IW", "ssthresh", "SYN-ACKs sent again"), rows)


def _times(part: Part, wanted: Callable[[Page], bool]) -> str:
    return table_of(HEAD, _rows(part, wanted))


def _rows(part: Part, wanted: Callable[[Page], bool]) -> Iterator[list[str]]:
    together = [("all", part.sizes)] if len(part.sizes) > 1 else []
    for label, sizes in [(f"{size / 1000:g} kB", [size]) for size in part.sizes] + together:
        cells = {
            name: [p for size in sizes for p in part.cell(name, size) if wanted(p)] for name in part.fetched
        }
        base = cells.get(STOCK, [])
        for startup, cell in cells.items():
            if not cell:
                continue
            compared = startup != STOCK and base
            yield [
                label,
                f"`{startup}`",
                str(len(cell)),
                _shown(mean(cell, whole_ms), 0),
                _shown(ratio(cell, base, whole_ms), 3) if compared else "",
                f"{quantile(cell, whole_ms, 0.99):.0f}",
                _shown(mean(cell, after_handshake_ms), 0),
                _shown(ratio(cell, base, after_handshake_ms), 2) if compared else "",
            ]


def _shown(of: Interval, digits: int) -> str:
    value, low, high = of
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
