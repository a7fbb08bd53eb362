# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test scenario files: each mistake gets one line, and a correct file becomes a script."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_text import load, refused

from samples import ROOT
from tcplearn.errors import UserError
from tcplearn.lab import guest, run, scenario
from tcplearn.lab.scenario import Pages, Repeat, Requests, Transfer, Visits
from tcplearn.scenario import link_trace

GOOD = """
name = "x"
[path.hop.a]
forward = { rate_mbps = 10, queue = "codel", delay_ms = 5, bursts = BURSTS }
[path.hop.b]
[[traffic]]
enters = "a"
leaves = "b"
[runs]
count = 3
[profiles.smoke.runs]
count = 1
""".replace("BURSTS", '{ kind = "packets", to_bad_percent = 1, to_good_percent = 30 }')


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"codel"',
            '"cake"',
            r"path\.hop\.a\.forward\.queue: should be 'droptail', 'codel', 'fq-codel' or 'pie'",
        ),
        ("delay_ms = 5", "delai_ms = 5", r"hop\.a\.forward\.delai_ms: no such key; did you mean delay_ms"),
        ("delay_ms = 5", "delay_ms = -5", r"hop\.a\.forward\.delay_ms: should be greater than or equal"),
        ('leaves = "b"', 'leaves = "c"', r"traffic names the hop 'c'; there are a, b"),
        ("hop.b]", "hop.a]", r"not TOML"),
        ('enters = "a"', 'enters = "a"\nrate = "10mbps"', r"traffic\.0\.rate: '10mbps' is no rate"),
        (
            'enters = "a"',
            'enters = "a"\nrate = "200gbit"',
            r"traffic\.0\.rate: 200gbit is out of range; 8kbit to",
        ),
        ("count = 3", "count = 0", r"runs\.count: should be greater than or equal to 1"),
        (
            "10, queue",
            '10, trace = "x.toml", queue',
            r"hop\.a\.forward: a traced link has its rate",
        ),
        (
            'rate_mbps = 10, queue = "codel"',
            'trace = "x.toml"',
            r"hop\.a\.forward: .*x\.toml: not a Mahimahi link trace",
        ),
        ('rate_mbps = 10, queue = "codel"', 'trace = "none"', r"none: no such file"),
        (
            "[runs]",
            '[transfer]\nby = "wget"\n[runs]',
            r"transfer\.by: should be 'send', 'nginx', 'iperf3' or 'echo'",
        ),
        ("[runs]", "[run]", r"run: no such key; did you mean runs"),
        (
            "[runs]",
            '[algorithms]\nestimators = ["eifle"]\n[runs]',
            r"no estimator 'eifle'; did you mean eifel",
        ),
        ("count = 3", "count = ", r"not TOML"),
        (
            "[runs]",
            '[[path.change]]\nat_s = 1\nhop = "b"\nforward = { rate_mbps = 1 }\n[runs]',
            r"forward has no rate_mbps to change",
        ),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    refused(tmp_path, GOOD.replace(old, new, 1), message)


def test_profiles_lie_over_the_file(tmp_path: Path) -> None:
    assert load(tmp_path, GOOD).runs.count == 3
    assert load(tmp_path, GOOD, "smoke").runs.count == 1
    with pytest.raises(UserError, match=r"no profile 'smok'; did you mean smoke"):
        load(tmp_path, GOOD, "smok")


def test_a_queue_of_the_sender_is_on_its_own_device(tmp_path: Path) -> None:
    text = guest.script(load(tmp_path, GOOD + "[path.sender_queue]\nrate_mbps = 2\nqueue_ms = 900\n"), 0)
    assert "qdisc c0 r0 root tbf rate 2000000bit burst 3028 latency 900ms" in text


def test_queues_stand_behind_the_sender_and_delays_behind_the_queues(tmp_path: Path) -> None:
    text = guest.script(load(tmp_path, GOOD), 0)
    assert "qdisc c1 r1 root handle 1: tbf rate 10000000bit" in text
    assert "qdisc c1 r1 parent 1: handle 10: codel limit 100" in text
    assert "qdisc c2 r2 root netem limit 100000 delay 5ms loss gemodel 1% 30% 100% 0%" in text
    assert "qdisc c0 " not in text
    assert "transfer send 10.0.4.2 6000 1000000 cubic" in text  # leaves where hop b ends


def test_runs_are_interleaved_and_their_seeds_differ() -> None:
    live = scenario.load(ROOT / "experiments" / "nunes2014" / "live-1.toml")
    first = [guest.arms(live, n)[0] for n in range(6)]
    assert len(set(first)) == 6
    assert len({run.seed_of(live, n) for n in range(100)}) == 100
    assert run.seed_of(live, 0) == live.runs.seed


def test_changes_come_again(tmp_path: Path) -> None:
    change = '[[path.change]]\nat_s = 2\nlasts_s = 3\nevery_s = 15\nhop = "a"\n'
    change += "forward = { rate_mbps = 5, delay_ms = 9, loss_percent = 2 }\n[runs]"
    text = guest.script(load(tmp_path, GOOD.replace("[runs]", change)), 0)
    assert "(sleep 2; while :; do in_ns c1 tc qdisc change dev r1 root handle 1: tbf rate 5000000bit" in text
    assert (
        "in_ns c2 tc qdisc change dev r2 root netem limit 100000 delay 9ms loss 2%; sleep 15; done) &" in text
    )


def test_a_trace_becomes_rates_that_hold_for_a_step(tmp_path: Path) -> None:
    """Test a link trace with twenty packets in 100 ms, then none, then four. The trace starts again at its
    last time."""
    times = [*range(5, 101, 5), 210, 220, 230, 300]
    (tmp_path / "t").write_text("\n".join(map(str, times)))
    trace = link_trace.in_steps(tmp_path / "t", 100)
    assert trace.period_ms == 300
    burst = link_trace.BURST_BYTES
    first = (
        20 * 1500 - burst
    ) * 80  # the packet at 300 is the first of the next round, that at 100 of its step
    assert [(s.at_ms, s.rate) for s in trace.steps] == [
        (0, first),
        (100, link_trace.LOWEST_RATE),
        (200, (3 * 1500 - burst) * 80),
    ]


def test_a_traced_link_is_a_bucket_that_is_given_its_rates(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("50\n150\n160\n170\n200\n")
    text = guest.script(
        load(tmp_path, GOOD.replace('rate_mbps = 10, queue = "codel"', 'trace = "t", queue_packets = 7')), 0
    )
    assert "qdisc c1 r1 parent 1: handle 10: pfifo limit 7\n" in text
    assert "transfer pace 200 /tmp/r1 | in_ns c1 tc -batch -" in text
    assert "\n100 qdisc change dev r1 root handle 1: tbf rate" in text


def test_the_guest_has_a_function_for_each_program_of_a_workload() -> None:
    shell = "".join(path.read_text() for path in (ROOT / "linux" / "lab" / "guest").glob("*.sh"))
    kinds = (Transfer, Repeat, Requests, Visits, Pages)
    names = {kind.function.format(by=by) for kind in kinds for by in kind.programs}
    assert {"send", "nginx", "iperf3", "bursts", "requests", "echo_visits", "pages"} < names
    assert [name for name in names if f"send_{name}() {{" not in shell] == ["send"]
    assert "\nsend() {" in shell
