# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write the report of a replay as one HTML file that works offline, and its pictures as files."""

import os
from pathlib import Path

from tcplearn.replay.results import Replay

__all__ = ["write_html", "write_pictures"]


def write_html(replay: Replay, path: str | os.PathLike[str]) -> None:
    """Write the report of `replay` to `path` as one self-contained HTML page. Raise UserError."""
    from tcplearn.report.replay import page

    page(replay).write(Path(path), None)


def write_pictures(replay: Replay, directory: str | os.PathLike[str]) -> list[Path]:
    """Write each picture of `replay` as PNG and SVG to `directory`, and return the paths. Raise UserError."""
    from tcplearn.report.page import write_stills
    from tcplearn.report.pictures import still_pictures

    return write_stills(still_pictures(replay), Path(directory))
