# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Rows to a table, and to a page beside a paper's."""

from __future__ import annotations

from samples import ROOT
from tcplearn.lab import paper, scenario, write
from tcplearn.lab.results import Row

FOLDER = ROOT / "papers" / "nunes2014"


def rows() -> list[Row]:
    made = []
    for run in range(2):
        for algorithm, error in (("reno+stock", 2.0), ("reno+experts/nunes2014-linux", 1.0)):
            figures = {"duration": 9.0, "mean_abs_error_ticks": error + run, "nstat.TcpExtTCPTimeouts": 3.0}
            if run == 1:
                del figures["nstat.TcpExtTCPTimeouts"]  # a counter that did not move has no row
            for metric, value in figures.items():
                head = ("nunes2014", "live-1", "lab", algorithm, run, 1, "tlp=off,bytes=1")
                made.append(Row(*head, metric, value, "1", "", "6.1"))
    return made


def test_a_counter_without_a_row_is_zero() -> None:
    found = write.summary(rows())[("reno+stock", "tlp=off,bytes=1")]
    assert found["nstat.TcpExtTCPTimeouts"][0] == 1.5
    assert found["mean_abs_error_ticks"] == (2.5, 0.5**0.5, 2)


def test_the_papers_figures_stand_beside_ours() -> None:
    part = paper.Part(scenario.load(FOLDER / "live-1.toml"), rows())
    page = paper.page([part], paper.read_published(FOLDER / "published-live.csv"), "command", "## Why\n")
    assert "| `stock` | off | 2 | 2.50 ± 0.71; paper 8.19 ± 0.97 |" in page
    assert "`experts/nunes2014-linux`, TLP off: 0.60 times stock's error; in the paper 0.62" in page
    assert page.endswith("## Why\n") and "`command`" in page
