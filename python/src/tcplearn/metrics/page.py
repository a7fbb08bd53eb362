# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes the table of metrics into docs/metrics.md: `python -m tcplearn.metrics.page --write`."""

import sys
from pathlib import Path

from tcplearn.metrics.metric import NO_UNIT
from tcplearn.metrics.registry import FAMILIES, METRICS

BEGIN, END = "<!-- begin: python -m tcplearn.metrics.page -->\n", "<!-- end -->\n"
_PAGE = Path(__file__).parents[4] / "docs" / "metrics.md"


def markdown() -> str:
    lines = ["| metric | unit | hosts | meaning |", "|---|---|---|---|"]
    known = [(m.key, m.unit, m.hosts, m.meaning) for m in METRICS]
    known += [(f"{family.prefix}…", NO_UNIT, family.hosts, family.meaning) for family in FAMILIES]
    for key, unit, hosts, meaning in known:
        cells = (f"`{key}`", "" if unit == NO_UNIT else unit, ", ".join(hosts), meaning.replace("|", "\\|"))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def written(page: str) -> str:
    """Return `page`, the text of docs/metrics.md, with a new table of metrics between its marks BEGIN and
    END."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}{markdown()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        _PAGE.write_text(written(_PAGE.read_text()))
    else:
        print(markdown(), end="")
