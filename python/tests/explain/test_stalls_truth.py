# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""experiments/stalls: the truth from captures at both ends of connections whose stall is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import SCENES
from talk import CLIENT, MIDDLE, SERVER, Talk, pcap_of

from experiments.lib.pages import ROOT
from experiments.lib.runs import Run
from experiments.stalls import PAGES, causes, packets, score, truth

_FUNCTIONS = {"tail_timer": "tcp_retransmit_timer", "tail_probe": "tcp_send_loss_probe"}


def _ends(folder: Path, scene: str) -> list[packets.Connection]:
    """Captures of a scene at each place, and its connection as both ends tell it."""
    for name, place in (("client", CLIENT), ("middle", MIDDLE), ("server", SERVER)):
        talk = Talk(place=place)
        SCENES[scene](talk)
        (folder / f"{name}.pcap").write_bytes(pcap_of(talk))
    ends = [packets.read(folder / f"{name}.pcap")[0] for name in ("client", "server")]
    return list(packets.connections(*ends))


def _trace(found: list[packets.Connection], cause: str) -> str:
    """What the kernel would have traced of each copy."""
    lines = []
    for stream in (found[0].client, found[0].server):
        seen: set[int] = set()
        for p in stream.data:
            if p.seq in seen:
                when = f"{p.us // 1_000_000}.{p.us % 1_000_000:06d}"
                ports = f"sport={p.flow[1]} dport={p.flow[3]}"
                lines.append(f" <idle>-0 [000] ..s2. {when}: tcp_retransmit_skb: family=AF_INET {ports}")
                lines.append(f" => {_FUNCTIONS.get(cause, 'tcp_xmit_recovery')}")
            seen.add(p.seq)
    return "\n".join(lines)


@pytest.mark.parametrize("scene", SCENES)
def test_truth_of_both_ends(tmp_path: Path, scene: str) -> None:
    known = SCENES[scene](Talk())
    found = _ends(tmp_path, scene)
    why = truth.reasons(_trace(found, known.cause), 0)
    stalls = truth.stalls(found, why, request=200, answer=1)
    mine = [s for s in stalls if known.cause in s.causes]
    assert len(mine) == 1
    assert mine[0].by == ("server" if known.by_server else "client")
    assert mine[0].duration_us == pytest.approx(known.duration_us, abs=3000)


@pytest.mark.parametrize("scene", ["request_lost", "answer_lost", "slow_server"])
def test_verdicts_and_page(tmp_path: Path, scene: str) -> None:
    """Each stall has one verdict at each place; what left no trace does not count."""
    known = SCENES[scene](Talk())
    found = _ends(tmp_path, scene)
    true = truth.stalls(found, truth.reasons(_trace(found, known.cause), 0), request=200, answer=1)
    series = {}
    for place, name in zip(causes.PLACES, ("client", "middle", "server"), strict=True):
        (verdict,) = score.verdicts(tmp_path / f"{name}.pcap", found, true, at_client=name == "client")
        assert verdict.true == known.cause
        assert verdict.counts == (name in known.seen_at)
        assert verdict.said == (known.cause if verdict.counts else score.NONE)
        numbers = (causes.NAMES.index(verdict.true), causes.NAMES.index(verdict.said))
        row = (*numbers, verdict.true_ms, verdict.said_ms, float(verdict.counts))
        series |= {f"{place}.{column}": [value] for column, value in zip(causes._COLUMNS, row, strict=True)}
    run = Run("lab", "stalls", "thin-30", "x", 0, 1, metrics={"stalls": 1.0}, series=series)
    page = tmp_path / "page" / "causes.md"
    PAGES["causes"].write([run], ROOT / "experiments" / "stalls", page)
    assert "| `thin-30` | 1 | 100.0 % | 100.0 % |" in page.read_text()
