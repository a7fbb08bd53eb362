# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test requests on one persistent connection, and the resend policies that time them in the kernel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scenario_text import ONE_HOP, refused

from samples import ROOT
from tcplearn import metrics as vocabulary
from tcplearn.lab import guest, requests, run, scenario
from tcplearn.traces import tlog, tlog_records, tlog_resends

SCENARIOS = ROOT / "linux" / "lab" / "scenarios"
POLICIES = ("priced", "priced/spaced")


@pytest.mark.parametrize(
    ("name", "settings"), [("thin-wired", True), pytest.param("thin-steps", False, marks=pytest.mark.full)]
)
def test_every_wait_in_the_kernel_is_the_cores(tmp_path: Path, name: str, settings: bool) -> None:
    chosen = scenario.load(SCENARIOS / f"{name}.toml", "smoke")
    if not settings:  # the arms with other settings of stock have the same waits on each path
        ours = chosen.algorithms.model_copy(update={"rto_min_ms": [0], "settings": []})
        chosen = chosen.model_copy(update={"algorithms": ours})
    finished = run.run(chosen, run.Options(out=tmp_path))
    value = {(row["algorithm"], row["metric"]): row["value"] for row in finished.rows}
    assert chosen.transfer.requests
    count = chosen.transfer.requests.count
    for policy in POLICIES:
        arm = f"cubic+{policy}"
        assert value[arm, "resend_events"] >= 2 * count and value[arm, "resend_differences"] == 0
        assert value[arm, "instructions_per_ack"] + value[arm, "instructions_per_sending"] < 2500
    for arm in guest.arms(chosen, 0):
        times = requests.responses_ms(finished.folders[0] / arm.folder)
        assert len(times) == count and value[arm.name, "longest_response_ms"] == times.max()
    assert all(vocabulary.known(row["metric"], vocabulary.LAB) for row in finished.rows)


def _logged(waits: list[tuple[int, int]]) -> bytes:
    """Return a log of transmissions, each with its ACK 30 ms later, and with the policy's waits `waits`."""
    out = b""
    for number, (event, wait_us) in enumerate(waits):
        record = np.zeros(1, tlog_records.RESEND_RECORD)
        record["magic"], record["type"] = tlog_records.MAGIC, tlog_records.RESEND
        record["size"], record["record"] = record.itemsize, number
        record["time_us"], record["event"], record["wait_us"] = 1000 + 30_000 * number, event, wait_us
        record["probe"] = event == tlog_records.SENT
        record["out_segments"] = event == tlog_records.SENT
        record["rtt_us"] = 30_000 if event == tlog_records.ACKED else 0
        out += record.tobytes()
    return out


def test_a_wait_that_the_core_does_not_give_is_counted() -> None:
    right = [(tlog_records.SENT, 1_000_000), (tlog_records.ACKED, 0), (tlog_records.SENT, 230_000)]
    for events, differences in ((right, 0), ([*right[:2], (tlog_records.SENT, 230_001)], 1)):
        connection = tlog.parse(_logged(events)).connections[0]
        assert len(connection.resends) == 3 and connection.lost == 0
        assert tlog_resends.differences(connection, "stock") == differences


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('[algorithms]\nresends = ["prized"]', "no resend policy 'prized'"),
        ('[algorithms]\nresends = ["priced:price=1"]', "has no parameter 'price'"),
        ('[algorithms]\nresends = ["priced"]\nloss = ["mlp"]', "two sets of algorithms"),
        ("[transfer]\nrequests = { count = 0 }", r"requests\.count: should be greater"),
        ('[transfer]\nby = "nginx"\nrequests = { count = 9 }', "requests: by send, not nginx"),
        ("[transfer]\nrequests = {}\nrepeat = {}", "repeat and requests are two ways"),
        ('[transfer]\nrequests = { on = "pigeon" }', r"requests\.on"),
        ('[algorithms]\nsettings = ["frto"]', "settings"),
        ('[algorithms]\nsettings = ["linear"]\nloss = ["mlp"]', "two sets of algorithms"),
    ],
)
def test_a_mistake_about_requests_is_one_line(tmp_path: Path, more: str, message: str) -> None:
    refused(tmp_path, f"{ONE_HOP}{more}\n", message)


def test_slots_need_a_delay_and_an_order(tmp_path: Path) -> None:
    refused(tmp_path, f"{ONE_HOP}slot_ms = [10, 60]\n", "slot_ms: the lab needs a delay_ms")
    for slots in ("[60, 10]", "[0, 10]"):
        refused(tmp_path, f"{ONE_HOP}delay_ms = 5\nslot_ms = {slots}\n", "slot_ms: the least and the most")


def test_a_path_of_thin_flows_is_in_the_script() -> None:
    def script(name: str, profile: str = "full") -> str:
        return guest.script(scenario.load(SCENARIOS / f"thin-{name}.toml", profile), 0)

    assert "delay 15ms slot 10ms 60ms" in script("slots")
    assert "transfer answer 5002 1000 50 &" in script("delayed-acks")
    assert "net.ipv4.tcp_timestamps=0" in script("no-timestamps")
    assert "tcp_timestamps" not in script("wired")
    for setting in ("tcp_recovery=0", "tcp_thin_linear_timeouts=1"):
        assert script("wired").count(setting) == 1
    assert "30 1 stream'" in script("wired", "stream") and "100 1 fresh'" in script("wired", "fresh")
    assert "resend_places" not in script("wired", "fresh")
    assert script("wired", "inherit").count("resend_places=1") == 5  # each arm forgets the one before
    arms = guest.arms(scenario.load(SCENARIOS / "thin-wired.toml"), 0)
    assert len(arms) == 10 and [arm.name for arm in arms if not arm.tlp] == ["cubic+stock+no-rack"]


def test_an_estimator_and_a_policy_are_one_arm() -> None:
    chosen = scenario.load(SCENARIOS / "cost-together.toml")
    names = {arm.name for arm in guest.arms(chosen, 0)}
    assert {"cubic+priced", "cubic+priced+conformal", "cubic+priced/spaced+tracking"} < names


@pytest.mark.parametrize(
    "on", ["stream", *(pytest.param(on, marks=pytest.mark.full) for on in ("fresh", "inherit"))]
)
def test_each_request_has_its_response_time(tmp_path: Path, on: str) -> None:
    chosen = scenario.load(SCENARIOS / "thin-wired.toml", on)
    few = chosen.transfer.model_copy(
        update={"requests": chosen.transfer.requests.model_copy(update={"count": 30})}  # type: ignore[union-attr]
    )
    ours = chosen.algorithms.model_copy(update={"rto_min_ms": [], "settings": [], "resends": ["priced"]})
    one = chosen.runs.model_copy(update={"count": 1})
    chosen = chosen.model_copy(update={"transfer": few, "algorithms": ours, "runs": one})
    finished = run.run(chosen, run.Options(out=tmp_path))
    assert not finished.failures
    value = {row["metric"]: row["value"] for row in finished.rows}
    times_ms = requests.responses_ms(finished.folders[0] / "cubic+priced+tlp-on")
    assert len(times_ms) == 30 and times_ms.min() > (15 if on == "stream" else 35)
    assert value["requests"] == 30 and value["ss.data_segs_out"] >= 30
    # what a connection inherited is not in its log
    assert value.get("resend_differences") == (None if on == "inherit" else 0)


def test_other_scenarios_have_no_line_of_resends() -> None:
    assert "resend" not in guest.script(scenario.load(SCENARIOS / "idle.toml"), 0)
