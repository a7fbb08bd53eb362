# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test, in the lab's virtual machine, the properties of the kernel module other than its timers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tcplearn import algorithms
from tcplearn.errors import FailedError, UserError
from tcplearn.lab import check, machine

PROMISES = 44


def _kept(lines: list[str]) -> int:
    return sum(line.endswith(" ok") for line in lines)


EACH_LOSS = {f"{side}/1-{lost}" for side in ("active", "passive") for lost in ("syn", "syn-ack")}


def _losses_by_policy(lines: list[str]) -> dict[str, set[str]]:
    """Return, by startup policy, which losses of a handshake were tried at both ends."""
    tried: dict[str, set[str]] = {}
    for line in lines:
        for side in ("/active", "/passive"):
            policy, found, case = line.partition(":")[0].partition(side)
            if found:
                tried.setdefault(policy, set()).add(found[1:] + case)
    return tried


@pytest.mark.full
def test_startup_under_every_policy(with_python: machine.Machine) -> None:
    tried = _losses_by_policy(check.check_startup(with_python))
    assert all(
        tried[name] >= EACH_LOSS
        for name in ("stock", *(info.name for info in algorithms.available(algorithms.STARTUP)))
    )


def test_startup_after_a_lost_handshake_packet(with_python: machine.Machine) -> None:
    """Test lost handshake packets at both ends: the log, TCP_INFO and the first flight must match the core.
    Most presets have one case, because the golden vectors test their windows."""
    lines = check.check_startup(with_python, few=True)
    tried = _losses_by_policy(lines)
    assert {"stock", *(info.name for info in algorithms.available(algorithms.STARTUP))} == set(tried)
    for name in ("stock", "tsl/3-16", "tsl-feedback"):
        assert tried[name] >= EACH_LOSS
    assert "tsl/3-16/passive/1-syn-ack: IW 3, ssthresh 16 ok" in lines
    # by whether the client's SYN, sent again too, has taken a second SYN-ACK before the handshake ends
    assert {f"stock/passive/1-syn-ack: IW {iw}, ssthresh none ok" for iw in (1, 10)} & set(lines)
    known = "tsl-feedback/passive/1-syn-ack/known-place"
    assert f"{known}: IW 1, ssthresh 2 ok" in lines, "a place never became bad"
    assert lines[-1] == f"{known}: IW 3, ssthresh 16 ok", "it was not forgotten"


def test_a_connection_that_began_otherwise_is_named() -> None:
    log = {"policy": "tsl/3-16", "took_us": 1_030_000, "iw": 3, "ssthresh": 2, "loss": 1, "passive": 0}
    seen = {
        "case": {"policy": "tsl/3-16", "side": "active", "lost": "syn", "count": 1, "timestamps": True},
        "log": {**log, "resends": 1, "retransmitted": 1},
        "info": {"cwnd": 3, "ssthresh": 16},
        "first_flight": 10,
        "fresh": True,
        "at_us": 1,
    }
    assert check.startups_compared([json.dumps(seen)]) == [
        "tsl/3-16/active/1-syn: IW 3, ssthresh 2, the core answers 3 and 16; 10 segments in the first flight"
    ]


def test_a_check_that_fails_is_named(with_python: machine.Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    left = {"results": "one ok\ntwo it is not so\n", "warnings": "WARNING: here\n"}
    monkeypatch.setattr(check, "run_check", lambda *_, **__: left)
    with pytest.raises(FailedError, match=r"packets: two it is not so; the kernel warned: WARNING: here"):
        check.check_packets(with_python)


@pytest.mark.full
def test_packet_scripts(with_python: machine.Machine) -> None:
    lines = check.check_packets(with_python)
    names = {line.split("/", 1)[0] for line in lines}
    assert len(names) >= 40
    for arm in ("reno", "cubic", "tl-reno+linux", "tl-cubic+linux"):  # stock, and as stock
        assert sum(line.endswith(f"/{arm} ok") for line in lines) == len(names)


@pytest.mark.full
@pytest.mark.parametrize("kernel", ["6.1", "6.12", "7.3"])
def test_promises_on_each_kernel(kernel: str) -> None:
    assert "bad_lines 0" in check.run("vectors", kernel)
    lines = check.run("module", kernel)
    assert _kept(lines) == PROMISES and "loads_without_debugfs ok" in lines
    sizes = {words[0]: int(words[1]) for line in lines if (words := line.split())[-1] == "B"}
    assert len(sizes) > 10 and max(sizes.values()) < 8192


def test_a_storm_without_one_of_its_operations_fails(
    ready: machine.Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    round_1 = "round 1: opened 9 switched 8 multipath 1 encrypted 2 mapped 3 repaired 0 stopped 4 charged 5"
    left = {"storm": f"{round_1}\nrounds 1\n", "resends": ""}
    monkeypatch.setattr(check, "run_check", lambda *_, **__: left)
    monkeypatch.setattr(check, "_resend_differences", lambda _: "resend_differences 0")
    with pytest.raises(FailedError, match="smp: nothing was repaired"):
        check.check_smp(ready)


@pytest.mark.full
def test_storm_on_four_processors() -> None:
    """Test a storm of connections on four processors. Its output is not repeatable, because the host decides
    the order of the processors."""
    lines = check.run("smp", seconds=5)
    assert "processors 4" in lines and any(line.startswith("round 1: opened ") for line in lines)


def test_a_kernel_that_is_not_supported_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no kernel '5\.10'; there are 6\.1, 6\.12, 7\.3"):
        machine.prepare(tmp_path, kernel="5.10")
