# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test fades with known times, and many connections over one queue: how fades are drawn, and what is
measured."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest
from scenario_text import ONE_HOP, load, refused

from samples import ROOT
from tcplearn import metrics as vocabulary
from tcplearn.lab import fades, guest, requests, run, scenario
from tcplearn.scenario.path import DrawnFades

SCENARIOS = ROOT / "linux" / "lab" / "scenarios"
DRAWN = f'{ONE_HOP}[path.drawn_fades]\nhop = "a"\nlasts_s = [0.2, 8]\napart_s = 4\nsides = "forward"\n'


def test_lengths_are_drawn_evenly_in_their_logarithm_and_alike_for_a_seed() -> None:
    of = DrawnFades(hop="a", lasts_s=(0.2, 8), apart_s=4)
    drawn = fades.drawn(of, 4000, 1)
    assert drawn == fades.drawn(of, 4000, 1) != fades.drawn(of, 4000, 2)
    logs = sorted(math.log(ends - begins) for begins, ends in drawn)
    assert logs[0] == pytest.approx(math.log(200), abs=0.01) and logs[-1] == pytest.approx(9, abs=0.02)
    assert logs[2000] == pytest.approx(math.log(200 * 8000) / 2, abs=0.1)
    gaps = [begins - before for (_, before), (begins, _) in itertools.pairwise(drawn)]
    assert min(gaps) >= 2000 and max(gaps) <= 6000


def test_the_overrun_is_from_the_end_to_the_answer_of_the_lost_request(tmp_path: Path) -> None:
    # a fade that meets a request under way, one that meets none, one where it ends as a request starts
    (tmp_path / "fades").write_text("1000000\n2000000\n3000000\n3100000\n4000000\n5000000\n")
    (tmp_path / "requests").write_text("30000 900000\n1400000 1100000\n30000 3200000\n30000 4999500\n")
    assert fades.overruns(tmp_path).tolist() == [[0.0, 1000.0, 500.0]]
    assert dict(fades.figures(tmp_path)) == {"fades": 1, "mean_overrun_ms": 500, "median_overrun_ms": 500}
    assert requests.responses_ms(tmp_path).tolist() == [30, 1400, 30, 30]


@pytest.mark.full
def test_every_timer_has_the_same_fades(tmp_path: Path) -> None:
    chosen = scenario.load(SCENARIOS / "fades.toml", "smoke")
    assert chosen.path.drawn_fades and chosen.fades
    finished = run.run(chosen, run.Options(out=tmp_path))
    assert not finished.failures
    for arm in guest.arms(chosen, 0):
        folder = finished.folders[0] / arm.folder
        times = [int(line) for line in (folder / "fades").read_text().split()]
        drawn = [ms for fade in fades.drawn(chosen.path.drawn_fades, 4, 1) for ms in fade]
        assert [t - times[0] for t in times] == pytest.approx(
            [1000 * (ms - drawn[0]) for ms in drawn], abs=300
        )
        overruns = fades.overruns(folder)
        assert len(overruns) == chosen.fades.count == 4 and (overruns[:, 2] > 0).all()
    assert all(vocabulary.known(row["metric"], vocabulary.LAB) for row in finished.rows)


@pytest.mark.full
def test_drops_of_the_queue_are_counted_around_each_transfer(tmp_path: Path) -> None:
    chosen = scenario.load(SCENARIOS / "overload.toml", "smoke")
    finished = run.run(chosen, run.Options(out=tmp_path))
    value = {(row["algorithm"], row["metric"]): row["value"] for row in finished.rows}
    assert chosen.transfer.requests
    for arm in guest.arms(chosen, 0):
        assert value[arm.name, "requests"] == chosen.transfer.requests.count
        resent = value[arm.name, "retransmitted_packets"]
        assert 0 < value[arm.name, "queue_dropped_packets"] <= 2 * resent + chosen.transfer.requests.at_once
    assert value["cubic+priced", "resend_differences"] == 0
    names = ("before.queue", "after.queue")
    for name, dropped in zip(names, (5, 12), strict=True):
        (tmp_path / name).write_text(f"qdisc netem 8001: root\n Sent 9 bytes 9 pkt (dropped {dropped}, x)\n")
    assert dict(requests.queue_drops(tmp_path)) == {"queue_dropped_packets": 7}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (f"{DRAWN}[transfer]\nrequests = {{}}\n[fades]\ncount = 0", r"fades\.count: should be greater"),
        (f"{ONE_HOP}[transfer]\nrequests = {{}}\n[fades]\ncount = 9", "it needs a path with drawn_fades"),
        (
            f'{DRAWN}[transfer]\nrequests = {{}}\n[[path.fade]]\nat_s = 1\nhop = "a"',
            "no dated changes or fades in addition to drawn ones",
        ),
        (DRAWN, "for requests on a kept connection"),
    ],
)
def test_a_mistake_about_fades_is_one_line(tmp_path: Path, more: str, message: str) -> None:
    refused(tmp_path, f"{more}\n", message)


def test_a_neighbour_is_counted_where_the_scenario_says_so(tmp_path: Path) -> None:
    more = '[[traffic]]\nenters = "a"\ncounted = {}\n[[traffic]]\nenters = "a"\n'
    script = guest.script(load(tmp_path, ONE_HOP + more.format("true")), 0)
    assert "before.x0" in script and "after.x0" in script and "after.x1" not in script
    assert "before.x" not in guest.script(load(tmp_path, ONE_HOP + more.format("false")), 0)


def test_profiles_of_every_path_of_thin_flows() -> None:
    for path in SCENARIOS.glob("thin-*.toml"):
        for profile in ("stream", "fresh", "page", "bulk"):
            chosen = scenario.load(path, profile)
            arms = [arm.name for arm in guest.arms(chosen, 0)]
            assert arms[0] == "cubic+stock" and {"cubic+priced", "cubic+priced/spaced"} < set(arms)
            assert len(arms) == (4 if profile == "bulk" else 5)
            assert chosen.transfer.requests and chosen.transfer.requests.timestamps != ("no-t" in path.stem)
    page = guest.script(scenario.load(SCENARIOS / "thin-wifi.toml", "page"), 0)
    assert "75 1000 1 page:30'" in page and "transfer answer 5002 10000 0 &" in page
