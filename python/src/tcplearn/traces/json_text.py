# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""JSON from untrusted files: parsed within limits, or a ValueError."""

from typing import Any

from tcplearn.documents import json_value

#: The most memory that the values of one text may take.
MOST_BYTES = 1 << 31
#: Rough sizes in memory of an object, an array, and a value in one of these.
_OBJECT, _ARRAY, _VALUE = 250, 80, 60


class TooLargeError(ValueError):
    """The values of the text would take too much memory."""


def loads(text: bytes) -> Any:
    """Return the JSON value; raise ValueError."""
    size = _OBJECT * text.count(b"{") + _ARRAY * text.count(b"[") + _VALUE * text.count(b",") + len(text)
    if size > MOST_BYTES:
        raise TooLargeError("it holds more values than fit into 2 GB of memory")
    return json_value(text)
