# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Decompress zstd (RFC 8878) within limits that do not depend on the sizes that a file claims."""

import zstandard

MOST_WINDOW_BYTES = 1 << 27  # largest window, the default limit of the zstd program (--long=27)
_PIECE_BYTES = 128  # compressed bytes in one step: up to 4 MB of content, as 4 bytes may give 128 KB


class Unzstd:
    """Decompresses a sequence of zstd frames."""

    def __init__(self) -> None:
        self._decoder = zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW_BYTES)
        self._frame = self._decoder.decompressobj()
        self.inside = False
        self.damage = ""

    def unpack(self, raw: bytes, enough_bytes: int) -> tuple[bytes, int]:
        """Decompress `raw` until there are at least `enough_bytes` bytes, or up to its end or damage. The
        excess is at most the content of `_PIECE_BYTES` compressed bytes. Return the bytes and how many bytes
        of `raw` were used."""
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
