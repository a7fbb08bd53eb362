# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Parse JSON from untrusted files within a limit on memory. A text that exceeds it raises a ValueError."""

from typing import Any

from tcplearn.documents import json_value

MOST_BYTES = 1 << 31  # most memory that the values of one text may take
_OBJECT, _ARRAY, _VALUE = 250, 80, 60  # approximate bytes of an object, an array, a value in either


class TooLargeError(ValueError):
    """The values of the JSON text would take too much memory."""


def loads(text: bytes) -> Any:
    """Return the JSON value of `text`. Raise ValueError."""
    size = _OBJECT * text.count(b"{") + _ARRAY * text.count(b"[") + _VALUE * text.count(b",") + len(text)
    if size > MOST_BYTES:
        raise TooLargeError("it holds more values than fit into 2 GB of memory")
    return json_value(text)
