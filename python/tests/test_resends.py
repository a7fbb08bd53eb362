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


def at_limit(process: str, limit: str, requests: int = 4000) -> dict[str, float]:
    setup = resends.Setup((process,), requests, 1)
    return resends.figures(resends.played_at_limit(steady(), process, limit, setup))


@pytest.mark.parametrize("process", ["none", "iid3", "fade_long", "outage"])
def test_a_clairvoyant_timer_is_never_in_vain_and_never_slower(process: str) -> None:
    limit = at_limit(process, "clairvoyant")
    assert limit[resends.NEEDLESS] == 0
    for policy in resends.POLICIES:
        assert limit["slowest_response_ms"] <= figures(process, policy)["slowest_response_ms"], policy


def test_a_clairvoyant_timer_waits_exactly_for_the_overdue_answer() -> None:
    """Where losses are independent, the slowest requests take two or three round trips of 30 ms."""
    limit = at_limit("iid3", "clairvoyant")
    assert 60 <= limit["slowest_response_ms"] < 66
    assert at_limit("iid3", "clairvoyant/doubling")["slowest_response_ms"] == pytest.approx(
        limit["slowest_response_ms"], rel=0.05
    )


def test_the_statistical_oracle_weighs_waiting_against_spurious_retransmissions() -> None:
    oracle, ours, stock = at_limit("iid3", "statistical"), figures("iid3", "priced"), figures("iid3", "stock")
    assert oracle["p99_response_ms"] <= ours["p99_response_ms"] < stock["p99_response_ms"]
    assert oracle[resends.NEEDLESS] < 3
    setup = resends.Setup(("iid3",), 4000, 1)
    path = resends._path(steady(), "iid3", setup, 1)
    free = resends.figures(resends._native.requests_at_limit("statistical", **path, price_us=0))
    assert free[resends.NEEDLESS] > 100  # without a price nothing is waited for
    with pytest.raises(ValueError, match="no limit 'best'; clairvoyant, clairvoyant/doubling or statistical"):
        resends.played_at_limit(steady(), "iid3", "best", setup)


def test_the_share_of_the_way() -> None:
    def run(policy: str, losses: str, ratio: float) -> resends.Run:
        stems = [key.removesuffix("_ms") + "_stock_ratio" for key in resends.TIMES]
        return resends.Run("x", "0", losses, policy, dict.fromkeys(stems, ratio))

    cells = {
        "iid1": (0.5, 0.25),
        "iid3": (0.8, 0.64),
        "none": (1.0, 0.95),
    }  # none: the limit gains too little
    result = resends.Resends(
        [
            run(p, name, of[k])
            for name, of in cells.items()
            for k, p in enumerate(("priced", resends.CLAIRVOYANT))
        ]
    )
    assert resends.share(result, "priced", resends.CLAIRVOYANT, resends.TIMES[0]) == pytest.approx(0.5)


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
    assert [row[0].shown for row in table.rows] == [*resends.POLICIES, *resends.LIMITS]
    stock = next(run for run in result.runs if run.policy == "stock")
    assert stock.figures["p99_response_stock_ratio"] == 1
    with pytest.raises(resend_paths.UserError, match="did you mean iid3, iid1 or iid"):
        resend_paths.processes("iid2")
