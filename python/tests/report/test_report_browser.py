# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test reports in a browser, at the width of a phone, a laptop and a wide screen."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import browser
import pytest

import short_flows
from samples import ROOT
from tcplearn.cli import main

sys.path.extend(str(Path(__file__).parents[1] / of) for of in ("explain", "suite", "traces"))
import suite_traces
import thin
from scenes import SCENES
from talk import Talk, pcap_of

CAPTURE = ROOT / "examples" / "captures" / "access-link.pcap.gz"
REQUESTS = CAPTURE.with_name("requests.pcap.gz")


@pytest.fixture(scope="module")
def chromium() -> Iterator[browser.playwright.Browser]:
    with browser.launched() as found:
        yield found


def ping(folder: Path) -> Path:
    """Write the output of `ping` with one unanswered request to a file, and return its path."""
    lines = ["PING example.net (192.0.2.1) 56(84) bytes of data."]
    rtts = suite_traces.series(3, 700) / 1000
    lines += [
        f"64 bytes from 192.0.2.1: icmp_seq={i} ttl=55 time={rtt:.1f} ms"
        for i, rtt in enumerate(rtts, 1)
        if i != 9
    ]
    path = folder / "ping.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


def suite(folder: Path) -> list[str]:
    (folder / "traces").mkdir()
    return ["suite", str(suite_traces.fill(folder / "traces")), "--restart", "50"]


def study(folder: Path) -> list[str]:
    path = folder / "home.csv"
    path.write_text(suite_traces.csv(6, 500))
    return ["study", "experts", str(path), "--n", "20,100", "--eta", "0.5,2", "--alpha", "0.01,0.08,0.5"]


def several(folder: Path) -> list[str]:
    """Write a capture of requests to forty servers, whose stalls have all causes, and to one over a lossy
    path; return a command that makes its report."""
    talks = [Talk(port=41_000 + n, server=f"192.168.100.{100 + n}") for n in range(41)]
    for talk, scene in zip(talks[1:], itertools.cycle(SCENES.values()), strict=False):
        scene(talk)
    thin.traffic(talks[0], 1, 4000, 0.05)
    (folder / "several.pcap").write_bytes(pcap_of(*talks))
    return ["explain", str(folder / "several.pcap")]


PAGES: dict[str, Callable[[Path], list[str]]] = {
    "capture": lambda _: ["replay", str(CAPTURE)],
    "capture, all": lambda _: ["replay", str(CAPTURE), "--all"],
    "short flows": lambda folder: ["replay", str(short_flows.write(folder / "short.pcap", 40))],
    "ping": lambda folder: ["replay", str(ping(folder))],
    "explain": lambda _: ["explain", str(REQUESTS)],
    "explain, several servers": several,
    "suite": suite,
    "study": study,
}


@pytest.mark.usefixtures("cache_with_script")
@pytest.mark.parametrize(
    ("kind", "widths"),
    [
        *((kind, browser.WIDTHS[:2]) for kind in ("capture", "explain, several servers", "suite", "study")),
        *(pytest.param(kind, browser.WIDTHS, marks=pytest.mark.full) for kind in PAGES),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)}-widths",
)
def test_a_report_at_each_width(
    kind: str,
    widths: tuple[int, ...],
    chromium: browser.playwright.Browser,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    report = tmp_path / "report.html"
    assert main([*PAGES[kind](tmp_path), "-q", "-o", "/dev/null", "--report", str(report)]) == 0
    shots = request.config.getoption("--screenshots")
    for width in widths:
        picture = Path(shots) / f"{kind.replace(', ', '-').replace(' ', '-')}-{width}.png" if shots else None
        found = browser.faults(chromium, report, width, picture)
        # a suite's picture of timers has names of points near one another
        assert [line for line in found if kind != "suite" or not line.startswith("text over text")] == []


FAULTS = {
    "text over text: text": "<svg width='90' height='20'><text y='15'>a</text><text y='15'>b</text></svg>",
    "console: mended?": "<script>console.error('mended?')</script>",
    "error of the page: gone": "<script>setTimeout(() => { throw new Error('gone'); })</script>",
    "the page scrolls sideways": "<p style='width: 3000px'>wide</p>",
    "text is cut: p": "<p style='width: 30px; overflow: hidden; white-space: nowrap'>longer than that</p>",
    "text is cut: b": "<b style='display: block; height: 9px; overflow: hidden'>two<br>lines</b>",
    "text outside its picture": "<svg width='90' height='20'><text x='60' y='15'>beyond</text></svg>",
    "text is cut: text": "<svg width='90' height='20'><text x='5' y='15'>cut…</text></svg>",
}


@pytest.mark.parametrize("wrong", FAULTS)
def test_what_is_wrong_is_found(wrong: str, chromium: browser.playwright.Browser, tmp_path: Path) -> None:
    page = "<!doctype html><html data-drawn='all'><meta charset='utf-8'><body>{}</body></html>"
    path = tmp_path / "page.html"
    path.write_text(page.format("<p>well</p>"))
    assert browser.faults(chromium, path, 1400) == []
    path.write_text(page.format(FAULTS[wrong]))
    found = browser.faults(chromium, path, 1400)
    assert found and all(line.startswith(wrong) for line in found), found


@pytest.mark.usefixtures("cache_with_script")
@pytest.mark.parametrize(
    "kind", [pytest.param("explain", marks=pytest.mark.full), "explain, several servers"]
)
def test_the_answer_is_printed_on_one_sheet(
    kind: str, chromium: browser.playwright.Browser, tmp_path: Path
) -> None:
    report = tmp_path / "report.html"
    assert main([*PAGES[kind](tmp_path), "-q", "-o", "/dev/null", "--report", str(report)]) == 0
    assert browser.sheets(chromium, report) == (1, [])


def test_a_report_of_a_small_capture_is_quick(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = short_flows.write(tmp_path / "short.pcap", 40)
    words = ["replay", str(path), "-q", "-o", "/dev/null", "--report", str(tmp_path / "report.html")]
    assert main(words) == 0  # what draws is made once
    took = []
    for _ in range(3):
        start = time.process_time()
        assert main(words) == 0
        took.append(time.process_time() - start)
    assert min(took) < 3
