# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Puts the pages of the site together: python site/stage.py FOLDER. It copies every tracked page, and the
files that pages link to. A linked folder without a README.md gets a list of its pages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)\s#]+)")
_README, _INDEX = Path("README.md"), Path("index.md")  # the site's first page stands for the repository's
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# the line of a paragraph before the first item of a list; the site needs an empty line between them
_BEFORE_LIST = re.compile(r"^(?![-*] |\d+\. |[ |>#\0]).+\n(?=(?:[-*]|1\.) )", re.MULTILINE)


def tracked() -> set[Path]:
    """Return the files of the repository, relative to its root."""
    named = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    return {Path(name) for name in named.stdout.split("\0") if name}


def title_of(page: Path) -> str:
    found = re.search(r"^# (.*)", (ROOT / page).read_text(), re.MULTILINE)
    return found[1] if found else page.name


def listing(folder: Path, files: set[Path]) -> str:
    """Return a page with links to the pages of a folder, or to its files if it has none."""
    inside = sorted(file for file in files if file.is_relative_to(folder) and file.name != "README.md")
    pages = [file for file in inside if file.suffix == ".md"]
    lines = [f"- [{title_of(page)}]({page.relative_to(folder)})" for page in pages]
    lines = lines or [f"- [{file.relative_to(folder)}]({file.relative_to(folder)})" for file in inside]
    return f"# {folder}\n\n" + "\n".join(lines) + "\n"


def without_code(text: str) -> str:
    """Return the page `text` with a zero character for each character of its code blocks."""
    return _CODE.sub(lambda found: "\0" * len(found[0]), text)


def lists_apart(text: str) -> str:
    """Return the page `text` with an empty line between a paragraph and a list that follows it."""
    out, at = [], 0
    for found in _BEFORE_LIST.finditer(without_code(text)):
        out.append(text[at : found.end()])
        at = found.end()
    return "\n".join([*out, text[at:]])


class Stage:
    def __init__(self, out: Path) -> None:
        self._out, self._files = out, tracked()
        self._folders = {parent for file in self._files for parent in file.parents}
        self._done: set[Path] = set()

    def add(self, file: Path) -> None:
        """Copy `file` and, if it is a page, all files that it links to."""
        if file in self._done:
            return
        self._done.add(file)
        (self._out / file).parent.mkdir(parents=True, exist_ok=True)
        if file.suffix != ".md":
            shutil.copyfile(ROOT / file, self._out / file)
            return
        self.write(file, (ROOT / file).read_text())

    def write(self, page: Path, text: str) -> None:
        """Write `text` as the page `page`. Links to a folder are changed to links to its README.md, and a
        list after a paragraph gets an empty line before it."""
        text = lists_apart(text)
        out, at = [], 0
        for found in _LINK.finditer(without_code(text)):
            target = Path(os.path.normpath(page.parent / found[1]))
            if target in self._folders:
                target = self._first_page(target)
            elif target == _README:
                target = _INDEX
            elif target in self._files:
                self.add(target)
            out += [text[at : found.start()], os.path.relpath(target, page.parent)]
            at = found.end()
        (self._out / page).parent.mkdir(parents=True, exist_ok=True)
        (self._out / page).write_text("".join(out) + text[at:])

    def _first_page(self, folder: Path) -> Path:
        page = folder / "README.md"
        if page in self._files:
            self.add(page)
        elif page not in self._done:
            self._done.add(page)
            text = listing(folder, self._files)
            if not re.search(r"\]\([^)]*\.md\)", text):
                for file in sorted(file for file in self._files if file.is_relative_to(folder)):
                    self.add(file)
            self.write(page, text)
        return page


def main(out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    stage = Stage(out)
    index = ROOT / "site" / _INDEX
    for file in sorted(tracked()):
        if file.suffix == ".md" and file != _README and ROOT / file != index:
            stage.add(file)
    text = _LINK.sub(lambda found: os.path.normpath(Path("site") / found[1]), index.read_text())
    stage.write(_INDEX, text)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
