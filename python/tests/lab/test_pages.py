# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test handshakes whose packets are dropped on purpose, pages that curl fetches, and tambuwal2018's page on
them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from scenario_text import load, refused

from experiments.lib.runs import Run
from experiments.tambuwal2018 import PAGES, lab_page
from samples import ROOT
from tcplearn.__main__ import main
from tcplearn.lab import guest, pages, run, scenario
from tcplearn.lab.pages import Page

NEAR = ROOT / "experiments" / "tambuwal2018" / "lab" / "near.toml"
SENDS = """
name = "x"
[path.hop.a]
forward = { rate_mbps = 10, delay_ms = 5 }
[handshakes]
lose = "syn"
nth = 2
count = 3
[transfer]
bytes = "1kB"
[algorithms]
startups = ["stock", "tsl/3-16"]
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"syn"', '"ack"', r"handshakes\.lose: should be 'syn' or 'syn-ack'"),
        ("nth = 2", "nth = 0", r"handshakes\.nth: should be greater than or equal to 1"),
        ("count = 3", "percent = 5", r"handshakes\.percent below 100 is for pages"),
        ("count = 3", "percent = 0", r"handshakes\.percent: should be greater than 0"),
        ('bytes = "1kB"', "pages = { sizes = [1] }", r"pages: by nginx, not send"),
        ('bytes = "1kB"', 'by = "nginx"\npages = { sizes = [] }', r"pages\.sizes: "),
        ('bytes = "1kB"', 'by = "nginx"\npages = { sizes = [0] }', r"pages\.sizes\.0: should be greater"),
        ('bytes = "1kB"', 'by = "nginx"\npages = { sizes = [1, 2], count = 9000 }', r"need more ports"),
        ('"tsl/3-16"', '"tsl/3-15"', r"no startup policy 'tsl/3-15'; did you mean tsl/3-16"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in SENDS
    refused(tmp_path, SENDS.replace(old, new, 1), message)


def test_a_transfer_that_loses_handshake_packets(tmp_path: Path) -> None:
    text = guest.script(load(tmp_path, SENDS), 0)
    assert text.count("python3 /scenario/handshakes.py c1 syn 2 3\n") == 2  # counted anew for each algorithm
    assert text.index("startup stock") < text.index("transfer reno+stock+tlp-on ")
    assert text.index("startup tsl/3-16") < text.index("transfer reno+stock+tsl--3-16+tlp-on ")
    assert "nft_limit" in text


def test_other_scenarios_are_as_before() -> None:
    text = guest.script(scenario.load(ROOT / "linux" / "lab" / "scenarios" / "programs.toml"), 0)
    assert "startup" not in text and "nf_tables" not in text and "pages" not in text


def test_the_same_pages_lose_under_every_algorithm() -> None:
    some = scenario.load(NEAR, "some")
    of, fetched = some.handshakes, some.transfer.pages
    assert of and fetched
    drawn = [pages.lost_pages(of, fetched, run.seed_of(some, n)) for n in range(20)]
    assert all(len(lost) == 2 for lost in drawn) and len(set(map(tuple, drawn))) > 15
    text = guest.script(some, 1)
    assert text.count(">/tmp/lost") == 1
    every = scenario.load(NEAR)
    assert every.handshakes and every.transfer.pages
    assert pages.lost_pages(every.handshakes, every.transfer.pages, 1) == list(range(50))


def page(total_ms: int, iw: int = 10, size: int = 5000, *, lost: bool = True) -> Page:
    began = pages.Began(iw, 2**31 - 1, 1, 2)
    return Page(size, 10_000, lost, 1_040_000, 1_080_000, total_ms * 1000, began)


def test_figures_of_pages() -> None:
    found = dict(pages.figures([page(1100), page(1300, iw=1), page(1140, lost=False)]))
    assert found["pages"] == 3 and found["pages_lost"] == 2
    assert found["page_mean_ms"] == pytest.approx(1180) and found["page_median_ms"] == 1140
    assert found["page_after_handshake_mean_ms"] == pytest.approx(140)
    assert found["initial_window_mean_segments"] == 7 and found["handshake_packets_resent"] == 6


def test_a_gain_over_stock_and_its_interval() -> None:
    stock, ours = [page(1140 + k) for k in range(40)], [page(1090 + k % 20) for k in range(40)]
    value, low, high = lab_page.ratio(ours, stock, lab_page.after_handshake_ms)
    assert value == pytest.approx((50 + 9.5) / (100 + 19.5)) and low < value < high < 0.6
    assert lab_page.ratio(stock, stock, lab_page.whole_ms) == (1, 1, 1)  # in pairs


def test_the_page_says_what_was_begun_with(tmp_path: Path) -> None:
    made = {"stock": [page(1140), page(1300, iw=1)], "tsl/3-16": [page(1200, iw=3)] * 2}
    runs = []
    for startup, fetched in made.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lab_page.pages, "read", lambda folder, fetched=fetched: fetched)
            metrics, series = lab_page.keep(None, tmp_path, {})
        algorithm = "cubic+stock" if startup == "stock" else f"cubic+stock+{startup}"
        parameters = {"title": "10 Mbit/s, 40 ms"}
        runs.append(
            Run("lab", "lab-near", "full", algorithm, 0, 1, {}, parameters, metrics=metrics, series=series)
        )
    assert lab_page.Part.of(runs).fetched == made
    assert PAGES["lab"].write(runs, NEAR.parents[1], tmp_path / "lab.md") == 2
    text = (tmp_path / "lab.md").read_text()
    assert "| `stock` | 2 | 10 (50 %), 1 (50 %) | none (100 %) | 2 (100 %) |" in text
    assert "| 5 kB | `tsl/3-16` | 2 | 1200 [1200, 1200] | 0.984 [" in text
    assert "(figures/lab-gains.svg)" in text and "dropped alone:" not in text


def test_pages_from_nginx_to_curl(tmp_path: Path) -> None:
    """Test that each page loses its first SYN-ACK and begins with the window that the policy chose."""
    finished = run.run(scenario.load(NEAR, "smoke"), run.Options(out=tmp_path))
    assert not finished.failures
    fetched = pages.read(finished.folders[0] / "cubic+stock+tsl--3-16+tlp-on")
    assert len(fetched) == 3 and all(p.is_lost and p.handshake_us > 1_000_000 for p in fetched)


@pytest.mark.full
@pytest.mark.pages
def test_smoke_of_the_papers_page(tmp_path: Path) -> None:
    """Test a short run of the paper's page and its pictures, from nginx to curl in the machine, near and
    far."""
    words = ["experiments", "tambuwal2018", "--page", "lab", "--profile", "smoke", "-q", "--run"]
    words += ["--file", str(tmp_path / "runs.parquet"), "-o", str(tmp_path)]
    assert main([*words, "--out", str(tmp_path / "kept")]) == 0
    text = (tmp_path / "lab.md").read_text()
    for line in (
        "## lab-near: 10 Mbit/s, 40 ms",
        "## lab-far: 4 Mbit/s, 200 ms",
        "| `tsl/3-16` | 3 | 3 (100 %) | 16 ",
    ):
        assert line in text
    (folder,) = (tmp_path / "kept" / "lab").glob("lab-near-000-*")
    fetched = pages.read(folder / "cubic+stock+tsl--3-16+tlp-on")
    assert len(fetched) == 3 and all(p.is_lost and p.handshake_us > 1_000_000 for p in fetched)
    near = ["lab", "run", str(NEAR), "--profile", "smoke", "-q", "--out", str(tmp_path / "kept" / "lab")]
    assert main([*near, "-o", str(tmp_path / "table.txt")]) == 0
    table = (tmp_path / "table.txt").read_text()
    assert "cubic+stock+tsl/3-16, 15 kB" in table and "MB each" not in table
    for name in ("lab-gains", "lab-whole"):
        ElementTree.parse(tmp_path / "figures" / f"{name}.svg")
