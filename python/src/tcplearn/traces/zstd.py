# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Decompresses zstd (RFC 8878) within limits, independent of the sizes that a file claims."""

import zstandard

#: The largest window, as the zstd program accepts it by default (--long=27).
MOST_WINDOW_BYTES = 1 << 27
#: Compressed bytes at a time. A block of 128 KB takes at least 4 bytes, so these give 4 MB at most.
_PIECE_BYTES = 128


class Unzstd:
    """Decompresses frame after frame."""

    def __init__(self) -> None:
        self._decoder = zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW_BYTES)
        self._frame = self._decoder.decompressobj()
        #: Whether a frame has begun and not ended.
        self.inside = False
        #: The damage of the data, or "".
        self.damage = ""

    def unpack(self, raw: bytes, enough_bytes: int) -> tuple[bytes, int]:
        """Return decompressed bytes, at most `enough_bytes` and a piece, and how many bytes of `raw` were
        used."""
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
