# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Rows to a table, and to a page beside a paper's."""

from __future__ import annotations

import json

from samples import ROOT
from tcplearn.lab import scenario, table
from tcplearn.output.rows import Head, tidy
from tcplearn.papers.nunes2014 import live_page

FOLDER = ROOT / "papers" / "nunes2014"


PARAMETERS = {"tlp": False, "bytes": 1, "kernel": "6.1"}


def rows() -> list[table.Row]:
    made: list[table.Row] = []
    for run in ("a", "b"):
        for algorithm, error in (("reno+stock", 2.0), ("reno+experts/nunes2014-linux", 1.0)):
            ticks = error + (run == "b")
            figures = {"duration_s": 9.0, "mean_abs_error_ticks": ticks, "nstat.TcpExtTCPTimeouts": 3.0}
            if run == "b":
                del figures["nstat.TcpExtTCPTimeouts"]  # a counter that did not move has no row
            head = Head(host="lab", algorithm=algorithm, run=run, seed=1, parameters=PARAMETERS)
            made += tidy(head, figures)
    return made


def test_a_counter_without_a_row_is_zero() -> None:
    found = table.summary(rows())[("reno+stock", json.dumps(PARAMETERS, sort_keys=True))]
    assert found["nstat.TcpExtTCPTimeouts"][0] == 1.5
    assert found["mean_abs_error_ticks"] == (2.5, 0.5**0.5, 2)


def test_the_papers_figures_are_beside_ours() -> None:
    part = live_page.Part(scenario.load(FOLDER / "live-1.toml"), rows())
    page = live_page.page(
        [part], live_page.read_published(FOLDER / "published-live.csv"), "command", "## Why\n"
    )
    assert "| `stock` | off | 2 | 2.50 ± 0.71; paper 8.19 ± 0.97 |" in page
    assert "`experts/nunes2014-linux`, TLP off: 0.60 times stock's error; in the paper 0.62" in page
    assert page.endswith("## Why\n") and "`command`" in page
