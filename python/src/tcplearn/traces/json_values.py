# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Parse JSON from untrusted files within a limit on memory, and convert its values, in all forms that loggers
write. Invalid values become None, 0 or empty."""

import math
import re
from typing import Any

from tcplearn.documents import json_value

from .base import number

MOST_BYTES = 1 << 31  # most memory that the values of one text may take
_OBJECT, _ARRAY, _VALUE = 250, 80, 60  # approximate bytes of an object, an array, a value in either
MOST_NUMBER = (1 << 62) - 1  # RFC 9000, 12.3


class TooLargeError(ValueError):
    """The values of the JSON text would take too much memory."""


def loads(text: bytes) -> Any:
    """Return the JSON value of `text`. Raise ValueError."""
    size = _OBJECT * text.count(b"{") + _ARRAY * text.count(b"[") + _VALUE * text.count(b",") + len(text)
    if size > MOST_BYTES:
        raise TooLargeError("it holds more values than fit into 2 GB of memory")
    return json_value(text)


def whole_events(text: bytes) -> int:
    """Return the offset of the end of the last complete event in `text` (one JSON document), or 0."""
    stack, good = bytearray(), 0
    for found in re.finditer(rb'"[^"\\]*(?:\\.[^"\\]*)*\\?(?:"|\Z)|[\[\]{}]', text, re.DOTALL):
        token = found.group()
        if token in (b"[", b"{"):
            stack += token
        elif token in (b"]", b"}"):
            if not stack:
                break
            stack.pop()
            if stack == b"{[{[":  # inside an array of events
                good = found.end()
    return good


def as_object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def finite(value: object) -> float | None:
    """Return `value` as a finite float, or None. A number in a string, as mvfst writes it, is accepted."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = number(value) if isinstance(value, str) else float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def whole(value: object, most: int) -> int | None:
    """Return `value` as an int from 0 to `most`, or None. A number in a string (draft-01) is accepted."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= most else None


def acked_ranges(given: object) -> list[tuple[int, int]]:
    """Return `given`, the entry `acked_ranges` of an ACK frame, as pairs (low, high), or [] if any range is
    invalid."""
    ranges = []
    for pair in given if isinstance(given, list) else ():
        if not isinstance(pair, list) or len(pair) not in (1, 2):
            return []
        low, high = whole(pair[0], MOST_NUMBER), whole(pair[-1], MOST_NUMBER)
        if low is None or high is None or low > high:
            return []
        ranges.append((low, high))
    return ranges


def packet_bytes(data: dict[str, Any], header: dict[str, Any]) -> int:
    raw = as_object(data.get("raw"))
    given = (raw.get("length"), header.get("packet_size"), data.get("packet_size"))
    sizes = (*given, raw.get("payload_length"), header.get("payload_length"))
    return next((n for size in sizes if (n := whole(size, 65_535)) is not None), 0)
