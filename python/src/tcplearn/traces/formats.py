# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Choose the reader of a trace that is not a capture, by the first bytes of the trace."""

import re

from .base import NO_TRACE, Trace, TraceError, TraceFile, TraceOptions
from .csv import CsvTrace
from .flent import FlentTrace
from .lines import encoding_of
from .mlab import MlabTrace, looks_like_mlab
from .ping import PingTrace, looks_like_ping
from .plain import NumbersTrace, looks_like_numbers
from .qlog import QlogTrace, looks_like_qlog
from .ss import SsTrace, looks_like_ss
from .tlog import TlogTrace
from .tlog_records import MAGIC as _TLOG_MAGIC

#: A line of ping after a time, such as "[1700000000.5] 64 bytes from ...", which begins like JSON.
_STAMPED = re.compile(rb"\s*\[[^\]\n]{8,40}\] +[^\s,\]]")


def open_other(file: TraceFile, head: bytes, options: TraceOptions) -> Trace:
    """Return the trace in `file`, which is not a capture. The file's first decompressed bytes, `head`,
    determine the format. Raise TraceError."""
    if head.startswith(_TLOG_MAGIC):
        return TlogTrace(file)
    text = head.removeprefix(b"\xef\xbb\xbf")
    if looks_like_qlog(text):
        return QlogTrace(file, options)
    words = head.decode(encoding_of(head), "replace")
    if text.lstrip().startswith((b"{", b"[")) and not _STAMPED.match(text):
        return MlabTrace(file) if looks_like_mlab(text) else FlentTrace(file)
    if looks_like_ping(words):
        return PingTrace(file, options)
    if looks_like_ss(words):
        return SsTrace(file)
    if looks_like_numbers(words):
        return NumbersTrace(file, options)
    if b"\0" in text:
        raise TraceError(f"{file}: {NO_TRACE}")
    return CsvTrace(file, options)
