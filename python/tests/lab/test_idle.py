# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that the window of an idle connection depends only on the base congestion control, whatever RTO the
estimator sets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from samples import ROOT
from tcplearn.errors import UserError
from tcplearn.estimators import ALL
from tcplearn.lab import run, scenario

IDLE = ROOT / "linux" / "lab" / "scenarios" / "idle.toml"
#: What is left of the window: all, half after one RTO of stock's, which is 230 ms here, or a restart's.
PAUSES: dict[int, Callable[[int], int]] = {
    100: lambda window: window,
    300: lambda window: window // 2,
    1000: lambda _: 10,
    3000: lambda _: 10,
}


@pytest.mark.full
def test_bursts_take_as_long_as_under_stock(tmp_path: Path) -> None:
    chosen = scenario.load(IDLE, "smoke")
    assert chosen.algorithms.estimators == ["stock", *ALL]
    rows = run.run(chosen, run.Options(out=tmp_path)).rows
    value = {(row["algorithm"], row["metric"]): row["value"] or 0.0 for row in rows}
    for algorithm in {row["algorithm"] for row in rows}:
        for metric in ("burst_mean_ms", "burst_after_pause_ms"):
            ratio = value[algorithm, metric] / value["cubic+stock", metric]
            assert 0.97 <= ratio <= 1.03, (algorithm, metric, ratio)
        for pause_ms, kept in PAUSES.items():
            # What a pause does to the window is stock's to the segment. The window before it is not: stock's
            # own is 209 or 211, by its place among the arms, which is the bursts' phase in the kernel's tick.
            before, after = (
                value[algorithm, f"ss.cwnd_{w}_{pause_ms}ms_segments"] for w in ("before", "after")
            )
            assert after == kept(int(before)), (algorithm, pause_ms, before, after)
            metric = f"ss.cwnd_after_{pause_ms}ms_segments"
            window = value["cubic+stock", metric]
            assert abs(value[algorithm, metric] - window) <= 0.02 * window, (algorithm, metric)
    assert value["cubic+stock", "ss.cwnd_after_1000ms_segments"] == 10  # restarted, as it should be


def test_only_the_labs_own_program_repeats(tmp_path: Path) -> None:
    text = IDLE.read_text().replace("[transfer]", '[transfer]\nby = "nginx"')
    (tmp_path / "idle.toml").write_text(text)
    with pytest.raises(UserError, match=r"transfer: repeat: by send, not nginx"):
        scenario.load(tmp_path / "idle.toml")
