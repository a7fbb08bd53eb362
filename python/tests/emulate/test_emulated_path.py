# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the emulated path without devices and clocks: seeded packets must meet the rate, delay, losses and
order that the path's keys set."""

from __future__ import annotations

import math
from itertools import groupby
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from directions import MS, PLAIN, Ints, S, crossed, hops_of, one_way
from emulated_twin import BURST, FADE, NONE, QUEUE, RANDOM

from samples import ROOT
from tcplearn import _native
from tcplearn.emulate import path as emulated
from tcplearn.errors import UserError
from tcplearn.scenario import path as network_path

COUNT = 50_000


def spread(count: int = COUNT, every_ns: int = MS) -> Ints:
    return np.arange(count, dtype=np.int64) * every_ns


def within(hits: int, count: int, share: float) -> bool:
    """Return whether `hits` of `count` is within five standard deviations of a binomial distribution with
    `share`."""
    return abs(hits - count * share) <= 5 * math.sqrt(count * share * (1 - share))


def test_a_rate_spaces_packets_by_their_sizes() -> None:
    due, cause = crossed(one_way(rate_mbps=8.0, delay_ns=3 * MS), [0, 0, 0, 9 * MS], [1000, 500, 1500, 40])
    assert due.tolist() == [4 * MS, 4 * MS + MS // 2, 6 * MS, 12 * MS + 40_000] and not cause.any()


@pytest.mark.parametrize("rate_mbps", [0.84, 100.0, 10_000.0])
def test_a_flood_leaves_at_the_rate(rate_mbps: float) -> None:
    gap_ns = 12_000 / rate_mbps * 1000
    due, _ = crossed(one_way(rate_mbps=rate_mbps, limit_packets=COUNT), [0] * 1000)
    assert due[-1] == pytest.approx(1000 * gap_ns, rel=1e-3)
    assert np.all(np.abs(np.diff(due) - gap_ns) <= 1)


def test_a_full_queue_drops_the_packets_that_come_last() -> None:
    """Test a queue limit in packets, which includes the packet in transmission (12 ms at 1 Mbit/s), and one
    in bytes: the last packets are dropped."""
    _, cause = crossed(one_way(rate_mbps=1.0, limit_packets=10), [0] * 15 + [12 * MS] * 3)
    assert cause.tolist() == [NONE] * 10 + [QUEUE] * 5 + [NONE] + [QUEUE] * 2
    _, cause = crossed(one_way(rate_mbps=1.0, limit_bytes=3100), [0] * 4, [1500, 1500, 200, 100])
    assert cause.tolist() == [NONE, NONE, QUEUE, NONE]


@pytest.mark.parametrize("share", [0.001, 0.02, 0.5, 1.0])
def test_random_losses_have_the_share(share: float) -> None:
    _, cause = crossed(one_way(loss=share), spread())
    assert set(cause.tolist()) <= {NONE, RANDOM}
    assert within(int((cause == RANDOM).sum()), COUNT, share)


def test_bursts_by_packet_have_their_length_and_share() -> None:
    to_bad, to_good = 0.01, 0.25
    bursts = {
        "in_time": False,
        "leave_good": to_bad,
        "leave_bad": to_good,
        "loss_in_good": 0,
        "loss_in_bad": 1,
    }
    _, cause = crossed(one_way(bursts=bursts), spread())
    lengths = [len(list(run)) for lost, run in groupby(cause.tolist()) if lost]
    assert set(cause.tolist()) == {NONE, BURST}
    # geometric lengths: mean 4, deviation sqrt(12)
    assert np.mean(lengths) == pytest.approx(4, abs=5 * math.sqrt(12 / len(lengths)))
    assert np.mean(cause == BURST) == pytest.approx(to_bad / (to_bad + to_good), rel=0.15)


def test_bursts_in_time_last_as_long_whatever_is_sent() -> None:
    bursts = {
        "in_time": True, "leave_good": 900.0 * MS, "leave_bad": 100.0 * MS, "loss_in_good": 0,
        "loss_in_bad": 1,
    }  # fmt: skip
    shares = []
    for every_ns in (MS, 7 * MS):
        _, cause = crossed(one_way(bursts=bursts), spread(700 * S // every_ns, every_ns))
        lengths = [len(list(run)) * every_ns / MS for lost, run in groupby(cause.tolist()) if lost]
        assert np.mean(lengths) == pytest.approx(100, rel=0.2)
        shares.append(float(np.mean(cause == BURST)))
    # the same bursts both times; 7 ms cut each of some 700 to a multiple of it
    assert shares == pytest.approx([0.1, 0.1], rel=0.2) and shares[0] == pytest.approx(shares[1], rel=0.01)


def test_fades_lose_everything_at_their_times_and_no_more() -> None:
    fades = [{"at_ns": 4 * S, "lasts_ns": S // 2, "every_ns": 15 * S}, {"at_ns": 40 * S, "lasts_ns": None}]
    at_ns = spread(60_000)
    _, cause = crossed(one_way(fades=fades), at_ns)
    expected = ((at_ns % (15 * S) >= 4 * S) & (at_ns % (15 * S) < 4 * S + S // 2)) | (at_ns >= 40 * S)
    assert np.array_equal(cause == FADE, expected) and not np.any(cause[~expected])


def test_drawn_fades_are_those_of_both_directions() -> None:
    drawn = {
        "lasts_ns": (0.2 * S, 2.0 * S), "apart_ns": 5.0 * S, "exponential": False, "forward": True,
        "reverse": True,
    }  # fmt: skip
    hops = [{"forward": PLAIN, "reverse": PLAIN, "drawn_fades": drawn}]
    at_ns = np.repeat(spread(300_000), 2)
    sides = np.arange(len(at_ns)) % 2 == 0
    _, cause = crossed(hops, at_ns, forward=list(sides))
    there, back = cause[sides], cause[~sides]
    assert np.array_equal(there, back)
    states = [(lost, len(list(run)) * MS / S) for lost, run in groupby(there.tolist())]
    lengths = [s for lost, s in states[1:-1] if lost]
    pauses = [s for lost, s in states[1:-1] if not lost]
    assert min(lengths) >= 0.2 and max(lengths) <= 2.0 and min(pauses) >= 2.5 and max(pauses) <= 7.5
    # of a log-uniform length: (2.0 - 0.2) / ln 10
    assert np.mean(lengths) == pytest.approx(0.78, rel=0.25) and np.mean(pauses) == pytest.approx(5, rel=0.2)


def test_a_trace_gives_each_opportunity_1500_bytes() -> None:
    """Test a link trace with opportunities at 2, 2, 5 and 10 ms that repeats every 10 ms. Each opportunity
    carries 1,500 bytes and is lost if it is not used."""
    trace = [2 * MS, 2 * MS, 5 * MS, 10 * MS]
    hops = one_way(opportunities_ns=trace, limit_packets=5)
    due, cause = crossed(hops, [0, 0, 0, 0, 0, 0])
    assert (due[:5] // MS).tolist() == [2, 2, 5, 10, 12] and cause.tolist() == [NONE] * 5 + [QUEUE]
    due, _ = crossed(hops, [3 * MS, 6 * MS, 11 * MS])
    assert (due // MS).tolist() == [5, 10, 12]
    # the last one of a round is for a packet that comes at its time
    assert (crossed(hops, [10 * MS, 20 * MS])[0] // MS).tolist() == [10, 20]
    # small packets share one, a packet that does not fit goes on in the next
    due, _ = crossed(hops, [0] * 4, [700, 700, 700, 2000])
    assert (due // MS).tolist() == [2, 2, 2, 5]


def test_jitter_has_its_distribution_and_keeps_the_order() -> None:
    quantiles = np.linspace(0.01, 0.99, 99)
    far_apart = spread(20_000, S)
    for name, expected in (
        ("normal", [NormalDist(50, 5).inv_cdf(q) for q in quantiles]),
        ("uniform", 45 + 10 * quantiles),
        ("uniform-above", 50 + 10 * quantiles),
        ("pareto", 50 + 5 * np.minimum(((1 - quantiles) ** (-1 / 3) - 1.5) * 4 / 3, 4)),
    ):
        given = {"delay_ns": 50 * MS, "jitter_ns": 5 * MS, "distribution": name}
        delays_ms = (crossed(one_way(**given), far_apart)[0] - far_apart) / MS
        assert np.allclose(np.quantile(delays_ms, quantiles), expected, atol=0.5), name
        assert delays_ms.max() <= 70.01 and delays_ms.min() >= 29.99
        assert np.all(np.diff(crossed(one_way(**given), spread())[0]) >= 0)
    free = crossed(one_way(**given, jitter_reorders=True), spread())[0]
    assert np.any(np.diff(free) < 0)


def test_a_policer_lets_its_bucket_and_its_rate_through() -> None:
    """Test 100 packets at once, and then one each millisecond, of 1,500 bytes: 12 Mbit/s, of which a policer
    of 3 Mbit/s lets a quarter through."""
    at_ns = np.concatenate((np.zeros(100, np.int64), np.arange(1, COUNT + 1) * MS))
    due, cause = crossed(one_way(policer_mbps=3.0, policer_bytes=30_000), at_ns)
    passed = cause == NONE
    assert passed[:20].all() and not passed[20:100].any()
    assert passed[100:].sum() == pytest.approx(COUNT / 4, abs=1)
    assert np.array_equal(due[passed], at_ns[passed])  # it delays nothing


@pytest.mark.parametrize(("distribution", "half"), [("uniform", 0.48), ("normal", 0.5), ("pareto", 0.39)])
def test_correlation_is_that_of_neighbours_and_keeps_the_distribution(distribution: str, half: float) -> None:
    """Test that neighbours are correlated, normal ones as much as said, and that the distribution stays."""
    at_ns, tails_ms = spread(20_000, S), []
    for correlation, expected in ((0.0, 0.0), (0.5, half)):
        hops = one_way(delay_ns=50 * MS, jitter_ns=5 * MS, distribution=distribution, correlation=correlation)
        delays = (crossed(hops, at_ns)[0] - at_ns).astype(float)
        assert np.corrcoef(delays[1:], delays[:-1])[0, 1] == pytest.approx(expected, abs=0.03)
        tails_ms.append(np.quantile(delays / MS, [0.01, 0.5, 0.99]))
    assert np.allclose(*tails_ms, atol=0.5)


def test_a_share_of_packets_is_overtaken() -> None:
    at_ns = spread()
    due, _ = crossed(one_way(delay_ns=5 * MS, reorder=0.03, reorder_ns=20 * MS), at_ns)
    late = due - at_ns == 25 * MS
    assert within(int(late.sum()), COUNT, 0.03) and np.all(due[~late] - at_ns[~late] == 5 * MS)


def test_slots_let_packets_go_together() -> None:
    due, _ = crossed(one_way(slot_ns=(10 * MS, 60 * MS)), spread())
    times = np.unique(due)
    gaps_ms = np.diff(times) / MS
    assert np.all(np.diff(due) >= 0) and gaps_ms.min() >= 9.9 and gaps_ms.max() <= 62
    assert gaps_ms.mean() == pytest.approx(35, rel=0.06)


def test_changes_apply_in_their_time_and_the_later_one_wins(tmp_path: Path) -> None:
    text = (
        "[hop.line]\nrate_mbps = 12\ndelay_ms = 10\n"
        '[[change]]\nhop = "line"\nat_s = 1\nlasts_s = 2\nevery_s = 4\nforward = { delay_ms = 50 }\n'
        '[[change]]\nhop = "line"\nat_s = 2\nlasts_s = 0.5\nevery_s = 4\n'
        "forward = { delay_ms = 5, rate_mbps = 1.2 }\n"
    )
    hops = hops_of(text, tmp_path)
    at_s = [0, 1.5, 2.2, 2.7, 3.5, 4.5, 5.5]
    at_ns = np.array([round(s * S) for s in at_s])
    due, _ = crossed(hops, at_ns)
    # the delay is that of the time at which the packet has left the queue
    assert ((due - at_ns) / MS).tolist() == [11, 51, 15, 51, 11, 11, 51]


def test_two_hops_are_passed_in_order_and_back(tmp_path: Path) -> None:
    text = "[hop.a]\nrate_mbps = 12\n[hop.b]\nrate_mbps = 1.2\nqueue_packets = 2\n"
    hops = hops_of(text, tmp_path)
    due, cause = crossed(hops, [0] * 4)
    # the second hop has room for two; the third packet comes when neither has left
    assert (due[:2] // MS).tolist() == [11, 21] and cause.tolist() == [NONE, NONE, QUEUE, QUEUE]
    due, cause = crossed(hops, [0] * 3, forward=False)
    assert (due[:2] // MS).tolist() == [11, 21] and cause.tolist() == [NONE, NONE, QUEUE]


def test_a_seed_repeats_a_run_and_another_does_not() -> None:
    hops = one_way(loss=0.1, delay_ns=20 * MS, jitter_ns=3 * MS)
    first, again, other = (crossed(hops, spread(5000), seed=seed) for seed in (7, 7, 8))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[1], other[1]) and not np.array_equal(first[0], other[0])
    there, back = (
        crossed([hops[0] | {"reverse": hops[0]["forward"]}], spread(5000), forward=f) for f in (1, 0)
    )
    assert not np.array_equal(there[1], back[1])


def test_losses_do_not_change_the_delays_of_other_packets() -> None:
    at_ns = spread(5000, 100 * MS)
    keys = {"delay_ns": 20 * MS, "jitter_ns": 3 * MS}
    clear, _ = crossed(one_way(**keys, jitter_reorders=True), at_ns)
    faded = [{"at_ns": 100 * S, "lasts_ns": 50 * S}]
    due, cause = crossed(one_way(**keys, jitter_reorders=True, fades=faded, loss=0.0), at_ns)
    assert np.array_equal(due[:1000], clear[:1000]) and np.all(cause[1000:1500] == FADE)


def test_packets_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="in the order of their times"):
        crossed(one_way(), [2, 1])
    with pytest.raises(ValueError, match="different lengths"):
        _native.EmulatedPath(one_way(), 1).run(
            np.zeros(2, np.int64), np.zeros(1, np.int64), np.zeros(2, bool)
        )


#: Of 20,000 packets, 1 ms apart and in turn 1,500 and 40 bytes, with seed 1: how many arrived, and how many
#: the queue, chance, bursts and fades took; then the mean delay in ms. Forward, reverse.
SHIPPED = {
    "bloat": (([5099, 14875, 26, 0, 0], 249.4), ([16434, 3566, 0, 0, 0], 134.4)),
    "cellular": (([7477, 12448, 75, 0, 0], 856.6), ([6642, 13358, 0, 0, 0], 940.9)),
    "data-centre": (([19888, 0, 112, 0, 0], 0.1), ([20000, 0, 0, 0, 0], 0.1)),
    "dsl": (([3175, 16774, 51, 0, 0], 270.7), ([19712, 288, 0, 0, 0], 114.3)),
    "fades": (([17644, 0, 0, 0, 2356], 16.3), ([20000, 0, 0, 0, 0], 16.3)),
    "far": (([19601, 0, 399, 0, 0], 96.0), ([19987, 0, 13, 0, 0], 95.9)),
    "long": (([19601, 0, 399, 0, 0], 79.8), ([20000, 0, 0, 0, 0], 79.7)),
    "overloaded": (([9152, 10848, 0, 0, 0], 35.8), ([20000, 0, 0, 0, 0], 15.3)),
    "road": (([19398, 0, 202, 0, 400], 42.8), ([19818, 0, 182, 0, 0], 41.9)),
    "satellite": (([19595, 0, 205, 0, 200], 45.0), ([20000, 0, 0, 0, 0], 22.7)),
    "slots": (([19601, 0, 399, 0, 0], 16.3), ([20000, 0, 0, 0, 0], 35.8)),
    "slow": (([3259, 16741, 0, 0, 0], 142.2), ([3259, 16741, 0, 0, 0], 142.2)),
    "steps": (([19888, 0, 112, 0, 0], 10.6), ([20000, 0, 0, 0, 0], 101.4)),
    "train": (([18605, 0, 195, 0, 1200], 49.8), ([19967, 0, 33, 0, 0], 48.5)),
    "wifi": (([17901, 0, 99, 0, 2000], 9.5), ([19987, 0, 13, 0, 0], 9.2)),
    "wired": (([19792, 0, 208, 0, 0], 16.3), ([20000, 0, 0, 0, 0], 16.3)),
}


@pytest.mark.parametrize("file", sorted((ROOT / "paths").glob("*.toml")), ids=lambda file: file.stem)
def test_each_shipped_path_gives_the_same_on_every_machine(file: Path) -> None:
    hops = emulated.hops(network_path.load(file, "emulate"))
    sizes = [1500, 40] * 10_000
    found = []
    for forward in (True, False):
        due, cause = crossed(hops, spread(20_000), sizes, forward=forward)
        arrived_ms = (due[cause == NONE] - spread(20_000)[cause == NONE]) / MS
        found.append(([int((cause == c).sum()) for c in (NONE, QUEUE, RANDOM, BURST, FADE)],
                      round(float(arrived_ms.mean()), 1)))  # fmt: skip
    assert (file.stem, tuple(found)) == (file.stem, SHIPPED.get(file.stem))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            'queue = "codel"\nrate_mbps = 3\n',
            "hop.line.forward.queue: the emulator has a droptail queue, not codel",
        ),
        (
            'jitter_ms = 3\ndistribution = "paretonormal"\n',
            "hop.line.forward.distribution: the emulator has normal, uniform",
        ),
        (
            "[sender_queue]\nrate_mbps = 2\nqueue_ms = 900\n",
            "sender_queue: the emulator gets packets after they have left the sender",
        ),
    ],
)
def test_what_the_emulator_cannot_do_is_one_line(more: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        hops_of(f"[hop.line]\ndelay_ms = 9\n{more}", tmp_path)
    assert caught.value.exit_code == 2 and str(caught.value).startswith(f"{tmp_path}/mine.toml: {says}")


def test_a_path_file_has_keys_for_the_emulator_alone(tmp_path: Path) -> None:
    text = "[hop.line]\ndelay_ms = 9\n[emulate]\nhop.line.delay_ms = 4\n[lab]\nhop.line.delay_ms = 5\n"
    assert hops_of(text, tmp_path)[0]["forward"]["delay_ns"] == 4 * MS
