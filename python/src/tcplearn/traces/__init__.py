# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read traces of round-trip times in any known format (captures, CSV, flent, kernel logs, ...) as columns."""

import contextlib
import os
import sys
from pathlib import Path

from tcplearn._native import CaptureReader

from .base import (
    NO_TRACE,
    NOT_A_CAPTURE,
    ByteStream,
    FlowInfo,
    Interface,
    Reason,
    Trace,
    TraceError,
    TraceFile,
    TraceOptions,
    read_in_part,
    shown,
)
from .capture import CaptureTrace, native_options
from .schema import COLUMNS, Columns

__all__ = [
    "COLUMNS",
    "PCAP_MAGIC",
    "CaptureTrace",
    "Columns",
    "FlowInfo",
    "Interface",
    "Reason",
    "Trace",
    "TraceError",
    "TraceOptions",
    "open_trace",
    "read_in_part",
]

PCAP_MAGIC = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",  # nanoseconds
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\xcd\x34",  # Kuznetzov's format
    b"\x34\xcd\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",  # pcapng
)
_HEAD_BYTES = 4096  # first bytes of a file by which its format is identified
_PACKED = {b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2", b"PK\x03\x04": "zip"}


def open_trace(
    path: str | os.PathLike[str] | Interface, *, options: TraceOptions | None = None, name: str = ""
) -> Trace:
    """Return the trace in `path`: a file, a pipe ("-": standard input) or an interface. The content
    determines the format. `name`, if given, replaces the path of a file in messages. Raise TraceError."""
    options = options or TraceOptions()
    if options.unit not in ("", "s", "ms", "us", "ns"):
        raise TraceError(f"unit {shown(options.unit)}: give s, ms, us or ns")
    if isinstance(path, Interface):
        return CaptureTrace(CaptureReader.of_interface(path.name, **native_options(options)))
    path = Path(path)
    if path.is_dir():
        raise TraceError(f"{TraceFile.of(path)}: is a directory")
    if str(path) == "-" or (path.exists() and not path.is_file()):
        return _of_pipe(path, options)
    return _open(TraceFile(path, name) if name else TraceFile.of(path), options)


def _of_pipe(path: Path, options: TraceOptions) -> Trace:
    """Return the trace in the pipe `path` ("-": standard input). A capture is read as it arrives; any other
    format is first copied to a temporary file."""
    import tempfile

    from . import piped

    stdin = str(path) == "-"
    descriptor = os.dup(sys.stdin.fileno()) if stdin else os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    name = "stdin" if stdin else TraceFile.of(path).title
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(os.fdopen(descriptor, "rb", buffering=0))
        head = b""
        while len(head) < len(PCAP_MAGIC[0]) and (part := source.read(_HEAD_BYTES)):
            head += part
        if head.startswith(PCAP_MAGIC):
            reader = CaptureReader.of_pipe(os.dup(descriptor), head, name, **native_options(options))
            return CaptureTrace(reader)
        if head.startswith(b"\0"):  # such as /dev/zero, which has no end
            raise TraceError(f"{name}: {NO_TRACE}")
        # the temporary file never has a name, so it disappears however the process ends
        copy = stack.enter_context(tempfile.TemporaryFile(prefix="tcplearn-"))
        piped.copy(source, copy, name, head)
        return _open(TraceFile(Path(f"/proc/self/fd/{copy.fileno()}"), name), options)


def _open(file: TraceFile, options: TraceOptions) -> Trace:
    stream = ByteStream(file)
    head = stream.gather(_HEAD_BYTES)
    if not head:
        raise stream.nothing(file)
    for magic, program in _PACKED.items():
        if head.startswith(magic):
            raise TraceError(f"{file}: packed with {program}; unpack it first (gzip and zstd are read as is)")
    if head.startswith(PCAP_MAGIC):
        if stream.zstd:
            raise TraceError(f"{file}: a capture packed with zstd; unpack it first: zstd -d FILE")
        return CaptureTrace(CaptureReader(os.fsencode(file.path), file.name, **native_options(options)))
    from . import formats  # a capture does not need this module

    if any(magic.startswith(head) for magic in PCAP_MAGIC):
        raise TraceError(f"{file}: {NO_TRACE}")
    if options.explain:
        raise TraceError(f"{file}: {NOT_A_CAPTURE}")
    return formats.open_other(file, head[:_HEAD_BYTES], options)
