# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the criteria, choices and pages of experiments/hwang2018 on invented runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.hwang2018 import PAGES, choice, criteria, published, simulated, training
from experiments.hwang2018.sample import CALLS, Sample, name_of
from experiments.lib.pages import ROOT
from experiments.lib.runs import Floats, Run
from experiments.lib.statistics import Estimate

FOLDER = ROOT / "experiments" / "hwang2018"


def made_up(scenario: str, sender: str, seed: int, labels: dict[str, Any], **metrics: float) -> Run:
    labels = {"variant": sender, "timing": "every-ack"} | {
        f"topology.{key}": of for key, of in labels.items()
    }
    return Run("ns3", scenario, "quick", "linux", seed, seed, labels, metrics=metrics)


def harm(sender: str, loss_rate: float, jain: float, neighbour: float) -> Iterator[Run]:
    for seed in (401, 402):
        labels = {"loss_rate": loss_rate, "beside": 1}
        yield made_up("harm", sender, seed, labels, jain_index=jain, beside_goodput_mbps=neighbour)


def test_who_misses_what() -> None:
    found = [
        *harm("newreno", 0.0, 0.8, 2.0),
        *harm("oracle", 0.0, 0.96, 2.0),
        *harm("ml-history", 0.0, 0.9, 2.0),
        *harm("newreno", 0.01, 1.0, 3.0),
        *harm("oracle", 0.01, 1.0, 1.0),
        *harm("ml-history", 0.01, 1.0, 1.5),
        *harm("bbr", 0.01, 1.0, 2.0),
    ]
    parts = criteria.missed_by_others(Sample.of(found))
    assert (parts["jain"]["met"], parts["neighbour"]["met"]) == ([0, 1, 0], [0, 0, 1])
    rows = [[cell.split(" ")[0] for cell in row[1:]] for part in parts.values() for row in part["rows"]]
    assert rows == [["0.90", "0.96", "0.80", "1.12"], ["0.75", "0.50", "1.50"]]
    assert criteria.missed_by_others(Sample()) == {}


def test_a_criterion_shows_its_worst_condition() -> None:
    by = {"here": Estimate(1.1), "there": Estimate(0.8), "nowhere": Estimate()}
    assert criteria.judged("x", "bbr", by, 0.9) == [
        "x",
        "BBR",
        "≥ 0.9",
        "0.80",
        "there",
        "met in 1 of 2 conditions",
    ]
    assert criteria.judged("x", "bbr", by, most=1.05)[3:] == ["1.10", "here", "met in 1 of 2 conditions"]
    assert (
        criteria.judged("x", "bbr", Estimate(1.0, 0.8, 1.2), 0.9)[5]
        == "met; the limit is within the interval"
    )
    assert criteria.judged("x", "bbr", Estimate(1.2, 1.1, 1.3), most=1.05)[5] == "missed"
    assert criteria.judged("x", "bbr", Estimate(), 0.9)[3:] == ["–", "", "not run"]


def test_drops_with_random_loss_are_counted_per_delivered_packet() -> None:
    """Test the drops per delivered packet, for packets of 1250 bytes and 10 s: 1 Mbit/s delivers a
    thousand."""

    def lossy(sender: str, dropped: float, mbps: float, beside: int) -> Run:
        labels = {"loss_rate": 0.01, "beside": beside}
        metrics = {"queue_dropped_packets": dropped, "goodput_mbps": mbps, "mean_rtt_ms": 1.0}
        if beside:
            metrics |= {"beside_goodput_mbps": 1.0, "jain_index": 1.0}
        run = made_up("harm", sender, 401, labels, **metrics)
        return replace(run, parameters={"duration_s": 10.0, "tcp": {"segment_bytes": 1250}})

    found = Sample.of([
        *(lossy("newreno", 9.9, 1.0, beside) for beside in (0, 1)),
        *(lossy("westwood", 19.6, 4.0, beside) for beside in (0, 1)),
        *(lossy("oracle", 39.8, 2.0, beside) for beside in (0, 1)),
        *(lossy("ml-history", 119.7, 3.0, beside) for beside in (0, 1)),
    ])  # fmt: skip
    assert found.at("oracle", beside=0)[0].metrics["drops_per_1000"] == pytest.approx(19.9)
    alone, shared = criteria.drops(found)
    assert alone == ["alone, loss 0.01", "9.90", "4.90", "19.90", "39.90", "4.00", "2.00", "8.00"]
    assert shared[1:5] == ["4.95", "3.92", "13.27", "29.93"]  # of both transfers
    judged = {row[0]: row[2:] for row in criteria.rows(found) if row[1] == "ML-TCP, history"}
    assert judged["random loss, alone: drops per delivered packet over the oracle's"] == [
        "≤ 1.05", "2.00", "loss 0.01", "missed",
    ]  # fmt: skip
    assert judged["random loss, shared: drops per delivered packet over Westwood+'s"][1] == shared[-1]


def test_two_runs_without_drops_do_not_differ() -> None:
    def run(sender: str, mbps: float) -> Run:
        labels = {"loss_rate": 0.01, "beside": 0}
        made = made_up("harm", sender, 401, labels, queue_dropped_packets=0.0, goodput_mbps=mbps)
        return replace(made, parameters={"duration_s": 10.0, "tcp": {"segment_bytes": 1250}})

    (row,) = criteria.drops(Sample.of([run("oracle", 2.0), run("ml-history", 1.0)]))
    assert row[-2] == "1.00"


@pytest.mark.parametrize(
    ("printed", "ours", "said"),
    [
        ("0.42", Estimate(0.47, 0.45, 0.49), "not reproduced"),  # 12 % more
        ("0.42", Estimate(0.46, 0.45, 0.47), "reproduced"),  # within a tenth
        ("0.42", Estimate(0.47, 0.41, 0.53), "cannot be told"),  # in the interval
        ("0", Estimate(0.1), "not reproduced"),
        ("1.18 to 1.50", Estimate(1.30, 1.29, 1.31), "reproduced"),
        ("1.18 to 1.50", Estimate(1.70, 1.69, 1.71), "not reproduced"),
        (">1", Estimate(1.2, 1.1, 1.3), "reproduced"),
        (">1", Estimate(1.2, 0.9, 1.5), "cannot be told"),
        (">1", Estimate(0.8, 0.7, 0.9), "not reproduced"),
        ("4.7", Estimate(), "cannot be told"),
    ],
)
def test_the_verdict_on_a_printed_number(printed: str, ours: Estimate, said: str) -> None:
    assert published.verdict(printed, ours) == said


def test_every_printed_number_has_a_row_with_ours() -> None:
    def run(sender: str, rate: float, mbps: float) -> Iterator[Run]:
        for seed in (401, 402):
            made = made_up(
                "5", sender, seed, {"loss_rate": rate}, goodput_mbps=mbps, **dict.fromkeys(CALLS, 1.0)
            )
            yield replace(made, series={"cwnd_bytes": np.array([mbps, np.nan, mbps])})

    senders = (("newreno", 1.0), ("veno-5", 2.1), ("ml-hwang2018", 4.0))
    found = [*itertools.chain.from_iterable(run(name, 0.01, mbps) for name, mbps in senders)]
    found += [*itertools.chain.from_iterable(run(name, 0.0, 5.0) for name, _ in senders)]
    trained = [["", "", "", "0.970 (0.960 to 0.980)", "0.900 (0.890 to 0.910)", ""]]
    rows = list(published.rows(Sample.of(found), trained, FOLDER))
    by = {row[1]: row[3:5] for row in rows}
    assert by["accuracy on the 100 training events"] == ["0.97 (0.96 to 0.98)", "reproduced"]
    assert by["goodput at 0.01 over that without loss, NewReno"] == ["0.20 (0.20 to 0.20)", "not reproduced"]
    assert by["the same, Veno"] == ["–", "cannot be told"]  # of figure 8, which has no runs here
    assert by['mean cwnd at 0.01, Veno over NewReno ("higher")'] == ["2.10 (2.10 to 2.10)", "reproduced"]
    assert by["share of correct decisions at 0.01, Veno, β 5"] == ["0.50 (0.50 to 0.50)", "not reproduced"]
    assert len(rows) == sum(
        len((FOLDER / name).read_text().splitlines()) - 1
        for name in ("published.csv", "published-tables.csv")
    )
    assert sum(published.counted(rows).values()) == len(rows)


def test_ns3s_own_baselines_are_compared_on_the_same_seeds() -> None:
    ours = [made_up("5", "veno-5", seed, {"loss_rate": 0.01}, goodput_mbps=2.0 + seed) for seed in (401, 402)]
    ours += [made_up("5", "ml-history", 401, {"loss_rate": 0.01}, goodput_mbps=806.0)]
    theirs = [made_up("baselines", "veno-5", 401, {"loss_rate": 0.01}, goodput_mbps=201.5)]
    theirs += [made_up("baselines", "ml-history", 401, {"loss_rate": 0.01}, goodput_mbps=806.0)]
    parts = simulated.equations(Sample.of(ours), Sample.of(theirs))
    assert ["Veno, β 5", "403.00", "201.50", "2.00", "–", "–"] in parts["senders"]
    assert ["ML-TCP, history over Veno, β 5", "2.00", "4.00"] in parts["ratios"]


def calibrated(
    sender: str, goodput: float, drops: float = 100.0, jain: float = 1.0, reordered: float = 100.0
) -> list[Run]:
    conditions = [{"loss_rate": rate} for rate in (0.0, *choice.LOSSY)]
    conditions.append({"loss_rate": 0.0, "reorder_rate": choice.REORDERED})
    return [
        made_up(
            "calibration", sender, seed, {**at, "beside": beside},
            goodput_mbps=goodput,
            beside_goodput_mbps=4.0 - goodput,
            queue_dropped_packets=reordered if "reorder_rate" in at else drops,
            mean_rtt_ms=50.0,
            jain_index=jain,
        )
        for at, beside, seed in itertools.product(conditions, (0, 1), (1, 2))
    ]  # fmt: skip


@pytest.mark.parametrize("harm", [{"drops": 106.0}, {"jain": 0.94}, {"reordered": 106.0}])
def test_the_most_goodput_without_harm_is_chosen(harm: dict[str, float]) -> None:
    base = [*calibrated("newreno", 1.0), *calibrated("oracle", 2.0)]
    mild, bold = calibrated("history-35", 1.5), calibrated("history-40", 1.8, drops=104.0)
    worse = calibrated("history-50", 1.9, **harm)
    found = Sample.of([*base, *mild, *bold, *worse])
    among = choice.candidates(found, "history-")
    assert [one.is_harmless for one in among] == [True, True, False]
    best = choice.chosen(among)
    assert best is not None and best.value == 0.4
    assert best.goodput[-1].value == pytest.approx(0.9) and best.neighbour.value == pytest.approx(1.1)
    assert [row[-1] for row in choice.table(found, "history-")] == ["", "chosen by the rule", "does harm"]
    assert choice.candidates(Sample.of([*base, *mild, *bold[:-1]]), "history-") == []  # a run is missing
    mild[6].metrics["beside_goodput_mbps"] /= 5  # one network at one loss rate
    assert choice.candidates(Sample.of([*base, *mild, *bold]), "history-")[
        0
    ].least_neighbour == pytest.approx(0.25)


def test_a_network_that_was_drawn_with_codel_is_in_both_rows() -> None:
    def over_cubic(sender: str, drops: float) -> Iterator[Run]:
        for rate, beside, (seed, queue) in itertools.product(
            (0.0, 1e-2), (0, 1), ((1, "droptail"), (1, "codel"), (2, "codel"), (3, "droptail"), (3, "codel"))
        ):
            labels = {"loss_rate": rate, "beside": beside, "queue": queue}
            dropped = drops if queue == "codel" else 0.0
            metrics = {"queue_dropped_packets": dropped, "mean_rtt_ms": 50.0, "goodput_mbps": 2.0}
            yield made_up("calibration-cubic", sender, seed, labels, **metrics, beside_goodput_mbps=3.0)

    runs = [*over_cubic("cubic", 9.0), *over_cubic("cubic-oracle", 9.0), *over_cubic("cubic-history", 79.0)]
    drawn, codel = choice.cubic(Sample.of(runs))
    assert codel[1:4] == ["8.00 (8.00 to 8.00)"] * 3 and codel[4:] == ["1.00 (1.00 to 1.00)"] * 4
    assert [cell.split(" ")[0] for cell in drawn] == [
        "as",
        *["2.00"] * 3,
        *["1.00"] * 4,
    ]  # of eight, its cube root
    assert choice.cubic(Sample.of(runs[:-1])) == []


def events(loss_rate: float, count: int) -> Run:
    """Return an invented run with `count` losses, half of which congestion caused; these have the higher
    RTT."""
    congested = np.arange(count) % 2
    x = np.random.default_rng(1).uniform(1, 2, (2, count)) + 9 * congested
    series: dict[str, Floats] = dict(zip(training.INPUTS, x, strict=True))
    labels = {"topology.loss_rate": loss_rate}
    series["congested"] = congested.astype(float)
    return Run("ns3", training.SCENARIO, "quick", "linux", 1, 1, labels, series=series)


def test_a_perceptron_learns_what_two_inputs_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "TIMES", 2)
    tables = training.tables(Sample.of([events(1e-2, 300), events(1e-1, 40)]))
    assert [row[:3] for row in tables["trained"]] == [
        ["all", "300", "0.50"], ["equally many of each cause", "300", "0.50"],
    ]  # fmt: skip
    assert all(row[4].startswith("1.000") for row in tables["trained"])
    assert [row[:2] for row in tables["by_rate"]] == [["0.01", "300"], ["0.1", "40"]]
    assert all(row[3].startswith("1.000") for row in tables["by_rate"])
    assert training.tables(Sample.of([events(1e-2, 50)])) == {}  # too few to train on


def test_only_recoveries_with_a_loss_are_kept() -> None:
    columns = ["head", "queue_drops", "channel_drops", *training.INPUTS]
    rows = [["queue", 1, 0, 0.1, 0.2], ["none", 0, 0, 0.3, 0.4], ["channel", 0, 2, 0.5, 0.6]]
    kept = training.keep({"columns": columns, "rows": rows})
    assert {name: values.tolist() for name, values in kept.items()} == {
        "rtt_min_per_packet": [0.1, 0.5], "rtt_per_packet": [0.2, 0.6], "congested": [1.0, 0.0],
    }  # fmt: skip
    assert training.keep(None) == training.keep({"columns": columns, "rows": []}) == {}


def lab_runs(scenario: str, **ours: float) -> Iterator[Run]:
    parameters = {"title": "made up", "path": {"hop": {"last": {"forward": {"loss_percent": 1.0}}}}}
    goodputs = {"reno+none": 2.0, "veno+none": 3.0, "bbr+none": 4.0} | ours
    for (sender, mbps), number in itertools.product(goodputs.items(), (0, 1)):
        metrics = {"goodput_mbps": mbps, "retransmitted_packets": 100.0, **dict.fromkeys(CALLS, 1.0)}
        labels = {"tlp": True}
        yield Run("lab", scenario, "full", sender, number, 1, labels, parameters, metrics=metrics)


def test_history_is_judged_by_its_own_runs(tmp_path: Path) -> None:
    runs = [
        *lab_runs("lab-loss-0", **{"reno+mlp:threshold=0.4": 4.0}),
        *lab_runs("lab-loss-1e-2", **{"reno+mlp:threshold=0.4": 3.2}),
        *lab_runs("lab-history-0", **{"reno+history": 4.8}),
        *lab_runs("lab-history-1e-2", **{"reno+history": 3.6}),
    ]
    assert PAGES["lab"].write(runs, FOLDER, tmp_path / "lab.md") == 2  # figures, without that of windows
    lines = (tmp_path / "lab.md").read_text().splitlines()
    for what, shown in (("over BBR's", ["0.80", "0.90"]), ("over its own without loss", ["0.80", "0.75"])):
        of = [line for line in lines if line.startswith(f"| goodput at loss 0.01 {what}")]
        assert [line.split(" | ")[3].split()[0] for line in of] == shown
    assert "| ML-TCP, history | 8 | 2 of 4 | 2 of 4 | 0 | 0 | 0 |" in lines


def test_a_classifiers_name_says_its_threshold_where_two_have_one() -> None:
    assert name_of("reno+history") == "ML-TCP, history"
    assert name_of("cubic+history:threshold=0.45") == "ML-TCP, history at 0.45 over CUBIC"
