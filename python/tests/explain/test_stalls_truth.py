# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test experiments/stalls, which finds the true cause of a stall from captures at both ends of a
connection."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import PLACES, SCENES
from scenes import Truth as Known
from talk import Talk, pcap_of

from experiments.lib.pages import ROOT
from experiments.lib.runs import Run
from experiments.stalls import PAGES, causes, packets, score
from experiments.stalls.truth import Stall

_FUNCTIONS = {"tail_timer": "tcp_retransmit_timer", "tail_probe": "tcp_send_loss_probe"}


def _run_of(folder: Path, scene: str) -> tuple[Known, list[Stall]]:
    """Write the files that a run of the lab would leave of `scene`, and return the scene's known truth and
    the stalls that experiments/stalls finds."""
    known = SCENES[scene](Talk())
    (folder / "pcap").mkdir()
    for place, where in PLACES.items():
        talk = Talk(place=where)
        SCENES[scene](talk)
        score.capture_of(folder, place).write_bytes(pcap_of(talk))
    (folder / "clocks").write_text("0\n")
    (folder / "resends").write_text(_trace(folder, known.cause))
    return known, score.true_of(folder, request=200, answer=1)


def _trace(folder: Path, cause: str) -> str:
    """Write the trace that the kernel would have made of each retransmission."""
    lines = []
    for place, port in (("client", 40_000), ("server", 80)):
        seen: set[int] = set()
        for p in packets.read(score.capture_of(folder, place)):
            if p.flow[1] != port or not p.size:
                continue
            if p.seq in seen:
                when = f"{p.us // 1_000_000}.{p.us % 1_000_000:06d}"
                ports = f"sport={p.flow[1]} dport={p.flow[3]}"
                lines.append(f" <idle>-0 [000] ..s2. {when}: tcp_retransmit_skb: family=AF_INET {ports}")
                lines.append(f" => {_FUNCTIONS.get(cause, 'tcp_xmit_recovery')}")
            seen.add(p.seq)
    return "\n".join(lines)


@pytest.mark.parametrize("scene", SCENES)
def test_truth_of_both_ends(tmp_path: Path, scene: str) -> None:
    known, stalls = _run_of(tmp_path, scene)
    (mine,) = (s for s in stalls if known.cause in s.causes)
    assert mine.by == ("server" if known.by_server else "client")
    assert mine.duration_us == pytest.approx(known.duration_us, abs=3000)


@pytest.mark.parametrize("scene", ["request_lost", "answer_lost", "slow_server"])
def test_verdicts_and_page(tmp_path: Path, scene: str) -> None:
    """Test that each stall has one verdict at each place, and that a stall does not count where it is not
    visible."""
    known, true = _run_of(tmp_path, scene)
    series = {}
    for place, seen_from in zip(PLACES, causes.PLACES, strict=True):
        file = score.capture_of(tmp_path, place)
        (verdict,) = score.verdicts(true, score.said_of(file, packets.begins_us(file)), place)
        assert verdict.true == known.cause
        assert verdict.counts == (place in known.seen_at)
        assert verdict.said == (known.cause if verdict.counts else score.NONE)
        numbers = (causes.NAMES.index(verdict.true), causes.NAMES.index(verdict.said))
        row = (*numbers, verdict.true_ms, verdict.said_ms, float(verdict.counts))
        named = zip(causes._COLUMNS, row, strict=True)
        series |= {f"{seen_from}.{column}": [value] for column, value in named}
    run = Run("lab", "stalls", "thin-30", "x", 0, 1, metrics={"stalls": 1.0}, series=series)
    page = tmp_path / "page" / "causes.md"
    PAGES["causes"].write([run], ROOT / "experiments" / "stalls", page)
    assert "| `thin-30` | 1 | 100.0 % | 100.0 % |" in page.read_text()
