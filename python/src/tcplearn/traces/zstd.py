# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Unpacks zstd (RFC 8878) within bounds, whatever a file claims."""

from __future__ import annotations

import zstandard

#: Of a window: what the zstd program itself unpacks without being told to (--long=27).
MOST_WINDOW_BYTES = 1 << 27
#: Packed bytes at a time. A block of 128 KB takes 4 bytes at least, so these give 4 MB at most.
_PIECE_BYTES = 128


class Unzstd:
    """Frame after frame."""

    def __init__(self) -> None:
        self._decoder = zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW_BYTES)
        self._frame = self._decoder.decompressobj()
        #: Whether a frame has begun that has not ended.
        self.inside = False
        #: What is wrong with the data, or "".
        self.damage = ""

    def unpack(self, raw: bytes, enough_bytes: int) -> tuple[bytes, int]:
        """Return the next bytes, `enough_bytes` and a piece at most, and how many of `raw` they took."""
        data, used = bytearray(), 0
        while used < len(raw) and len(data) < enough_bytes and not self.damage:
            piece = raw[used : used + _PIECE_BYTES]
            try:
                data += self._frame.decompress(piece)
            except zstandard.ZstdError as error:
                self.damage = self._named(str(error))
                break
            used += len(piece)
            self.inside = not self._frame.eof
            if self._frame.eof:
                used -= len(self._frame.unused_data)
                self._frame = self._decoder.decompressobj()
        return bytes(data), used

    def _named(self, error: str) -> str:
        if "too much memory" in error:
            return f"it was packed with a window of more than {MOST_WINDOW_BYTES >> 20} MB; unpack it first"
        if not self.inside and "Unknown frame" in error:
            return "there are other bytes after the end of the zstd data"
        return "the zstd data is damaged"
