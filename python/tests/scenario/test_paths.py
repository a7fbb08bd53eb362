# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test path description files: which keys a file may have, and that each program (lab, ns-3, emulate) either
runs the path or prints one line that says what it does not support."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from samples import ROOT
from tcplearn.errors import UserError
from tcplearn.lab import guest
from tcplearn.lab import scenario as lab
from tcplearn.scenario import path as network_path
from tcplearn.simulate import run_job
from tcplearn.simulate import scenario as simulation

PATHS = sorted((ROOT / "paths").glob("*.toml"))
HOME = ROOT / "examples" / "path" / "home.toml"
THIN = ROOT / "ns3" / "scenarios" / "thin.toml"

LINE = """
name = "mine"
[hop.line]
delay_ms = 10
forward = { rate_mbps = 4, loss_percent = 1 }
"""


def in_the_lab(folder: Path, path: Path, more: str = "") -> lab.Scenario:
    """Return a lab scenario of requests over the path file `path`, with further settings `more`."""
    file = folder / "lab-scenario.toml"
    file.write_text(f'name = "x"\npath = "{path}"\n{more}[transfer]\nrequests = {{}}\n')
    return lab.load(file)


def in_ns3(folder: Path, path: Path, more: str = "", vary: str = "") -> list[simulation.Run]:
    file = folder / "ns3-scenario.toml"
    file.write_text(
        f'extends = "{THIN}"\nname = "x"\n[scenario]\npath = "{path}"\n'
        f"[grid]\nseeds = 1\nvariants = []\nvary = {{ {vary} }}\n{more}"
    )
    return simulation.runs(file, "full")


def topology(folder: Path, text: str) -> dict[str, Any]:
    """Return the topology that the ns-3 program gets for the path file with the content `text`."""
    file = folder / "mine.toml"
    file.write_text(text)
    (run,) = in_ns3(folder, file)
    given: dict[str, Any] = run_job.job(run, 1.0).arguments[0]["topology"]
    return given


def script(folder: Path, text: str) -> str:
    file = folder / "mine.toml"
    file.write_text(text)
    return guest.script(in_the_lab(folder, file), 0)


@pytest.mark.parametrize("path", [*PATHS, HOME], ids=lambda path: path.stem)
def test_every_shipped_path_runs_in_both_hosts(path: Path, tmp_path: Path) -> None:
    chosen = in_the_lab(tmp_path, path)
    assert chosen.path.name == path.stem and chosen.path.title
    assert "qdisc c" in guest.script(chosen, 0)
    (run,) = in_ns3(tmp_path, path)
    assert run_job.job(run, 1.0).arguments[0]["topology"]["kind"] == "path"


@pytest.mark.parametrize(
    ("host", "more", "says"),
    [
        ("lab", "[hop.line.forward]\ntail_ms = 3\n", "hop.line.forward.tail_ms: the lab has no exponential"),
        (
            "lab",
            "[hop.line]\npolicer_mbps = 1\npolicer_kb = 9\n",
            "hop.line.forward.policer_mbps: the lab has no policer",
        ),
        (
            "ns3",
            "[sender_queue]\nrate_mbps = 2\nqueue_ms = 900\n",
            "sender_queue: ns-3 does not tell its TCP which segments still wait",
        ),
        (
            "lab",
            "[hop.line]\nreorder_percent = 1\nreorder_ms = 3\n",
            "hop.line.forward.reorder_percent: the lab has no",
        ),
        (
            "lab",
            '[hop.line.reverse]\nbursts = { kind = "time", good_ms = 900, bad_ms = 20 }\n',
            "hop.line.reverse.bursts.kind: the lab has no bursts in time",
        ),
        (
            "lab",
            "[hop.line]\ndelay_ms = 0\njitter_ms = 3\n",
            "hop.line.forward.jitter_ms: the lab needs a delay",
        ),
        (
            "lab",
            '[[change]]\nhop = "line"\nat_s = 1\nlasts_s = 1\nevery_s = 9\n'
            "forward = { jitter_ms = 2, delay_ms = 0 }\n",
            "hop.line.forward.jitter_ms: the lab needs a delay_ms",
        ),
        (
            "lab",
            '[[change]]\nhop = "line"\nat_s = 1\nlasts_s = 1\nevery_s = 9\nforward = { delay_ms = 9 }\n'
            '[[fade]]\nhop = "line"\nat_s = 1\nlasts_s = 1\nevery_s = 8\n',
            "change: the lab needs one every_s for all changes and fades of hop.line.forward",
        ),
        (
            "lab",
            '[drawn_fades]\nhop = "line"\nlasts_s = [0.2, 2]\napart_s = 9\n',
            "drawn_fades.sides: the lab draws fades of the forward direction only",
        ),
        (
            "lab",
            '[hop.line]\nqueue = "codel"\nqueue_bytes = 30000\nrate_mbps = 3\n',
            "hop.line.forward.queue_bytes: the lab limits a codel queue in packets",
        ),
        ("ns3", "[hop.air]\ndelay_ms = 3\n", "hop: ns-3 has one hop with a queue, not 2"),
        (
            "ns3",
            '[hop.line]\njitter_ms = 3\ndistribution = "paretonormal"\n',
            "hop.line.forward.distribution: ns-3 has normal, uniform",
        ),
        (
            "ns3",
            '[hop.line.reverse]\nrate_mbps = 3\nqueue = "codel"\n',
            "hop.line.reverse.queue: ns-3 has a droptail queue",
        ),
        (
            "ns3",
            '[hop.line.reverse]\ntrace = "t"\n',
            "hop.line.reverse.trace: ns-3 follows a trace in the forward",
        ),
    ],
)
def test_what_a_host_cannot_do_is_one_line(host: str, more: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("5\n10\n")
    base = tmp_path / "base.toml"
    base.write_text('name = "base"\n[hop.line]\ndelay_ms = 10\nforward = { rate_mbps = 4 }\n')
    file = tmp_path / "mine.toml"
    file.write_text(f'extends = "base.toml"\n{more}')
    with pytest.raises(UserError) as caught:
        in_the_lab(tmp_path, file) if host == "lab" else in_ns3(tmp_path, file)
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{file}: {says}")
    if "queue_bytes" not in more:  # which neither can
        assert in_ns3(tmp_path, file) if host == "lab" else in_the_lab(tmp_path, file)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("delay_ms", "delai_ms", "hop.line.delai_ms: no such key; did you mean delay_ms"),
        ("rate_mbps = 4", 'rate_mbps = "4mbit"', "hop.line.forward.rate_mbps: should be a valid number"),
        ("rate_mbps = 4", "rate_mbps = 20_000", "hop.line.forward: rate_mbps: 0.008 to 10000, or inf"),
        ("rate_mbps = 4", 'queue = "codel"', "hop.line.forward: queue codel needs a rate_mbps"),
        ("rate_mbps = 4", "queue_ms = 100", "hop.line.forward: queue_ms needs a rate_mbps"),
        (
            "rate_mbps = 4",
            "queue_ms = 9, queue_bytes = 9000, rate_mbps = 4",
            "are one limit; give one of them",
        ),
        ("loss_percent = 1", "loss_percent = 101", "hop.line.forward.loss_percent: should be less than or"),
        ("loss_percent = 1", "reorder_ms = 1", "reorder_percent and reorder_ms go together"),
        ("loss_percent = 1", "policer_kb = 9", "policer_mbps and policer_kb go together"),
        ("loss_percent = 1", "slot_ms = [9, 3]", "slot_ms: the least and the most between two slots"),
        (
            "loss_percent = 1",
            'loss_percent = 1, bursts = { kind = "packets", to_bad_percent = 1, to_good_percent = 9 }',
            "hop.line.forward: loss_percent and bursts are two loss models",
        ),
        ("loss_percent = 1", 'bursts = { kind = "tide" }', "bursts.kind: no 'tide'"),
        ("[hop.line]", "[hopp.line]", "hopp: no such key; did you mean hop"),
        (
            "[hop.line]",
            "[sender_queue]\nrate_mbps = 10000\nqueue_ms = 9000\n[hop.line]",
            "sender_queue: queue_ms: 4 GiB or more",
        ),
        (
            "[hop.line]",
            '[[fade]]\nhop = "lime"\nat_s = 1\n[hop.line]',
            "names the hop 'lime'; there are line",
        ),
        (
            "[hop.line]",
            '[[fade]]\nhop = "line"\nat_s = 9\nlasts_s = 2\nevery_s = 10\n[hop.line]',
            "fade.0: at_s and lasts_s together are more than the period",
        ),
        (
            "[hop.line]",
            '[[change]]\nhop = "line"\nat_s = 9\nreverse = { rate_mbps = 2 }\n[hop.line]',
            "a change of hop 'line': reverse has no rate_mbps to change",
        ),
        (
            "[hop.line]",
            '[drawn_fades]\nhop = "line"\nlasts_s = [2, 1]\napart_s = 9\n[hop.line]',
            "drawn_fades: lasts_s: the shortest and the longest",
        ),
    ],
)
def test_a_mistake_in_a_path_file_is_one_line(old: str, new: str, says: str, tmp_path: Path) -> None:
    assert old in LINE
    file = tmp_path / "mine.toml"
    file.write_text(LINE.replace(old, new, 1))
    for load in (in_the_lab, in_ns3):
        with pytest.raises(UserError, match=re.escape(says)) as caught:
            load(tmp_path, file)
        assert "\n" not in str(caught.value) and str(caught.value).startswith(f"{file}: ")


def test_a_key_of_a_hop_holds_for_both_directions_unless_one_has_its_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'name = "mine"\n[hop.line]\nrate_mbps = 8\nqueue_packets = 50\ndelay_ms = 10\n'
        "forward = { queue_ms = 30 }\nreverse = { rate_mbps = inf, delay_ms = 20 }\n"
        "[lab]\nhop.line.reverse.loss_percent = 3\n"
    )
    (hop,) = network_path.load(file, "lab").hops
    assert (hop.forward.rate_mbps, hop.forward.delay_ms, hop.reverse.delay_ms) == (8, 10, 20)
    assert hop.forward.limit_packets == 20 and hop.reverse.limit_packets == 50  # 30 ms at 8 Mbit/s
    assert not hop.reverse.has_rate and hop.reverse.loss_percent == 3
    assert network_path.load(file, "ns3").hops[0].reverse.loss_percent == 0


def test_a_scenario_lays_its_own_keys_over_a_path_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(LINE)
    (tmp_path / "base.toml").write_text(
        'name = "x"\npath = "mine.toml"\n[profiles.p]\npath.hop.line.delay_ms = 30\n'
    )
    over = tmp_path / "over.toml"
    over.write_text('extends = "base.toml"\npath = { hop.line.forward.loss_percent = 2 }\n')
    (hop,) = lab.load(over, "p").path.hops
    assert (hop.forward.loss_percent, hop.forward.delay_ms, hop.forward.rate_mbps) == (2, 30, 4)
    # one that names a file replaces all of it
    over.write_text(f'extends = "base.toml"\npath = "{HOME}"\n')
    assert lab.load(over).path.hops[0].forward.rate_mbps == 5


def test_a_sweep_varies_paths_and_keys_of_them(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(LINE)
    vary = f'path = ["mine.toml", "{HOME}"], "path.hop.line.reverse.delay_ms" = [5, 40]'
    runs = in_ns3(tmp_path, tmp_path / "mine.toml", vary=vary)
    assert [tuple(run.labels.values()) for run in runs] == [
        ("mine", 5), ("mine", 40), ("home", 5), ("home", 40)
    ]  # fmt: skip
    assert [run.scenario.topology.rtt_ms for run in runs] == [15, 50, 17, 52]  # type: ignore[union-attr]
    # a path in place of a topology
    (tmp_path / "y.toml").write_text(
        f'extends = "{ROOT / "experiments" / "hwang2018" / "common.toml"}"\nname = "y"\n[grid]\nseeds = 1\n'
        'variants = []\nset = { path = "mine.toml" }\n'
    )
    (instead,) = simulation.runs(tmp_path / "y.toml", "full")
    assert instead.scenario.topology.rtt_ms == 20  # type: ignore[union-attr]
    draw = '[grid.draw]\n"path.hop.line.forward.loss_percent" = { of = [0.25] }\n'
    (drawn,) = in_ns3(tmp_path, tmp_path / "mine.toml", draw)
    assert drawn.scenario.path and drawn.scenario.path.hops[0].forward.loss_percent == 0.25
    for key, says in (
        ("path.hop.lime.delay_ms", "no such key to set; did you mean path.hop.line"),
        ("path.hop.line.delai_ms", "scenario.path.hop.line.delai_ms: no such key; did you mean delay_ms"),
        ("topology.queue_packets", "the scenario has a path; give a key of it"),
    ):
        with pytest.raises(UserError, match=re.escape(says)):
            in_ns3(tmp_path, tmp_path / "mine.toml", f'[grid.set]\n"{key}" = 1\n')


def test_dates_of_changes_and_fades_become_states_in_the_lab(tmp_path: Path) -> None:
    text = (
        LINE + '[[change]]\nhop = "line"\nat_s = 2\nlasts_s = 6\nevery_s = 20\nforward = { delay_ms = 50 }\n'
    )
    text += '[[fade]]\nhop = "line"\nat_s = 4\nlasts_s = 4\nevery_s = 20\nsides = "forward"\n'
    text += '[[fade]]\nhop = "line"\nat_s = 30\nlasts_s = 1\nsides = "reverse"\n'
    dated = [line for line in script(tmp_path, text).splitlines() if line.startswith("(sleep")]
    found = [
        (m[1], re.findall(r"dev (\w+) root netem limit 100000 ([^;]*)", line))
        for line in dated
        if (m := re.match(r"\(sleep ([\d.]+);", line))
    ]
    assert found == [
        ("2", [("r2", "delay 50ms loss 1%")]),
        ("4", [("r2", "delay 50ms loss 100%")]),
        ("8", [("r2", "delay 10ms loss 1%")]),  # both end
        ("30", [("l1", "delay 10ms loss 100%) &")]),
        ("31", [("l1", "delay 10ms) &")]),
    ]
    assert all("while" in line and "sleep 20; done" in line for line in dated[:3])
    assert all("while" not in line for line in dated[3:])


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("normal", "delay 10ms 2ms distribution normal"),
        ("uniform", "delay 10ms 2ms"),  # netem has no table of this name: it is its own without one
        ("uniform-above", "delay 12ms 2ms"),
    ],
)
def test_the_lab_draws_jitter_as_netem_names_it(tmp_path: Path, kind: str, words: str) -> None:
    jitter = f'delay_ms = 10\njitter_ms = 2\ndistribution = "{kind}"\n'
    found = [
        line
        for line in script(tmp_path, f'name = "mine"\n[hop.line]\n{jitter}').splitlines()
        if " delay " in line
    ]
    assert found and all(line.endswith(words) for line in found)


def test_ns3_keeps_its_own_form_where_a_path_is_alike_both_ways(tmp_path: Path) -> None:
    alike = 'name = "mine"\n[hop.line]\nrate_mbps = 4\ndelay_ms = 10\n'
    alike += 'jitter_ms = 2\ndistribution = "uniform-above"\n'
    given = topology(tmp_path, alike)
    assert given["moving"]["jitter_ms"] == 2 and "described" not in given
    for other in (
        "reverse = { delay_ms = 11 }\n",
        "forward = { slot_ms = [1, 2] }\n",
        '[[fade]]\nhop = "line"\nat_s = 1\nlasts_s = 1\n',
        '[[change]]\nhop = "line"\nat_s = 1\nlasts_s = 1\nevery_s = 3\nforward = { delay_ms = 20 }\n',
    ):
        given = topology(tmp_path, alike + other)
        assert given["described"]["forward"]["rate_mbps"] == 4 and "moving" not in given
        assert given["loss_rate"] == 0
