# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the tables of experiments/hwang2018 on the classifier that learns online, with invented runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from experiments.hwang2018 import online
from experiments.hwang2018.sample import CALLS, Sample
from experiments.lib.runs import Run

ENDS = (100.0, 200.0)


def transfers(sender: str, *mbps: float) -> Iterator[Run]:
    """Yield runs of two seeds in which `sender` transfers at the rates `mbps` in the periods that end at
    `ENDS`."""
    for seed in (401, 402):
        mbit = 0.0
        for start, end, rate in zip((0.0, *ENDS), ENDS, mbps, strict=False):
            mbit += rate * (end - start)
            labels = {"variant": sender, "duration_s": end}
            metrics = {"goodput_mbps": mbit / end} | dict.fromkeys(CALLS, float(seed - 400))
            yield Run("ns3", "online", "quick", "linux", seed, seed, labels, metrics=metrics)


def test_goodput_of_a_period_follows_from_two_runs() -> None:
    found = Sample.of([*transfers("ml-online", 2.0, 4.5), *transfers("ml-history", 3.0, 5.0)])
    rows = {row[0]: [cell.split(" ")[0] for cell in row[1:]] for row in online.by_period(found, ENDS)}
    assert rows == {"ML-TCP, online": ["2.00", "4.50"], "ML-TCP, history": ["3.00", "5.00"]}
    assert online.late(found, ENDS)["ml-history"].value == pytest.approx(0.9)
    assert online.losses(found.at("ml-online", duration_s=100.0)) == {"least": 4, "mean": 6, "most": 8}


def harm(sender: str, rate: float, beside: int, **metrics: float) -> Iterator[Run]:
    for seed in (401, 402):
        labels = {
            "variant": sender,
            "topology.loss_rate": rate,
            "load.beside": beside,
            "topology.queue": "codel",
        }
        yield Run("ns3", "online-harm", "quick", "linux", seed, seed, labels, metrics=metrics)


def test_conditions_compare_with_the_right_sender() -> None:
    clean = {"goodput_mbps": 2.0, "queue_dropped_packets": 8.0, "mean_rtt_ms": 50.0}
    shared = {"beside_goodput_mbps": 4.0, "jain_index": 0.5}
    found = Sample.of(
        [
            *harm("newreno", 0.0, 0, **clean),
            *harm("ml-online", 0.0, 0, **(clean | {"mean_rtt_ms": 60.0})),
            *harm("newreno", 0.0, 1, **clean, **shared),
            *harm("ml-online", 0.0, 1, **clean, **(shared | {"beside_goodput_mbps": 2.0})),
        ]
    )
    alone, beside = ([cell.split(" ")[0] for cell in row] for row in online.clean(found))
    assert alone[-5:] == ["1.00", "1.00", "1.20", "", ""] and beside[-2:] == ["0.50", "1.00"]

    of = {"newreno": 1.0, "westwood": 2.0, "ml-history": 4.0, "oracle": 8.0, "ml-online": 4.0}
    runs = [
        run
        for name, goodput in of.items()
        for run in harm(
            name, 0.01, 1, goodput_mbps=goodput, drops_per_1000=goodput, beside_goodput_mbps=goodput
        )
    ]
    ((_, *cells),) = online.lossy(Sample.of(runs))
    assert [cell.split(" ")[0] for cell in cells] == ["4.00", "2.00", "1.00", "0.50", "0.51", "1.00", "0.50"]


def test_senders_in_the_kernel_have_their_decisions_and_costs() -> None:
    def lab(sender: str, mbps: float, **metrics: float) -> Iterator[Run]:
        for number in (0, 1):
            measured = {"goodput_mbps": mbps + number, **metrics}
            yield Run("lab", "lab-online-1e-2", "full", sender, number, number, metrics=measured)

    counts = dict(zip(CALLS, (40.0, 3.0, 2.0, 1.0), strict=True))
    cost = {"instructions_per_decision": 4281.2, "instructions_per_ack": 394.5}
    found = Sample.of([*lab("reno+online", 3.0, **counts, **cost), *lab("reno+none", 1.5)])
    ours, plain = online.in_kernel(found)
    assert ours[0] == "ML-TCP, online" and plain[0] == "NewReno"
    assert ours[2].startswith("1.79 (") and plain[2] == ""  # √(3/1.5 · 4/2.5)
    assert ours[3:] == ["80", "6", "4", "2", "4,281", "394"] and set(plain[3:]) == {""}
