# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the verdict on the best timer: the rule of docs/metrics.md on invented rows and on realistic
captures."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import short_flows
from samples import ROOT
from tcplearn import estimators
from tcplearn.cli import main
from tcplearn.output.rows import TOTAL
from tcplearn.replay import replay, sentences, verdict
from tcplearn.replay.row import Row
from tcplearn.replay.verdict import Verdict, Waits

CAPTURE = ROOT / "examples" / "captures" / "access-link.pcap.gz"
REQUESTS = CAPTURE.with_name("requests.pcap.gz")


def row(name: str, spurious: int, wait_ms: float, samples: int = 10_000, **more: float) -> Row:
    values = {
        verdict.SPURIOUS: spurious,
        "mean_rto_ms": wait_ms,
        "mean_abs_error_ms": wait_ms / 50,
        **more,
    }
    return Row(TOTAL, TOTAL, name, "double", samples, samples >= 30, "", values)


def decided(*rows: Row, waits: Waits | None = None) -> Verdict:
    found = verdict.of(rows, 1, waits or {})
    assert found is not None
    return found


def said(found: Verdict) -> str:
    return " ".join(sentences.of(found))


LINUX, STANDARD = row("linux", 2, 300), row("jacobson/rfc6298", 0, 1000)


def test_the_shortest_wait_of_timers_with_few_spurious_timeouts() -> None:
    found = decided(row("a", 10, 100), row("b", 11, 50), LINUX, STANDARD)
    assert found.allowed == 10
    assert [r.estimator for r in found.rows] == ["a", "linux", "jacobson/rfc6298", "b"]
    assert [r.estimator for r in found.equal] == ["a"]
    assert found.refused is not None and found.refused.estimator == "b"
    assert said(found).startswith(
        "Best RTO for this traffic: a. In 10,000 samples a has 10 spurious timeouts, Linux 2, RFC 6298 none."
    )
    assert (
        "b has a shorter RTO (50.0 ms), but too many spurious timeouts: 11, where 10 would be allowed."
        in said(found)
    )
    # what Linux's timer does is no fault of another
    assert decided(row("b", 40, 50), row("linux", 40, 300)).equal[0].estimator == "b"


def test_nobody_wins_where_the_intervals_overlap() -> None:
    rows = row("a", 5, 100), row("b", 1, 120), row("c", 0, 140), LINUX
    waits = {"a": {"b": (0.9, 1.5), "c": (1.1, 1.7)}, "linux": {"b": (0.3, 0.5)}}
    found = decided(*rows, waits=waits)
    assert [r.estimator for r in found.equal] == ["a", "b"]
    assert found.lead is not None and found.lead.estimator == "b"  # it fires less
    text = said(found)
    assert text.startswith("Best RTOs for this traffic: a and b. Which of them is best cannot be told")
    assert "60 % less than Linux's, more than chance (95 % interval: 50 to 70 %)" in text
    close = decided(row("a", 0, 100), row("b", 0, 104), LINUX)
    assert [r.estimator for r in close.equal] == ["a", "b"]


def test_a_difference_from_linux_that_may_be_chance() -> None:
    found = decided(row("a", 0, 270), LINUX, waits={"linux": {"a": (0.7, 1.1)}, "a": {"linux": (0.9, 1.4)}})
    assert found.lead is not None and found.lead.estimator == "linux"
    assert said(found).startswith(
        "No RTO compared suits this traffic better than Linux's. a would have done as well. Whether a"
    )
    slower = decided(row("a", 0, 100), LINUX, waits={"linux": {"a": (0.2, 1.1)}})
    assert ": 67 % less than Linux's, which may be chance." in said(slower)


def test_a_wait_beyond_the_standard_s_least_is_not_called_best() -> None:
    found = decided(row("slow", 0, 5600), row("b", 65, 60))
    assert said(found).startswith(
        "No RTO compared suits this traffic: slow waits longer than RFC 6298's least"
    )
    assert "Best" not in said(found)


def test_linux_s_own_if_all_shorter_timers_have_too_many_spurious_timeouts() -> None:
    found = decided(row("a", 99, 100), LINUX, STANDARD)
    assert said(found).startswith("No RTO compared suits this traffic better than Linux's. Whether a setting")
    assert (
        "a has a shorter RTO (100 ms), but too many spurious timeouts: 99, where 10 would be allowed."
        in said(found)
    )


def test_few_samples_tell_nothing() -> None:
    few = decided(*(row(n, 0, w, samples=55) for n, w in (("a", 100), ("linux", 300))))
    assert not few.known
    assert said(few).startswith("Which timer is best cannot be told on 55 samples: at least 300 are needed.")
    assert "Next: capture for longer" in sentences.todo(few, everything=False)
    assert len(sentences.of(decided(row("a", 0, 100, samples=12)))) == 1
    some = decided(*(row(n, 0, w, samples=600) for n, w in (("a", 100), ("linux", 300))))
    assert (
        "In 600 samples a and Linux have no spurious timeout; so few samples still allow one in 200."
        in said(some)
    )
    assert sentences.of(None) == ["Which timer is best cannot be told: no flow has enough samples."]


def test_a_timer_that_probes_too_often() -> None:
    linux = row("linux", 2, 300, spurious_probes=7)
    found = decided(row("a", 0, 50, spurious_probes=108), row("b", 0, 100, spurious_probes=107), linux)
    assert [r.estimator for r in found.equal] == ["b"] and found.allowed_probes == 107
    assert (
        "a has a shorter RTO (50.0 ms), but too many spurious probes: 108, where 107 would be allowed."
        in said(found)
    )


def test_losses_say_how_much_sooner() -> None:
    def noticed(a_ms: float, linux_ms: float) -> str:
        """Return the sentence on how soon losses are noticed. A timer alone would take much longer."""
        seen = {"losses": 3, "loss_detect_rto_ms": 900, "loss_detect_actual_ms": 119}
        times = ((row, "a", 100, a_ms), (row, "linux", 300, linux_ms))
        rows = [make(name, 0, wait, loss_detect_rack_ms=ms, **seen) for make, name, wait, ms in times]
        return next(line for line in sentences.of(decided(*rows)) if "notices" in line)

    assert noticed(120, 320) == (
        "It notices the 3 losses after 120 ms, 200 ms sooner than Linux; the sender took 119 ms."
    )
    assert "after 119 ms, as soon as Linux" in noticed(119, 119)
    assert "after 150 ms, 30.0 ms later than Linux" in noticed(150, 120)


def test_the_prediction_comes_last_and_may_be_chance() -> None:
    ends = {"mean_abs_error_ratio_low": 0.4, "mean_abs_error_ratio_high": 0.9}
    sure = decided(row("a", 0, 100, **ends), LINUX)
    assert sentences.of(sure)[-1] == "a predicts the RTT best: its mean error is 2.00 ms (Linux 6.00 ms)."
    ends["mean_abs_error_ratio_high"] = 1.1
    assert sentences.of(decided(row("a", 0, 100, **ends), LINUX))[-1].endswith("ms), which may be chance.")


def alone(name: str, samples: int, *best: str, **spurious: int) -> verdict.Alone:
    return verdict.Alone(name, samples, 1, best, {"a": 0, "linux": 0, **spurious})


def test_flows_that_disagree_are_named() -> None:
    found = decided(row("a", 3, 100), LINUX)
    assert "best in" not in said(replace(found, alone=(alone("x", 400, "a"), alone("y", 400, "linux", "a"))))
    other = alone("10.0.0.1:1 > 10.0.0.2:2", 400, "linux", a=3)
    text = said(replace(found, alone=(alone("x", 9000, "a"), other)))
    assert "Linux is best in 10.0.0.1:1 > 10.0.0.2:2, where a has 3 spurious timeouts." in text
    assert "Other timers" not in text
    # first of several: where the timer fires too often, not where another one merely waits less
    several = (alone("x", 9000, "b", b=0), other, alone("z", 400, "a"))
    text = said(replace(found, alone=several))
    assert "Other timers are best in 2 of 3 flows judged alone; Linux is best in 10.0.0.1:1 > " in text


def test_a_flow_is_judged_by_the_same_rule() -> None:
    rows = [row(n, f, w, samples=400) for n, f, w in (("a", 3, 100), ("b", 1, 104), ("linux", 0, 300))]
    found = verdict.alone(rows, "x", lambda base: {})
    assert found is not None and found.best == ("b",) and found.refuses("a") and not found.refuses("b")
    assert verdict.alone([replace(r, samples=299) for r in rows], "x", lambda base: {}) is None


def test_a_part_and_a_requested_rate_are_said() -> None:
    timer = row("a:miss=0.001", 3, 110, rto_miss_rate_requested=0.001, rto_miss_rate_before=0.0012)
    found = decided(timer, row("b", 3, 100), LINUX)
    assert "requested" not in said(found) and "could be read" not in said(found)
    text = said(replace(found, requested=("a:miss=0.001",), part=True))
    assert (
        "a:miss=0.001: 0.12 % of samples exceed the RTO just before them, 0.1 % requested; it has 3 spurious "
        "timeouts and a mean RTO of 110 ms." in text
    )
    assert sentences.of(replace(found, part=True))[1] == (
        "This answer covers only the part that could be read: see the warnings."
    )


def test_no_timer_suits() -> None:
    assert "No RTO compared suits this traffic" in said(decided(row("a", 99, 100), row("b", 50, 90)))
    alone = decided(row("a", 1, 100))
    assert said(alone).startswith("Only one estimator was compared: a.")
    assert "add -e linux" in sentences.todo(alone, everything=False)


def run(*words: str | Path) -> str:
    """Return the output that `tcplearn replay` writes to a pipe."""
    raw = io.BytesIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(raw, encoding="utf-8")):
        assert main(["replay", *map(str, words)]) == 0
        return raw.getvalue().decode()


def test_two_hundred_samples_in_twenty_flows_are_a_table(tmp_path: Path) -> None:
    path = short_flows.write(tmp_path / "short.pcap", 20)
    out = run(path)
    assert out.startswith("Which timer is best cannot be told on 200 samples")
    assert "all flows together  200 samples in 20 flows, each too short to judge alone" in out
    assert all(f"\n{name} " in out for name in estimators.DEFAULTS)
    rows = json.loads(run(path, "--format", "json"))
    totals = [r for r in rows if r["flow"] == TOTAL]
    assert len(rows) == 21 * 6 and len(totals) == 6 and all(r["judged"] for r in totals)
    assert all(r["mean_rto_linux_ratio_low"] for r in totals)
    many = run(short_flows.write(tmp_path / "many.pcap", 60))
    assert many.startswith("Best ")
    one = run(short_flows.write(tmp_path / "one.pcap", 1))
    assert "cannot be told on 10 samples" in one and "---" not in one


def test_the_shipped_capture_names_the_flow_that_disagrees() -> None:
    timers = ("last", "jacobson", "jacobson/rfc6298", "linux", "tracking/first", "conformal/first")
    out = " ".join(run(CAPTURE, *(word for name in timers for word in ("-e", name))).split())
    assert "jacobson is best in 10.0.1.2:43184 > 10.0.5.2:5002." in out
    assert "In 9,482 samples tracking/first has 1 spurious timeout, Linux and RFC 6298 none." in out


def test_a_requested_rate_is_beside_the_rate_just_before() -> None:
    out = run(CAPTURE, "--miss", "0.001")
    assert "conformal:miss=0.001: 0.137 % of samples exceed the RTO just before them, 0.1 % requested" in out
    head = out[: out.index("-----")].splitlines()[-2:]
    assert head[0].split()[-3:] == ["miss", "%", "error"] and head[1].split()[-2:] == ["before", "mean"]
    assert "miss=0.001" not in run(CAPTURE, "-e", "linux", "-e", "conformal")


def test_what_breaks_off_is_judged_in_part(tmp_path: Path) -> None:
    whole = gzip.decompress(CAPTURE.read_bytes())
    pings = "".join(
        f"64 bytes from 192.0.2.1: icmp_seq={i} ttl=55 time={20 + i % 7}.0 ms\n" for i in range(900)
    )
    cut = {"a.pcap": whole[:300_001], "a.pcap.gz": CAPTURE.read_bytes()[:100_000]}
    cut["ping.gz"] = gzip.compress(pings.encode())[:-20]
    for name, data in cut.items():
        (tmp_path / name).write_bytes(data)
        out = run(tmp_path / name)
        assert "\nThis answer covers only the part that could be read: see the warnings.\n" in out, name
    (tmp_path / "whole").write_text(pings)
    assert "part that" not in run(tmp_path / "whole")


def test_the_totals_decide_and_not_the_largest_flow() -> None:
    done = replay.run([CAPTURE])
    found = done.verdict
    assert found is not None and found.flows == 3
    assert found.samples == sum(r.samples for r in done.rows) / len(done.totals)
    for beside in found.beside:
        assert beside.interval is not None and beside.interval[0] <= beside.ratio <= beside.interval[1]
    of_linux = next(r for r in done.totals if r is not None and r.estimator == "tracking")
    low, high = of_linux["mean_rto_linux_ratio_low"], of_linux["mean_rto_linux_ratio_high"]
    assert low is not None and high is not None and low < (of_linux["mean_rto_linux_ratio"] or 0) < high


def test_the_verdict_is_that_of_a_sender_with_probes_and_of_its_own_packets() -> None:
    """Test that the verdict is for a sender with tail loss probes, from its own packets. The kernel that sent
    the capture's packets counted 28 probes (requests.txt)."""
    done = replay.run([REQUESTS])
    linux = next(r for r in done.totals if r.estimator == verdict.LINUX)
    own, modelled, alone = (linux[f"loss_detect_{key}_ms"] or 0 for key in ("actual", "rack", "rto"))
    assert modelled == pytest.approx(own, rel=0.05) and alone > 1.5 * own
    assert linux["spurious_timeouts"] and not linux[verdict.SPURIOUS]
    said = sentences.of(done.verdict)
    assert "Whether a setting would help, tcplearn explain says." in said[0]
    assert "In 2,348 samples Linux and RFC 6298 have no spurious timeout" in said[1]
    assert any(f"after {modelled:.0f} ms, " in s and f"sender took {own:.0f} ms" in s for s in said)


def test_the_initial_rto_is_in_no_mean() -> None:
    """Test that the initial RTO does not count in mean RTOs: each connection begins with a SYN-ACK, whose RTO
    is one second because there was no sample before."""
    done = replay.run([REQUESTS], replay.Options(estimators=("linux",)))
    total = done.totals[0]
    assert total["handshakes"] == 24 == done.verdict.flows
    assert 230 < (total["mean_rto_ms"] or 0) < 240
    for row in done.rows:
        assert row["handshakes"] == 1 and (row["mean_rto_ms"] or 0) < 300


@pytest.mark.parametrize("rank", ["timer", "error"])
def test_one_screen_of_the_shipped_capture(rank: str) -> None:
    import os
    import pty

    leader, follower = pty.openpty()
    import termios

    termios.tcsetwinsize(follower, (24, 80))
    command = [sys.executable, "-m", "tcplearn", "replay", str(CAPTURE), "--rank", rank]
    subprocess.run(
        command, stdout=follower, stderr=subprocess.DEVNULL, check=True, env={**os.environ, "TERM": "dumb"}
    )
    os.close(follower)
    shown = os.read(leader, 65536).decode().splitlines()
    os.close(leader)
    assert len(shown) <= 24 and max(map(len, shown)) <= 80
    assert shown[0].startswith("Best ") and "…" not in "".join(shown)


def test_six_by_default_and_all_of_before(tmp_path: Path) -> None:
    assert len(estimators.DEFAULTS) == 6 and len(estimators.ALL) == 14
    assert set(estimators.DEFAULTS) < set(estimators.ALL)
    assert {verdict.LINUX, verdict.STANDARD} < set(estimators.DEFAULTS)
    path = tmp_path / "a.csv"
    path.write_text("t_s,rtt_ms\n" + "".join(f"{i / 10},{20 + i % 7}\n" for i in range(400)))
    for words, names in (((), estimators.DEFAULTS), (("--all",), estimators.ALL)):
        rows = json.loads(run(path, *words, "--format", "json"))
        assert tuple(r["estimator"] for r in rows) == names


def test_the_first_screen_points_to_what_can_be_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(CAPTURE)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("what to set: tcplearn explain.")
