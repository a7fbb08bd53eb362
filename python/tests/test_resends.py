# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test resend policies in Python: requests over a path, and the table of `tcplearn resend`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tcplearn.replay import resend_paths, resends


def steady(rtt_us: int = 30_000) -> resend_paths.Record:
    """Return a recorded path with an RTT of `rtt_us` and a little jitter."""
    times = np.arange(0, 600_000_000, 20_000, dtype=np.int64)
    jitter = np.random.default_rng(5).exponential(300, len(times)).astype(np.int64)
    return resend_paths.Record("made up", "0", times, rtt_us + jitter)


def figures(process: str, policy: str, requests: int = 4000) -> dict[str, float]:
    return resends.run_cell(
        steady(), process, resends.POLICIES[policy], resends.Setup((process,), requests, 1)
    )


def test_without_losses_nothing_is_sent_again() -> None:
    for policy in resends.POLICIES:
        found = figures("none", policy)
        assert found["lost_permille"] == 0
        assert found["p999_response_ms"] < 40
        if policy in ("stock", "priced", "priced/spaced"):
            assert found["resends_permille"] == 0


def test_a_learned_first_wait_shortens_the_tail() -> None:
    """Test a learned first wait at 3 % loss, where only the timer delays the slowest requests."""
    stock, ours = figures("iid3", "stock"), figures("iid3", "priced")
    assert stock["lost_permille"] == pytest.approx(30, abs=10)
    assert ours["p99_response_ms"] < 0.6 * stock["p99_response_ms"]
    assert ours[resends.NEEDLESS] <= stock[resends.NEEDLESS] + 3


def test_spacing_finds_the_end_of_an_outage_sooner() -> None:
    slowest = [
        figures("outage", p, requests=20_000)["slowest_response_ms"] for p in ("priced/spaced", "priced")
    ]
    assert slowest[0] < 0.9 * slowest[1]


def test_the_table_and_the_names(tmp_path: Path) -> None:
    trace = tmp_path / "rtts.csv"
    record = steady()
    lines = [
        f"{t / 1e6:.6f},{r / 1e3:.3f}"
        for t, r in zip(record.time_us[:2000], record.rtt_us[:2000], strict=True)
    ]
    trace.write_text("t_s,rtt_ms\n" + "\n".join(lines) + "\n")
    result = resends.run([trace], resends.Setup(("iid3",), 2000, 0))
    table = resends.table(result)
    assert [row[0].shown for row in table.rows] == list(resends.POLICIES)
    stock = next(run for run in result.runs if run.policy == "stock")
    assert stock.figures["p99_response_stock_ratio"] == 1
    with pytest.raises(resend_paths.UserError, match="did you mean iid3, iid1 or iid"):
        resend_paths.processes("iid2")
