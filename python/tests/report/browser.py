# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Opens a page in headless Chromium (Debian's) and finds errors in how it is displayed."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api")

#: A phone, a laptop, a wide screen.
WIDTHS = (390, 1400, 2500)
HEIGHT = 900
#: Pixels between the margins of A4.
PRINTED_WIDTH = 718
#: Eight flows of many thousand points, on a machine that is busy.
DRAWN_WITHIN_MS = 120_000

#: What is wrong with a page that is laid out, a line each. A box that scrolls by itself cuts nothing.
_FAULTS = """() => {
  const found = [];
  const name = (e) => {
    const words = (e.textContent || "").trim().slice(0, 60);
    const kind = e.getAttribute("class") ? "." + e.getAttribute("class") : "";
    return `${e.tagName.toLowerCase()}${kind} "${words}"`;
  };
  const page = document.scrollingElement;
  if (page.scrollWidth > window.innerWidth) {
    const wide = [...document.body.querySelectorAll("*")]
      .filter((e) => !e.closest(".scroll, .picture, svg, details:not([open])"))
      .filter((e) => e.getBoundingClientRect().right > window.innerWidth + 1);
    found.push(`the page scrolls sideways: ${page.scrollWidth} > ${window.innerWidth}: `
      + wide.slice(0, 3).map(name).join(", "));
  }
  for (const e of document.body.querySelectorAll("*:not(script):not(style)")) {
    if (e.closest("svg") || !(e.textContent || "").trim() || !e.clientWidth) continue;
    const style = getComputedStyle(e);
    const clips = (overflow) => overflow === "hidden" || overflow === "clip";
    const wide = e.scrollWidth > e.clientWidth + 1, high = e.scrollHeight > e.clientHeight + 1;
    if ((clips(style.overflowX) && wide) || (clips(style.overflowY) && high)) {
      found.push(`text is cut: ${name(e)}`);
    }
  }
  for (const svg of document.body.querySelectorAll("svg")) {
    const box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const words = (text.textContent || "").trim(), at = text.getBoundingClientRect();
      if (!words || !at.width || getComputedStyle(text).opacity === "0") continue;
      const beyond = Math.max(
        box.left - at.left, at.right - box.right, box.top - at.top, at.bottom - box.bottom);
      if (beyond > 1) found.push(`text outside its picture by ${beyond.toFixed(1)} px: ${name(text)}`);
      if (words.endsWith("…")) found.push(`text is cut: ${name(text)}`);
    }
    const shown = [...svg.querySelectorAll("text")].filter((e) =>
      (e.textContent || "").trim() && e.getBoundingClientRect().width && getComputedStyle(e).opacity !== "0");
    const boxes = shown.map((e) => e.getBoundingClientRect());
    boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, j) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // boxes of neighbouring lines touch, letters do not; a halo has the same words
      const same = shown[i].textContent === shown[j].textContent;
      if (!same && wide > 1 && high > Math.min(a.height, b.height) / 2) {
        found.push(`text over text: ${name(shown[i])}, ${name(shown[j])}`);
      }
    }));
  }
  return found;
}"""


@contextlib.contextmanager
def launched() -> Iterator[playwright.Browser]:
    found = shutil.which("chromium")
    if not found:
        pytest.fail("no chromium: make dev installs it")
    with playwright.sync_playwright() as driver:
        # a process that draws for a graphics card which is not there would take time
        browser = driver.chromium.launch(executable_path=found, args=["--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


#: What does not fit on the sheet of a page that is printed on one.
_BEYOND = """() => [...document.querySelectorAll(".sheet *, .sheet svg text")]
  .filter((e) => e.getBoundingClientRect().height && e.getBoundingClientRect().bottom >
    document.body.getBoundingClientRect().bottom + 1)
  .map((e) => e.textContent.trim().slice(0, 60))"""


def sheets(browser: playwright.Browser, file: Path) -> tuple[int, list[str]]:
    """Return the number of A4 sheets on which a page that draws itself is printed, and the elements that are
    cut off."""
    page = browser.new_page(viewport={"width": WIDTHS[1], "height": HEIGHT})
    try:
        page.goto(file.resolve().as_uri())
        page.wait_for_function("document.documentElement.dataset.drawn === 'all'", timeout=DRAWN_WITHIN_MS)
        count = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
        page.emulate_media(media="print")
        page.set_viewport_size({"width": PRINTED_WIDTH, "height": HEIGHT})
        return count, page.evaluate(_BEYOND)
    finally:
        page.close()


def faults(browser: playwright.Browser, file: Path, width: int, picture: Path | None = None) -> list[str]:
    """Return the errors of a page that draws itself, at `width`. `picture` is the file for a picture of the
    whole page."""
    page = browser.new_page(viewport={"width": width, "height": HEIGHT})
    found: list[str] = []
    page.on("console", lambda said: found.append(f"console: {said.text}") if said.type == "error" else None)
    page.on("pageerror", lambda error: found.append(f"error of the page: {error}"))
    try:
        page.goto(file.resolve().as_uri())
        page.wait_for_function("document.documentElement.dataset.drawn === 'all'", timeout=DRAWN_WITHIN_MS)
        found += page.evaluate(_FAULTS)
        if picture:
            page.screenshot(path=picture, full_page=True)
        page.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        found += page.evaluate(_FAULTS)
    finally:
        page.close()
    return found
