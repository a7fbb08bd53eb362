# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the pages of experiments/baddam2018, made from invented runs, and one page that needs no runs."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from experiments.baddam2018 import PAGES, first_rto, grid, logs, paper
from experiments.lib.pages import ROOT
from experiments.lib.runs import Run
from experiments.lib.statistics import Estimate

FOLDER = ROOT / "experiments" / "baddam2018"
ALGORITHMS = ("reno+stock", "reno+linreg/reno", "reno+linreg/reno+receiver")


def test_the_regressions_page_is_that_of_today(tmp_path: Path) -> None:
    page = PAGES["regression"]
    assert page.write([], FOLDER, tmp_path / "regression.md") == 0
    assert (tmp_path / "regression.md").read_text() == (ROOT / page.target).read_text()


def downloads() -> list[Run]:
    found = []
    for algorithm, number in itertools.product(ALGORITHMS, range(3)):
        seconds = (1 + number) * (2.0 if algorithm.endswith("receiver") else 1.0)
        metrics = dict.fromkeys(grid.METRICS, 3.0) | {grid.TIME: seconds}
        parameters = {"title": "20 Mbit/s, 40 ms; no traffic", "transfer": {"bytes": 400_000}}
        found.append(Run("lab", "grid-none", "full", algorithm, number, 1, {}, parameters, metrics=metrics))
    return found


def test_downloads_are_compared_run_by_run(tmp_path: Path) -> None:
    page = PAGES["lab"]
    assert page.write(downloads(), FOLDER, tmp_path / "lab.md") == 2
    text = (tmp_path / "lab.md").read_text()
    assert "| reno | as written | sender | 2.00 ± 1.00 | 1.00 [1.00, 1.00] | 3.0 ± 0.0 |" in text
    assert "| reno | as written | downloader | 4.00 ± 2.00 | 2.00 [2.00, 2.00] | 3.0 ± 0.0 |" in text
    assert "at the downloader" in (tmp_path / "figures" / "lab-times.svg").read_text()


@pytest.mark.parametrize("lost", [0, 20])
def test_waits_are_shown_beside_stocks(lost: int, tmp_path: Path) -> None:
    metrics = dict.fromkeys(("connections", "syns", "answers"), 100.0)
    metrics |= dict.fromkeys(("spurious_syns", "unanswered_syns", "spurious_answers"), 1.0)
    names = (first_rto.STOCK, first_rto.KNOWN_AT_BOTH, first_rto.BEST_AT_BOTH)
    runs = [
        Run(
            "lab", "first-rto", "full", name, 0, 3,
            parameters={"places": 40, "count": 50, "loss_percent": 10.0},
            metrics=metrics,
            series={"wait_us": np.full(lost, wait), "answered_us": np.full(100, 80_000.0)},
        )
        for name, wait in zip(names, (1e6, 1e5, 2e5), strict=True)
    ]  # fmt: skip
    (trials,) = PAGES["first-rto"].batches(FOLDER, "")
    in_ns3 = Run("ns3", "first-rto", "full", "jacobson", 0, 1)  # another page's, of the same scenario's name
    own = [run for run in (*runs, in_ns3) if trials.has(run)]
    PAGES["first-rto"].write(own, FOLDER, tmp_path / "first-rto.md")
    text = (tmp_path / "first-rto.md").read_text()
    shown = "100 | 0.10 [0.10, 0.10] | 100 | 0.10 [0.10, 0.10]" if lost else "– | – | – | –"
    assert f"| {first_rto.KNOWN_AT_BOTH} | 100 | {lost} | {shown} | 1.00 | 1.00 | 1.00 | 80 |" in text
    if lost:
        assert f"| {first_rto.BEST_AT_BOTH} | 0.50 [0.50, 0.50] | 0.50 [0.50, 0.50] |" in text


def test_the_authors_logs_are_fitted_as_their_script_does(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    pings, traces, rows = [], [], []
    for number in range(logs.FITTED + 3):
        hops, ttl, least, most = (int(value) for value in rng.integers((3, 40, 1, 60), (20, 60, 50, 99)))
        mean = round(0.5 + 0.25 * hops + 0.5 * least + 0.125 * most + 0.0625 * ttl, 4)
        mean += {logs.FITTED: 0, logs.FITTED + 1: 10}.get(number, 0)
        silent = number == logs.FITTED + 2
        rtts = f"round-trip min/avg/max = {least}/{mean}/{most} ms\n"
        answer = f"{rtts}HPING site\nlen=46 ip=1.2.3.4 ttl={ttl} DF id=0\n"
        pings.append(
            "***sudo hping3 -S site***\n" + ("" if silent else answer) + "Return Code: 0***next***\n"
        )
        lines = "\n".join(f"{hop}  * * *" for hop in range(hops + 1))
        traces.append(
            f"***sudo tcptraceroute -m 50 site 80***\ntraceroute to site\n{lines}\nReturn Code: 0\n\n"
        )
        rows.append((least, mean, most))
    (tmp_path / "hping.out").write_text("".join(pings))
    (tmp_path / "traceroute.out").write_text("".join(traces))
    found = logs.fit(logs.sites(tmp_path))
    assert found.coefficients == pytest.approx((0.5, 0.25, 0.5, 0.125, 0.0625), abs=1e-3)
    assert (found.held_out, found.answered) == (3, 2)
    one = 100 * 10 / rows[-2][1]  # the only error is of 10 ms; the silent site counts as one without an error
    assert (found.mape, found.mape_answered) == pytest.approx((one / 3, one / 2), rel=1e-3)
    middle = [100 * abs((low + high) / 2 - mean) / mean for low, mean, high in rows[-3:-1]]
    assert found.mape_middle == pytest.approx(np.mean(middle))


@pytest.mark.parametrize(
    ("theirs", "ours", "said"),
    [
        ((1.2, 1.1, 1.3), (1.25, 1.15, 1.4), "reproduced"),
        ((1.2, 1.1, 1.3), (1.2, 0.8, 1.7), "cannot be told"),
        ((1.2, 1.1, 1.3), (1.35, 1.25, 1.5), "cannot be told"),
        ((1.2, 1.1, 1.3), (0.9, 0.8, 0.95), "not reproduced"),
        ((1.5, 1.4, 1.6), (1.0, 0.9, 1.1), "not reproduced"),
        ((1.2, 1.05, 1.3), (1.1,), "not measured"),
    ],
)
def test_a_ratio_is_reproduced_by_the_stated_rule(theirs: tuple, ours: tuple, said: str) -> None:
    assert paper.verdict(Estimate(*theirs), Estimate(*ours)) == said


def test_a_claim_of_more_or_less_needs_the_whole_interval() -> None:
    above, below, open_ = Estimate(1.2, 1.1, 1.3), Estimate(0.8, 0.7, 0.9), Estimate(1.1, 0.9, 1.3)
    assert [paper.claimed(one, 1) for one in (above, below, open_)] == [
        "reproduced", "not reproduced", "cannot be told",
    ]  # fmt: skip
    assert [paper.claimed(one, -1) for one in (above, below)] == ["not reproduced", "reproduced"]


def test_all_that_the_paper_prints_stands_beside_ours(tmp_path: Path) -> None:
    runs = []
    specs = {"linux": 40.0, "linreg/no-error": 50.0, "linreg": 44.0, "linreg/kernel": 400.0}
    for (algorithm, seconds), seed in itertools.product(specs.items(), (1, 2, 3)):
        metrics = {
            paper.TIME: seconds + seed,
            paper.RESENT: seconds,
            paper.TIMEOUTS: 1.0,
            paper.SPURIOUS: 1.0,
        }
        load, tcp = {"packets": [41436, 41436]}, {"segment_bytes": 1448}
        parameters = {"duration_s": 400.0, "load": load, "tcp": tcp}
        more = {"parameters": parameters, "metrics": metrics | {"finished": 1.0}}
        runs.append(Run("ns3", "downloads", "full", algorithm, seed, seed, {"variant": "cubic-none"}, **more))
    PAGES["paper"].write(runs, FOLDER, tmp_path / "paper.md")
    text = (tmp_path / "paper.md").read_text()
    assert text.count('| chart "TCP ') == 18
    assert (
        "| cubic | without traffic | as written | 46.0 (45.0 to 47.0) | 1.10 (1.09 to 1.10) | 3 of 3 | 44.0"
        in text
    )
    line = next(
        line for line in text.splitlines() if "TCP Cubic - Time Taken Analysis without traffic" in line
    )
    assert "original 48, 41, 40, 39, 43; changed 47, 48, 48, 43, 46 s: ratio 1.10 (0.98 to 1.24)" in line
    assert "take 28 to 58 s, and resend 8 to 637 packets" in " ".join(text.split())
    assert "Two of them did not answer" in text and "60 MB (cubic)" in text


def test_the_emulated_paths_have_the_rtts_that_the_page_names() -> None:
    rtts_ms = sorted(place.rtt_ms for place in first_rto.network().places)
    assert 2 <= rtts_ms[0] < 3 and 290 < rtts_ms[-1] <= 300
