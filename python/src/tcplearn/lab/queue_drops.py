# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Counts the packets dropped by the queue of the first hop during each transfer."""

import re
from collections.abc import Iterator
from pathlib import Path


def counters(folder: str, when: str) -> Iterator[str]:
    """Yield the shell commands that store the queue's counters in `folder`. `when`, "before" or "after" the
    transfer, is a part of the file's name."""
    yield f"mkdir -p /out/{folder}"
    yield f"in_ns c1 tc -s qdisc show dev r1 >/out/{folder}/{when}.queue"


def figures(folder: Path) -> Iterator[tuple[str, float]]:
    yield "queue_dropped_packets", float(_dropped(folder / "after.queue") - _dropped(folder / "before.queue"))


def _dropped(path: Path) -> int:
    """Return the drops of the root qdisc, the first in the file `path`. A child qdisc counts the same packets
    again."""
    found = re.search(r"dropped (\d+)", path.read_text())
    return int(found[1]) if found else 0
