# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test forecasts made from a capture under the stock setting against simulations of the same path under the
forecast setting, and the advice that follows."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest
import thin
from scenes import SCENES
from talk import RTT_US, SERVER, Talk, explained
from thin import slowest

from tcplearn.explain import Explained, advice, candidates, forecast, tables
from tcplearn.explain.answers import Figure, Forecast
from tcplearn.explain.candidates import ALL, STOCK
from tcplearn.output.numbers import milliseconds

REQUESTS, LOSS = 4000, 0.02
PRICED = thin.spec_of("priced")


def _first(found: Explained) -> Forecast | None:
    """Return the forecast for a setting at the end whose stalls cost most, or None."""
    return next(forecast.of_each(found), None)


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> tuple[Explained, list[float]]:
    talk = Talk()
    times = thin.traffic(talk, 1, REQUESTS, LOSS)
    return explained(tmp_path_factory.mktemp("stock"), talk), times


def test_response_times_are_those_of_the_traffic(stock: tuple[Explained, list[float]]) -> None:
    found, times = stock
    assert found.requests["response_ms"].to_list() == pytest.approx(times, abs=0.1)


@pytest.mark.parametrize("name", [STOCK, "rto_min 5 ms", "rto_min 20 ms", "rto_min 100 ms", "priced"])
def test_forecast_against_the_same_path(stock: tuple[Explained, list[float]], name: str) -> None:
    found, _ = stock
    told = _first(found)
    assert told is not None and told.by == ("client",)
    spec = thin.spec_of(name)
    measured = [thin.traffic(Talk(), seed, REQUESTS, LOSS, spec) for seed in (2, 3)]
    outlook = told.of(name)
    assert outlook.slowest_ms == pytest.approx(np.mean([slowest(times) for times in measured]), rel=0.12)
    p99 = outlook.figures["p99_response_ms"]
    assert p99.low <= p99.value <= p99.high
    assert p99.value == pytest.approx(np.mean([np.quantile(times, 0.99) for times in measured]), rel=0.12)


@pytest.mark.parametrize("name", ["rto_min 5 ms", "priced"])
def test_a_setting_learns_from_its_own_waits(tmp_path: Path, name: str) -> None:
    """Test that the forecast for a setting goes on after a loss as if this setting, not the sender's longer
    timer, had repaired it. Without timestamps, the time until a retransmitted segment is acknowledged decides
    how long the next wait is, and one request in twenty is lost right after another."""
    talk = Talk(stamped=False)
    thin.traffic(talk, 1, REQUESTS, 0.05, tick_us=4000)
    told = _first(explained(tmp_path, talk))
    assert told is not None
    spec = thin.spec_of(name)
    measured = [
        slowest(thin.traffic(Talk(stamped=False), seed, REQUESTS, 0.05, spec, tick_us=4000))
        for seed in (2, 3, 4)
    ]
    assert told.of(name).slowest_ms == pytest.approx(np.mean(measured), rel=0.1)


def short(folder: Path, connections: int, seed: int, spec: str = "stock") -> tuple[Explained, list[float]]:
    """Simulate connections to one server, one after another, with one or two requests each. Return the result
    of `explain` and the true response times."""
    talks, times = [], []
    for k in range(connections):
        talk = Talk(port=10_000 + k, rtt_us=thin.RTT_US)
        times += thin.traffic(talk, seed + k, 1 + k % 2, 0.05, spec, 0, begin_us=700_000 * k)
        talks.append(talk)
    return explained(folder, *talks), times


def test_short_connections_are_judged_together(tmp_path: Path) -> None:
    """Test that short connections to a server are forecast together. Each begins as under the stock setting,
    with the RTT of its handshake, so that the first request of a connection counts."""
    found, _ = short(tmp_path, 600, 0)
    told = _first(found)
    assert told is not None and told.stalls > 20
    assert told.fit == pytest.approx(1, abs=0.02) and told.fit_error < 0.02
    for name in (STOCK, "rto_min 5 ms"):
        _, times = short(tmp_path, 600, 10_000, thin.spec_of(name))
        assert told.of(name).slowest_ms == pytest.approx(slowest(times), rel=0.12)
    said = advice.of(found, told)
    assert said.chosen is not None and said.line.startswith("sudo ip route add 10.0.0.2 ")


def test_of_equivalent_settings_the_one_with_fewer_spurious_retransmissions_is_advised(
    tmp_path: Path,
) -> None:
    """Test two settings that shorten the slowest requests nearly equally: the shorter timer is advised if its
    spurious retransmissions are as few, and the longer one if they are fewer."""
    found, _ = short(tmp_path, 600, 0)
    told = _first(found)
    assert told is not None
    near = replace(told.of("rto_min 20 ms"), figures=told.of("rto_min 5 ms").figures, spurious_permille=0.0)
    for permille, name in ((0.05, "rto_min 5 ms"), (0.6, "rto_min 20 ms")):
        slow = {key: Figure(*(1.02 * x for x in astuple(one))) for key, one in near.figures.items()}
        fast = replace(told.of("rto_min 5 ms"), spurious_permille=permille)
        told.outlooks = [told.of(STOCK), fast, replace(near, figures=slow)]
        said = advice.of(found, told).chosen
        assert said is not None and said.candidate.name == name


def _in_turn(
    seed: int, of_each: int, spec: str, *, remembers: bool = False, opened_at_once: bool = False
) -> tuple[list[Talk], list[float]]:
    """Simulate connections to one server that are used one after another. Return them and all response times.
    If `remembers`, a connection begins with what the timer of the one before has learned."""
    talks, times = [], []
    timer = thin.Longest(spec)
    # a capture of a connection that is idle for more than five minutes is read as two connections
    for k in range((1350 if opened_at_once else 2400) // of_each):
        talk = Talk(port=10_000 + k, rtt_us=thin.RTT_US)
        at_us = 200_000 * of_each * k
        begin_us, idle_us = (1000 * k, at_us) if opened_at_once else (at_us, 0)
        times += thin.traffic(
            talk,
            1000 * seed + k,
            of_each,
            0.02,
            spec,
            begin_us=begin_us,
            idle_us=idle_us,
            earlier=timer if remembers else None,
        )
        talks.append(talk)
    return talks, times


@pytest.mark.parametrize("opened_at_once", [False, True])
def test_a_connection_begins_with_what_was_learned_before_it_began(
    tmp_path: Path, opened_at_once: bool
) -> None:
    """Test the forecast for `priced` where each connection to a host has too few requests to learn from. As
    under `tcplearn live`, a connection begins with what the last closed one had learned. In a pool, whose
    connections are all opened at the beginning, it begins with nothing."""
    talks, _ = _in_turn(8, 15, STOCK, opened_at_once=opened_at_once)
    told = _first(explained(tmp_path, *talks))
    assert told is not None
    kept, forgotten, stock = (
        np.mean([slowest(_in_turn(seed, 15, spec, remembers=remembers)[1]) for seed in (2, 3, 4)])
        for spec, remembers in ((PRICED, True), (PRICED, False), (STOCK, False))
    )
    assert kept < 0.8 * forgotten
    # relative to the stock setting, because the number of losses differs by chance
    gain = told.of("priced").slowest_ms / told.of(STOCK).slowest_ms
    assert gain == pytest.approx((forgotten if opened_at_once else kept) / stock, rel=0.2)


def test_stock_is_what_was_seen(stock: tuple[Explained, list[float]]) -> None:
    told = _first(stock[0])
    assert told is not None
    assert told.fit == pytest.approx(1, abs=0.02) and told.fit_error < 0.02
    seen, its = told.seen.figures, told.of(STOCK).figures
    assert its["p99_response_ms"].value == pytest.approx(seen["p99_response_ms"].value, rel=0.02)


@pytest.mark.parametrize("tick_us", [4000, 10_000])
def test_timers_fire_on_ticks_that_the_senders_own_waits_tell(tmp_path: Path, tick_us: int) -> None:
    talk = Talk()
    thin.traffic(talk, 1, 1000, 0.04, tick_us=tick_us)
    told = _first(explained(tmp_path, talk))
    assert told is not None
    assert told.fit == pytest.approx(1, abs=0.006)
    measured = thin.traffic(Talk(), 2, 1000, 0.04, "stock:rto_min_us={5000}", tick_us=tick_us)
    p99 = told.of("rto_min 5 ms").figures["p99_response_ms"].value
    assert p99 == pytest.approx(np.quantile(measured, 0.99), rel=0.03)


def test_what_is_lost_twice_by_chance_is_lost_twice_under_any_timer(tmp_path: Path) -> None:
    """Test forecasts at 15 % loss, where the slowest requests are those whose retransmission was lost too."""
    talk = Talk()
    thin.traffic(talk, 1, 2000, 0.15, tick_us=4000)
    told = _first(explained(tmp_path, talk))
    assert told is not None
    spec = "stock:rto_min_us={5000}"
    measured = [thin.traffic(Talk(), seed, 2000, 0.15, spec, tick_us=4000) for seed in (2, 3)]
    assert told.of("rto_min 5 ms").slowest_ms == pytest.approx(np.mean([*map(slowest, measured)]), rel=0.15)


def test_spurious_resends_are_counted_on_every_flight(tmp_path: Path) -> None:
    """Test that the forecast counts spurious retransmissions on every flight: on a path with jitter, a short
    timer fires needlessly as often as the forecast says."""
    talk, set_ = Talk(), Talk()
    thin.traffic(talk, 1, 2000, 0.01, jitter=0.35)
    thin.traffic(set_, 2, 2000, 0.01, "stock:rto_min_us={5000}", jitter=0.35)
    (tmp_path / "set").mkdir()
    told = _first(explained(tmp_path, talk))
    found = explained(tmp_path / "set", set_)
    was = found.connections["client_needless_segments"].sum()
    assert told is not None and was > 4
    seen = _first(found)
    assert seen is not None and tuple(seen.by) == ("client",)
    assert seen.seen.spurious_permille == 1000 * was / found.connections["client_segments"].sum()
    assert told.of("rto_min 5 ms").spurious_permille == pytest.approx(was / 2, rel=0.5)
    assert told.of(STOCK).spurious_permille < 1


def unanswered(talk: Talk, spec: str, requests: int = 200) -> int:
    """Simulate requests. The answer to each tenth is lost, with its ACK, on the way to the client, and the
    server's timer retransmits it. Meanwhile the client's timer, the resend policy `spec`, retransmits the
    request until an ACK comes. Return the number of its copies."""
    policy, copies = thin.Longest(spec), 0
    now = talk.open(0)
    policy.ack(now, talk.rtt_us, 0, thin.FIRST)
    for k in range(requests):
        asked, answered, half_us = 1 + 200 * k, 1 + k, talk.rtt_us // 2
        lost = k % 10 == 9
        wait, _ = policy.send(now, 1)
        talk.client(now, asked, 200, answered)
        talk.answer(now + half_us, answered, 1, asked + 200, lost=0.9 if lost else None)
        heard_us, at = now + talk.rtt_us, now
        if lost:
            heard_us = now + half_us + talk.rtt_us + 200_000 + half_us
            while at + wait < heard_us:
                at += wait
                copies += 1
                talk.client(at, asked, 200, answered)
                talk.answer(at + half_us, answered + 1, 0, asked + 200, blocks=((asked, asked + 200),))
                heard_us = min(heard_us, at + talk.rtt_us)
                wait, _ = policy.timer(at, 1)
            talk.answer(now + half_us + talk.rtt_us + 200_000, answered, 1, asked + 200)
        policy.ack(heard_us, talk.rtt_us, 0, thin.FIRST)
        now += 600_000
    talk.close(now, 1 + 200 * requests, 1 + requests)
    return copies


def test_one_copy_is_enough_if_only_the_answer_was_lost(tmp_path: Path) -> None:
    """Test that the forecast stops a setting's retransmissions when the ACK of its first copy would have
    come, although the sender's own, longer timer made it wait for that ACK for longer."""
    talk = Talk()
    assert unanswered(talk, "stock") == 20
    assert unanswered(Talk(), thin.spec_of("rto_min 5 ms")) == 20
    found = explained(tmp_path, talk)
    by_client = {
        one.name: found.connections[f"client_spurious_{k}"].sum() for k, one in enumerate(ALL) if one.spec
    }
    assert by_client["rto_min 5 ms"] == 20 == by_client[STOCK]


def test_the_advice_is_a_line_to_type(stock: tuple[Explained, list[float]]) -> None:
    found, _ = stock
    said = advice.of(found, _first(found))
    assert said.chosen is not None and not said.needs
    assert said.line.startswith("sudo ip route add 10.0.0.2 $(ip -o route get 10.0.0.2")
    assert said.line.endswith(said.chosen.candidate.name.replace(" ms", "ms"))
    assert said.undo == "sudo ip route del 10.0.0.2"
    assert said.where == "the client (10.0.0.1)"
    text = " ".join(said.sentences)
    assert (
        "99 of 100 requests should take at most" in text
        and " ms (95 % interval: " in text
        and "It costs" in text
        and "To undo" in text
    )


@pytest.mark.parametrize(("ms", "shorter"), [(5, False), (100, True)])
def test_now_is_what_was_seen(tmp_path: Path, ms: int, shorter: bool) -> None:
    """Test a capture whose sender already has a shorter timer than stock Linux: the forecast finds this
    setting, expects no gain from it, and lists stock as an alternative."""
    talk = Talk()
    times = thin.traffic(talk, 1, 1500, 0.03, f"stock:rto_min_us={{{ms}000}}", tick_us=4000)
    found = explained(tmp_path, talk)
    told, said = found.forecast, found.advice
    assert told is not None and said is not None
    assert told.in_force == f"rto_min {ms} ms" and told.fit == pytest.approx(1, abs=0.02)
    assert told.of(STOCK).slowest_ms > 1.2 * slowest(times)
    assert (said.chosen is not None) == shorter
    if shorter:
        text = " ".join(said.sentences)
        assert f"ms on average, now {milliseconds(slowest(times))}." in text
        assert f"now {milliseconds(float(np.quantile(times, 0.99)))} (" in text
    else:
        assert said.why.startswith("the sender already waits as with rto_min 5 ms; ")
        assert said.why.endswith("; what would help is fewer losses")
    assert (
        f"In the median stall the model of rto_min {ms} ms waits 1.00 times as long"
        in tables.forecasts(told).legend
    )


@pytest.mark.parametrize(
    ("scene", "why"),
    [
        ("slow_server", "the server itself takes that long"),
        ("window_closed", "the server reads too slowly"),
        ("delayed_ack", "TCP_NODELAY"),
        ("pausing_client", "the client itself takes that long"),
        ("request_lost", "too few to judge"),
        ("lost_in_the_middle", "fast retransmits already"),
    ],
)
def test_nothing_to_gain_and_why(tmp_path: Path, scene: str, why: str) -> None:
    talk = Talk()
    SCENES[scene](talk)
    found = explained(tmp_path, talk)
    said = advice.of(found, _first(found))
    assert said.chosen is None
    assert why in said.why


def test_a_calm_connection(tmp_path: Path) -> None:
    talk = Talk(place=SERVER)
    talk.exchanges(talk.open(), 30)
    found = explained(tmp_path, talk)
    assert _first(found) is None
    assert "round trips and transfer" in advice.of(found, None).why
    assert found.total.response_ms["median_response_ms"] == pytest.approx(RTT_US / 1e3, abs=0.1)


_ONE = "via 10.9.0.2 dev d0"
_TWO = "nexthop via 10.9.0.2 dev d0 weight 1 nexthop via 10.9.0.3 dev d0 weight 2"


@pytest.mark.parametrize("before", [STOCK, "rto_min 20 ms"])
@pytest.mark.parametrize(
    ("to", "hops", "link"),
    [
        ("", _ONE, "up"),
        ("", _ONE, "down"),
        ("", _TWO, "up"),
        ("192.0.2.7", _ONE, "up"),
        ("192.0.2.7", _TWO, "up"),
    ],
)
def test_the_lines_do_and_undo_what_they_say(to: str, hops: str, link: str, before: str) -> None:
    """Test that the advised commands make and undo a setting, in a network namespace whose default route is
    as DHCP writes it or has two hops, whose link may be down, and which may have a setting already."""
    line, undo = (text.replace("sudo ", "") for text in candidates.lines(ALL[1], to, before))
    had = "rto_min 20ms" if before != STOCK else ""
    host = f"ip route add {to} via 10.9.0.2 dev d0 {had};" if to and had else ""
    script = (
        f"ip link add d0 type veth peer name d1; ip link set d1 {link}; ip link set d0 up;"
        "ip addr add 10.9.0.1/24 dev d0;"
        f"ip route add default proto dhcp src 10.9.0.1 metric 100 {had} {hops};{host}"
        f"ip route >before; {line}; ip route >set; {undo}; ip route >after; cat set; cmp before after"
    )
    with tempfile.TemporaryDirectory() as folder:
        command = ["unshare", "--net", "sh", "-ec", script]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            pytest.skip("there is no unshare")
    if "unshare failed" in done.stderr or "Operation not permitted" in done.stderr:
        pytest.skip("a network of its own is not permitted")
    assert done.returncode == 0, done.stderr
    changed = next(line for line in done.stdout.splitlines() if line.startswith(to or "default"))
    assert "rto_min lock 5ms" in changed, done.stdout
    assert ("nexthop" in done.stdout) == (hops is _TWO)
    assert ("linkdown" in done.stdout) == (link == "down")
