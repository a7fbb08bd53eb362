# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test path description files in ns-3: the response times must follow from the settings of each direction."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import ROOT
from tcplearn.simulate import engine, run_job, scenario

THIN = ROOT / "ns3" / "scenarios" / "thin.toml"
pytestmark = pytest.mark.usefixtures("ns3")


def run(
    folder: Path, hop: str, dates: str = "", count: int = 300, resend: str = "stock", think_s: float = 0.1
) -> dict[str, Any]:
    """Return the result of requests of 1 kB over one hop. Each is sent 0.5 to 1.5 `think_s` after the last
    answer."""
    (folder / "mine.toml").write_text(f'name = "mine"\n[hop.line]\n{hop}\n{dates}')
    (folder / "x.toml").write_text(
        f'extends = "{THIN}"\nname = "x"\n[scenario]\npath = "mine.toml"\n'
        f"load.count = {count}\nload.think_s = {think_s}\n"
        f'[grid]\nseeds = 1\nvariants = []\nvary = {{ "tcp.resend" = ["{resend}"] }}\n'
    )
    (one,) = scenario.runs(folder / "x.toml", "full")
    result: dict[str, Any] = engine.simulate(run_job.job(one, 1.0).arguments[0])["run"]
    return result


def times_ms(result: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array(result["responses_us"]) / 1000


def test_delay_and_rate_are_of_their_direction(tmp_path: Path) -> None:
    """Test delay and rate of each direction. A request has 1,054 bytes with the PPP header, an answer 55;
    access links have 100 Mbit/s or more."""
    found = times_ms(run(tmp_path, "forward = { rate_mbps = 1, delay_ms = 10 }\nreverse = { delay_ms = 35 }"))
    assert np.median(found) == pytest.approx(45 + 8.432, abs=0.3)
    back = times_ms(
        run(tmp_path, "forward = { delay_ms = 10 }\nreverse = { rate_mbps = 0.02, delay_ms = 35 }")
    )
    assert np.median(back) == pytest.approx(45 + 55 * 8 / 20, abs=1)


@pytest.mark.parametrize(
    ("jitter", "mean", "deviation"),
    [
        ('distribution = "normal"', 0, 4),
        ('distribution = "uniform"', 0, 4 / math.sqrt(3)),
        ('distribution = "uniform-above"', 4, 4 / math.sqrt(3)),
        # the moments of netem's table: a third more than Pareto of shape 3 less 1.5, cut at four
        ('distribution = "pareto"', 4 * -0.033, 4 * 0.820),
    ],
)
def test_jitter_has_its_distribution(jitter: str, mean: float, deviation: float, tmp_path: Path) -> None:
    hop = f"forward = {{ delay_ms = 30, jitter_ms = 4, {jitter} }}\nreverse = {{ delay_ms = 10 }}"
    found = times_ms(run(tmp_path, hop, count=4000))
    assert found.mean() - 40 == pytest.approx(mean, abs=0.35)
    assert found.std() == pytest.approx(deviation, rel=0.12)


def test_a_tail_and_a_correlation(tmp_path: Path) -> None:
    tail = times_ms(run(tmp_path, "delay_ms = 10\nforward = { tail_ms = 5 }", count=4000))
    assert tail.mean() == pytest.approx(25, abs=0.5) and tail.min() == pytest.approx(20.1, abs=0.1)
    hop = "delay_ms = 20\nforward = { jitter_ms = 5, correlation_percent = 80 }"
    # so soon after an answer that its ACK rides on the next request
    kept = times_ms(run(tmp_path, hop, count=4000, think_s=0.01))
    assert np.corrcoef(kept[:-1], kept[1:])[0, 1] == pytest.approx(0.8, abs=0.1)


@pytest.mark.parametrize(
    ("losses", "share"),
    [
        ("loss_percent = 10", 0.1),
        ('bursts = { kind = "packets", to_bad_percent = 4, to_good_percent = 40 }', 4 / 44),
        (
            'bursts = { kind = "packets", to_bad_percent = 10, to_good_percent = 30, '
            "loss_in_bad_percent = 20, loss_in_good_percent = 4 }",
            (3 * 4 + 20) / 400,
        ),
    ],
)
def test_losses_come_as_often_as_they_should(losses: str, share: float, tmp_path: Path) -> None:
    """Test the share of lost packets. Requests follow answers so soon that the sender's ACKs are sent with
    them."""
    result = run(tmp_path, f"delay_ms = 10\nforward = {{ {losses} }}", count=6000, think_s=0.01)
    metrics = result["metrics"]
    lost, sent = metrics["channel_dropped_packets"], metrics["sent_packets"]
    assert lost / sent == pytest.approx(share, rel=0.12)


def test_bursts_in_time_end_without_packets(tmp_path: Path) -> None:
    """Test that the bad state lasts equally long without packets: a tenth of all requests is sent in it, and
    retransmissions do not change its length."""
    hop = 'delay_ms = 10\nforward = { bursts = { kind = "time", good_ms = 900, bad_ms = 100 } }'
    found = times_ms(run(tmp_path, hop, count=4000))
    late = found > 100
    assert late.mean() == pytest.approx(0.1, abs=0.03)
    # most bad states are over when a probe comes, 2 SRTT and the floor of 200 ms later
    assert np.mean(found[late] < 300) > 0.6


def test_fades_and_changes_hold_at_their_dates(tmp_path: Path) -> None:
    dates = '[[fade]]\nhop = "line"\nat_s = 3\nlasts_s = 2\nevery_s = 10\nsides = "forward"\n'
    dates += '[[change]]\nhop = "line"\nat_s = 6\nlasts_s = 3\nevery_s = 10\nreverse = { delay_ms = 110 }\n'
    result = run(tmp_path, "delay_ms = 10", dates, count=400)
    found = times_ms(result)
    assert found.min() == pytest.approx(20, abs=0.3)
    # of a period's 10 s two are lost; of the rest three have 120 ms, about a fifth of the requests
    assert 0.1 < np.mean(np.abs(found - 120) < 0.5) < 0.3
    over = found[found > 200]
    periods = found.sum() / 1e4 + 400 * 0.1 / 10  # what was waited and what was thought
    assert len(over) == pytest.approx(periods, abs=1.5)
    assert over.max() < 2 * 2000 + 300  # a wait that begins in the fade is no longer than what was waited


def test_slots_hold_packets_together(tmp_path: Path) -> None:
    found = times_ms(run(tmp_path, "delay_ms = 10\nreverse = { slot_ms = [40, 60] }", count=1000))
    # the slot is drawn when the answer enters: 10 ms forward, then 40 to 60
    assert found.min() == pytest.approx(50, abs=1) and found.max() == pytest.approx(70, abs=1.5)


def test_late_packets_and_a_rate_that_falls(tmp_path: Path) -> None:
    late = times_ms(
        run(tmp_path, "delay_ms = 10\nforward = { reorder_percent = 25, reorder_ms = 30 }", count=1000)
    )
    assert np.mean(np.abs(late - 50.2) < 0.5) == pytest.approx(0.25, abs=0.05)
    dates = '[[change]]\nhop = "line"\nat_s = 5\nlasts_s = 5\nevery_s = 10\nforward = { rate_mbps = 0.1 }\n'
    slow = times_ms(run(tmp_path, "delay_ms = 10\nforward = { rate_mbps = 10 }", dates, count=1000))
    assert np.mean(np.abs(slow - 104.4) < 1) == pytest.approx(0.36, abs=0.06)  # in half of the time


def test_drawn_fades_are_alike_for_every_timer(tmp_path: Path) -> None:
    dates = '[drawn_fades]\nhop = "line"\nlasts_s = [0.5, 2]\napart_s = 5\nsides = "forward"\n'
    found = [
        run(tmp_path, "delay_ms = 15", dates, 400, resend)["metrics"] for resend in ("stock", "priced/spaced")
    ]
    assert all(metrics["overruns"] > 3 for metrics in found)
    assert found[1]["mean_overrun_ms"] < found[0]["mean_overrun_ms"]
