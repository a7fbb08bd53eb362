# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""JSON that anybody may have written: parsed within bounds, or a ValueError."""

from __future__ import annotations

from typing import Any

from tcplearn.documents import json_value

#: What the values of one text may take in memory.
MOST_BYTES = 1 << 31
#: Rough sizes of what stands behind a token: an object, an array, a value among others.
_OBJECT, _ARRAY, _VALUE = 250, 80, 60


class TooLargeError(ValueError):
    """What is in the text would take too much memory."""


def loads(text: bytes) -> Any:
    """Return the JSON value; raise ValueError."""
    size = _OBJECT * text.count(b"{") + _ARRAY * text.count(b"[") + _VALUE * text.count(b",") + len(text)
    if size > MOST_BYTES:
        raise TooLargeError("it holds more values than fit into 2 GB of memory")
    return json_value(text)
