# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a replay gave, for people: one HTML file that works offline, and its pictures as files."""

from __future__ import annotations

import os
from pathlib import Path

from tcplearn.output.files import make_directory, write_atomically
from tcplearn.replay.results import Replay

__all__ = ["write_html", "write_pictures"]

#: Pixels of a PNG for each unit of the picture: sharp on paper and on dense screens.
PNG_SCALE = 2


def write_html(replay: Replay, path: str | os.PathLike[str]) -> None:
    """One self-contained page. Raises UserError where the file cannot be written."""
    from tcplearn.report.page import page

    write_atomically(Path(path), page(replay))


def write_pictures(replay: Replay, directory: str | os.PathLike[str]) -> list[Path]:
    """Each picture as PNG and SVG. Raises UserError where they cannot be written."""
    import vl_convert

    from tcplearn.report.page import VEGALITE
    from tcplearn.report.pictures import still_pictures

    folder = Path(directory)
    make_directory(folder)
    written = []
    for stem, spec in still_pictures(replay):
        png = vl_convert.vegalite_to_png(spec, vl_version=VEGALITE, scale=PNG_SCALE, allowed_base_urls=[])
        svg = vl_convert.vegalite_to_svg(spec, vl_version=VEGALITE, allowed_base_urls=[])
        for suffix, content in ((".png", png), (".svg", svg)):
            file = folder / f"{stem}{suffix}"
            write_atomically(file, content)
            written.append(file)
    return written
