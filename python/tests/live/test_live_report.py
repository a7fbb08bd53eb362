# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn live report`: its statistics against a simple implementation, several files together, and
data that allow no conclusion."""

from __future__ import annotations

import json
import random
from math import sqrt
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from tcplearn.cli import main
from tcplearn.errors import UserError
from tcplearn.live import power, program, report, sessions
from tcplearn.live.arms import Counts, none
from tcplearn.live.effect import boundary, effect_of, mean_of
from tcplearn.live.simulated import Fleet, count, lossy_counts
from tcplearn.live.simulated import Path as Connections
from tcplearn.report import live as page

Waits = list[list[float]]  # ms of the lossy rounds of each connection


def _arm(waits_ms: Waits) -> Counts:
    arm = none()
    for each in waits_ms:
        count(arm, 20, 0, each, is_lowered=True)
    return arm


def _waits(draw: random.Random, connections: int, mean_ms: float) -> Waits:
    """Return the waits in ms of connections that differ in their number of lossy rounds and in how long these
    take."""
    out = []
    for _ in range(connections):
        own_ms = mean_ms * draw.uniform(0.5, 1.5)
        out.append([round(own_ms * draw.uniform(0.9, 1.1), 1) for _ in range(draw.choice((0, 1, 6)))])
    return out


def _session(control: Waits, ours: Waits, host: str = "one", share: float = 0.5) -> dict[str, Any]:
    return {
        "host": host,
        "cgroup": "/",
        "observe": False,
        "since": 0.0,
        "until": 3600.0,
        "places": 3,
        "guard": None,
        "arms": [{"share": share, "control": _arm(control), "ours": _arm(ours), "stopped": none()}],
        "compared": [],
    }


def test_the_variance_of_a_mean_is_that_over_connections() -> None:
    waits = _waits(random.Random(1), 300, 200.0)
    found = mean_of(_arm(waits))
    every = [ms for each in waits for ms in each]
    mean = fmean(every)
    assert found.rounds == len(every) and found.ms == pytest.approx(mean, abs=0.01)
    twin = sum((sum(each) - mean * len(each)) ** 2 for each in waits) / len(every) ** 2
    assert found.variance == pytest.approx(twin, rel=1e-3)
    assert found.variance > 3 * float(np.var(every)) / len(every)  # what independent rounds would have


def test_no_effect_is_seldom_seen_at_any_look() -> None:
    wrong = 0
    for seed in range(100):
        draw, control, ours, is_wrong = random.Random(seed), none(), none(), False
        for _ in range(10):
            for arm in (control, ours):
                for each in _waits(draw, 30, 200.0):
                    count(arm, 20, 0, each, is_lowered=True)
            effect = effect_of([{"control": control, "ours": ours}])
            is_wrong |= effect is not None and not effect.less_ms.low <= 0 <= effect.less_ms.high
        wrong += is_wrong
    assert wrong <= 9


def test_shares_are_compared_each_by_itself() -> None:
    """Test that shares of the ramp are compared separately. At first nearly all connections are stock and
    paths are fast; later few are stock and paths are slow. The sums over both would show a harm by floors."""
    draw = random.Random(1)
    early = _session(_waits(draw, 400, 100), _waits(draw, 40, 80), share=0.1)
    late = _session(_waits(draw, 40, 500), _waits(draw, 400, 400), share=0.9)
    effect = report.effect_of([early, late])
    assert effect and effect.less_ms.value > 50
    assert effect.control.ms > effect.ours.ms


def test_several_machines_are_merged(tmp_path: Path) -> None:
    draw, files = random.Random(1), []
    for host in ("a", "b"):
        files.append(tmp_path / f"{host}.json")
        files[-1].write_text(json.dumps([_session(_waits(draw, 100, 230), _waits(draw, 100, 60), host)]))
    text = "\n".join(report.lines(report.read(files)))
    assert "2: a, b" in text and "400, of them 200 with learned floors" in text
    assert "ms less each\n" in text and "s of waiting in" in text
    effect = report.effect_of(report.read(files))
    assert effect and 130 < effect.less_ms.low < 170 < effect.less_ms.high
    assert effect.saved_s().value == pytest.approx(effect.less_ms.value * effect.ours.rounds / 1000)


def test_nothing_can_be_told_yet() -> None:
    (line,) = (text for text in report.lines([_session([[200.0]], [[50.0]])]) if "lossy rounds" in text)
    assert "nothing can be told yet: 1 in the control group, 1 with floors" in line
    assert report.lines([]) == ["live is not started: there is nothing to report"]


def test_the_page_says_what_cannot_be_told(tmp_path: Path) -> None:
    """Test that the HTML page, like the screen, says where the interval includes no difference, and has the
    spurious retransmissions also if all connections have floors."""
    draw = random.Random(1)
    alike = _session(_waits(draw, 40, 200), _waits(draw, 40, 200))
    alone = _session([], _waits(draw, 40, 200))
    texts = []
    for name, session in (("alike", alike), ("alone", alone)):
        page.write([session], tmp_path / f"{name}.html")
        texts.append((tmp_path / f"{name}.html").read_text())
    assert "The interval includes no difference, so nothing can be told yet" in texts[0]
    assert "There was no round with Linux" in texts[1] and "had a spurious retransmission" in texts[1]
    assert "The estimate of the waiting that was saved in" in texts[0] and "this saved" not in texts[0]


def test_counts_that_are_part_of_others_are_indented() -> None:
    counts = dict.fromkeys(program.meanings(), 0) | {"rounds": 7, "timeouts": 2, "timeouts_queued": 1}
    lines = [line[14:] for line in sessions.counted(counts)]
    assert lines[:2] == ["rounds with an RTT sample", "retransmission timeouts"]
    assert lines[2] == "  of these, timeouts while a segment was still in a queue of this host"
    assert lines[3].startswith("(one round can be in several")
    assert len([*sessions.counted(dict.fromkeys(counts, 1))]) == len(counts) + 1  # each once


def test_nothing_is_started(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sessions, "status", lambda: [])
    assert main(["live", "report"]) == 2
    shown = capsys.readouterr()
    assert not shown.out and "live is not started, so there is nothing to report" in shown.err
    assert main(["live", "status"]) == 0
    assert capsys.readouterr().out == "live is not started\n"


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    for text in ("{}", "[1]", "no", '[{"host": 1}]'):
        other.write_text(text)
        with pytest.raises(UserError, match=r"other\.json: not what `tcplearn live status --json` writes"):
            report.read([other])


def test_the_page_has_what_the_screen_has(tmp_path: Path) -> None:
    draw = random.Random(1)
    session = _session(_waits(draw, 100, 230), _waits(draw, 100, 60), "<b>host")
    session["guard"] = {"share": 0.5, "places": [], "journal": [{"at_s": 1.0, "text": "it began"}]}
    page.write([session], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "ms with Linux&#x27;s own timer" in text and "it began" in text and "<b>host" not in text
    assert "had a spurious retransmission" in text and "learned floors for 50 %" in text


def test_the_interval_is_wider_than_one_that_is_looked_at_once() -> None:
    assert 2.0 < boundary(50) < boundary(200) < 3.2 < boundary(5)
    assert boundary(50, 0.01) > boundary(50)


def test_the_table_says_what_simulation_shows() -> None:
    least = power.least_effect(1000, 0.03)
    assert least
    assert power.found_share(1000, 0.03, least, 20) >= 0.7
    assert power.found_share(1000, 0.03, least / 2, 20) < 0.7
    assert power.least_effect(1000, 0.001) is None
    assert sqrt(10) * 0.8 < (power.least_effect(1000, 0.03) or 0) / (power.least_effect(10000, 0.03) or 1) < 4


@pytest.mark.parametrize("unlike", [0.0, 1.0])
def test_connections_at_once_are_as_those_one_by_one(unlike: float) -> None:
    """Test that the fast simulation of the table gives the mean and the variance of the slow one."""
    path = Connections(0.03, wait_ms=(230.0, 60.0), unlike=unlike)
    slow = Fleet([path], 1).play(60_000).seen.arms[0][1]
    fast = lossy_counts(path, 300_000, True, np.random.default_rng(1))
    one, other = mean_of(slow), mean_of(fast)
    assert one.ms == pytest.approx(other.ms, rel=0.06) and other.ms == pytest.approx(60, rel=0.02)
    assert one.rounds * one.variance == pytest.approx(other.rounds * other.variance, rel=0.25)
    assert other.rounds == pytest.approx(300_000 * 20 * 0.03, rel=0.01)
