# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test tambuwal2018: its metrics, verdicts and criteria on invented runs with known answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from experiments.lib.runs import Run as KeptRun
from experiments.lib.statistics import Estimate
from experiments.tambuwal2018 import figures, page, pairs, parts
from experiments.tambuwal2018.cells import CONNECTION, Array, Cell, Run, cells, keep
from experiments.tambuwal2018.measures import MEASURES, MIXES, STUDIED, Load, estimate, of_startup
from experiments.tambuwal2018.published import Comparison, Printed, printed
from samples import ROOT

FOLDER = ROOT / "experiments" / "tambuwal2018"
SEEDS = (1, 2, 3)
ROW = Printed("", 0.4, "", "", "gain_rtts", "", 0, 0, "RTTs", "")


def connection(rtts: float, size: float = 4000, path_ms: float = 100, studied: float = 0) -> Array:
    return np.array([(rtts, 1000 + rtts * path_ms, path_ms, size, studied)], CONNECTION)


def run(lost: Sequence[Array], loss: float = 0.01, mbps: float = 4.0) -> Run:
    metrics = {"link_loss_share": loss, "link_throughput_mbps": mbps, "link_utilisation": mbps / 10}
    metrics |= {"mean_response_studied_rtts": 3.0, "link_loss_share_max": 2 * loss, "unresolved": 0.0}
    return Run(metrics, np.array([loss]), np.concatenate(lost), np.empty(0, CONNECTION))


def cell(startup: str, level: float, rtts: Sequence[float], loss: float = 0.01, mbps: float = 4.0) -> Cell:
    runs = {s: run([connection(of)], loss, mbps) for s, of in zip(SEEDS, rtts, strict=True)}
    return Cell(level, startup, 1.0, runs)


def load(*cells: Cell) -> Load:
    return Load.of({c.startup: c for c in cells})


@pytest.mark.parametrize(
    ("low", "high", "unit", "ours", "verdict"),
    [
        (1, 5, "RTTs", (2, 1, 5), "reproduced"),
        (1, 5, "RTTs", (2, 0.9, 5), "cannot be told"),
        (1, 5, "RTTs", (0, -1, 0.9), "not"),
        (13, 13, "RTTs", (13, 9.8, 16.2), "reproduced"),  # a quarter to either side
        (13, 13, "RTTs", (13, 9.7, 16.2), "cannot be told"),
        (13, 13, "RTTs", (0, -4, 9.7), "not"),
        (0, 0, "%", (0.1, -0.2, 0.25), "reproduced"),  # a quarter of a point
        (0, 0, "RTTs", (0.1, -0.2, 0.25), "cannot be told"),
        (math.nan, 0, "%", (-1, -2, -0.1), "reproduced"),
        (0, math.nan, "%", (-1, -2, -0.1), "not"),
        (0, math.nan, "%", (1, math.nan, math.nan), "cannot be told"),  # one seed
    ],
)
def test_a_verdict(low: float, high: float, unit: str, ours: tuple[float, ...], verdict: str) -> None:
    assert replace(ROW, low=low, high=high, unit=unit).verdict(Estimate(*ours)) == verdict


def test_a_setting() -> None:
    row = replace(ROW, measure="setting:tcp.segment_bytes", low=1460, high=1460)
    assert row.verdict(Estimate(1460)) == "set alike"
    assert row.verdict(Estimate(1000)) == "set otherwise"
    assert row.verdict(Estimate()) == ROW.verdict(Estimate()) == "not yet run"


def test_the_jackknife_of_a_mean_is_students_interval() -> None:
    found = load(cell("standard", 0.4, (5, 6, 7)), cell("tsl/3-16", 0.4, (4, 4, 4)))
    gain, startup = of_startup("gain_rtts", found, "tsl/3-16")
    # 1, 2 and 3: their standard error is 1/sqrt(3), and Student's quantile 4.303
    assert startup == "tsl/3-16" and gain.value == 2
    fewer = Cell(0.4, "tsl-feedback", 1.0, {1: run([connection(4)])})  # others keep their seeds
    with_fewer = Load.of({**found.cells, "tsl-feedback": fewer})
    assert of_startup("gain_rtts", with_fewer, "tsl/3-16")[0] == gain
    assert of_startup("gain_rtts", with_fewer, "tsl-feedback")[0].value == 1
    assert gain.high - gain.value == pytest.approx(4.3027 / math.sqrt(3), rel=1e-4)


def test_measures_of_the_link_and_of_the_five() -> None:
    others = [cell(s, 0.4, (4, 4, 4), 0.01 * (1 + k), 4 - 0.1 * k) for k, s in enumerate(STUDIED)]
    found = load(cell("standard", 0.4, (6, 6, 6)), *others)

    def value(measure: str, startup: str) -> float:
        return of_startup(measure, found, startup)[0].value

    assert value("loss_change_percent", "tsl/3-2") == pytest.approx(200)
    assert value("throughput_drop_percent", "tsl/3-2") == pytest.approx(5)
    assert value("loss_change_percent", "mean") == pytest.approx(200)
    assert of_startup("loss_change_percent", found, "most")[1] == "tsl/3-1000"
    assert value("peak_loss_percent", "standard") == pytest.approx(2)
    assert value("behind_best_rtts", "tsl/3-16") == value("unlimited_lead_rtts", "") == 0
    assert not of_startup("gain_rtts", load(others[0]), "mean")[0]  # a cell is missing


def test_only_responses_of_1_to_50_kb_are_in_figure_4() -> None:
    lost = [connection(2, 300), connection(3, 1200), connection(4, 2000), connection(5, 4380)]
    lost += [connection(90, 60_000), *(connection(6, 5000, 40) for _ in range(6))]
    found = load(Cell(0.4, "standard", 1.0, {1: run(lost)}))
    assert MEASURES["small_share"](found, "standard") == pytest.approx(1 / 9)
    assert MEASURES["p99_rtts"](found, "standard") == 6
    assert MEASURES["three_segments_rtts"](found, "standard") == 5  # of 4 and 5
    assert MEASURES["least_rtts"](found, "standard") == 2
    assert MEASURES["far_p90_ms"](found, "standard") == 9000  # not those of 40 ms


def test_mixes_have_their_ends_from_the_levels() -> None:
    def mix(share: float, tsl: float, standard: float) -> Cell:
        lost = [connection(tsl, studied=1), connection(standard)]
        runs = {s: run(lost) for s in SEEDS}
        for of in runs.values():
            of.metrics.update(mean_response_studied_rtts=tsl, mean_response_standard_rtts=standard)  # type: ignore[attr-defined]
        return Cell(0.4, "tsl/3-16", share, runs)

    bold = mix(1.0, 3, 8)
    levels = [cell("standard", 0.4, (4, 4, 4)), bold]
    found = Comparison(levels, [mix(0.25, 6, 5), mix(0.75, 4, 2)], FOLDER, ends=levels)
    assert sorted(found.mixed.cells) == [0, 0.25, 0.75, 1]
    assert estimate(MIXES["mix_tsl_percent"], found.mixed).value == pytest.approx(-50)
    assert estimate(MIXES["mix_tsl_lost_percent"], found.mixed).value == pytest.approx(-50)
    assert estimate(MIXES["mix_standard_lost_percent"], found.mixed).value == pytest.approx(-50)
    assert estimate(MIXES["mix_standard_percent"], found.mixed).value == pytest.approx(100 * (2 / 3 - 1))
    verdicts = {one.row.measure: one.verdict for one in found.rows if one.row.where == "Figure 12"}
    assert set(verdicts.values()) == {"reproduced"} and len(verdicts) == 4


def test_everything_that_the_paper_prints_is_compared() -> None:
    rows = printed(FOLDER)
    kinds = {"", "drawn", "setting", *MEASURES, *MIXES}
    assert {row.measure.partition(":")[0] for row in rows} <= kinds
    assert {f"Figure {k}" for k in range(1, 13)} <= {row.where for row in rows}
    assert sum(row.where == "Table 2" for row in rows) == sum(row.where == "Table 3" for row in rows) == 15
    found = Comparison([cell("standard", 0.9, (5, 6, 7))], [], FOLDER)
    # other startups have no runs
    told = {
        one.row.startup for one in found.rows if one.verdict in ("reproduced", "not") and one.runs != "drawn"
    }
    assert told == {"standard"} and found.judged == len(rows) - 9 - 3
    assert found.headline.verdict == "not yet run" and found.headline.row.low == 15
    drawn = {one.row.where: one.verdict for one in found.rows if one.runs == "drawn"}
    assert drawn == {"Figure 2": "reproduced", "Figure 3": "not"}


def test_the_criterion_of_the_feedback() -> None:
    def bar(level: float, standard: Sequence[float], bold: Sequence[float], own: Sequence[float]) -> str:
        of = {"standard": standard, "tsl/3-16": bold, "tsl-feedback": own}
        return pairs.feedback([cell(startup, level, rtts) for startup, rtts in of.items()])

    base = (10.0, 11.0, 12.0)
    # every run alike
    assert "| 100 % | 3 |" in (whole := bar(0.4, base, (8, 9, 10), (8, 9, 10))) and "reached |" in whole
    assert "| 85 % | 0 |" in (less := bar(0.9, base, (8, 9, 10), (8.3, 9.3, 10.3)))
    assert "not reached |" in less
    assert "upper end +0.0 %, reached |" in bar(0.98, base, (8, 9, 10), base)
    assert "not reached |" in bar(0.98, base, (8, 9, 10), (10.5, 11.6, 12.9))
    rtts = {"standard": 2, "tsl/3-16": 1, "tsl-feedback": 1}
    one = [Cell(0.4, name, 1.0, {1: run([connection(of)])}) for name, of in rtts.items()]
    assert "cannot be told from one seed" in pairs.feedback(one)


def test_pairs_at_the_highest_load() -> None:
    def section(*rtts: float) -> str:
        of = {"standard": (10, 10, 10), "tsl-feedback": rtts, "tsl/3-16": (9, 9, 9)}
        return pairs.section([cell(startup, 0.98, values) for startup, values in of.items()])

    # half and twice: the ratios' geometric mean is no change, their arithmetic one +17 %
    wide = section(5, 10, 20)
    assert "| mean response, RTTs | 10.00 | 11.67 | +0.0 (-68.9 to +221.7) | 9.00 | -10.0 (-10.0 to" in wide
    assert "to -10.0) | 547 |" in wide
    assert "must be at most +5 %. It is +221.7 %: not reached." in wide
    assert "must be at most +5 %. It is -9.9 %: reached." in section(9.0, 9.01, 9.0)
    assert pairs.section([cell("standard", 0.98, (10, 10, 10))]) == ""


def test_figures_carry_the_papers_numbers() -> None:
    cells = [cell(s, 0.9, (5, 6, 7), 0.01 + 0.001 * k) for k, s in enumerate(("standard", *STUDIED))]
    charts = {name: chart.to_dict() for name, _, chart in figures.charts(Comparison(cells, [], FOLDER))}
    rows = {name: next(iter(chart["datasets"].values())) for name, chart in charts.items()}
    assert {row["from"] for row in rows["figure-07-gain.svg"]} == {13}
    assert [row["from"] for row in rows["figure-08-change.svg"]] == [0.86, 1.18, 2.32, 3.13, 3.49]
    assert "standard" not in {row["e"] for row in rows["figure-11-change.svg"]}
    assert {row["peak"] for row in rows["figure-09.svg"] if "peak" in row} == {19, 26}
    assert all("from" not in row for row in rows["figure-07.svg"]) and len(rows["figure-07.svg"]) == 6


def test_what_is_kept_of_a_connection() -> None:
    metrics = {"response_rtts": 2.5, "response_whole_ms": 1100.1, "path_rtt_ms": 50, "response_bytes": 999}
    flow = {"lost": "syn-ack", "state": "finished", "startup": "tsl", "metrics": metrics}
    other = {**flow, "state": "open"}
    part = {"metrics": {"x": 1.0}, "seconds": {"loss_share": [0.5]}, "cost": {"cpu_s": 2.0, "peak_mib": 3.0}}
    values, series = keep(None, {"flows": [flow, other], "run": part})
    assert values == {"x": 1.0, "cpu_s": 2.0, "peak_mib": 3.0, "unresolved": 1.0}
    assert series["lost_whole_ms"] == pytest.approx([1100.1], rel=1e-7) and list(series["lost_studied"]) == [
        1
    ]


def long_run(startup: str, extra_rtts: float) -> KeptRun:
    """Return a run of 100,000 connections, every hundredth of which lost its SYN-ACK. In the last part,
    responses took `extra_rtts` longer and the link lost 4 % of packets in each second instead of 2 %."""
    numbers = range(100, 100_100, 100)
    part_of = [parts.part_of(number, 100_000) for number in numbers]
    flows = [
        {
            "flow": number,
            "lost": "syn-ack",
            "state": "finished",
            "startup": startup,
            "metrics": {
                "response_rtts": 4 + (extra_rtts if part == 24 else 0),
                "response_whole_ms": 1400.0,
                "path_rtt_ms": 100.0,
                "response_bytes": 4000,
            },
        }
        for number, part in zip(numbers, part_of, strict=True)
    ]
    seconds = {"loss_share": [0.02] * 240 + [0.04] * 10, "throughput_mbps": [4.0] * 250}
    metrics = {"connections": 100_000.0, "link_loss_share": 0.0208, "link_loss_share_max": 0.04}
    cost = {"cpu_s": 1.0, "peak_mib": 2.0}
    values, series = keep(
        None, {"flows": flows, "run": {"metrics": metrics, "seconds": seconds, "cost": cost}}
    )
    parameters = {
        "load": {"level": 0.4, "startup": startup, "startup_share": 1.0},
        "topology": {"rate_mbps": 10.0},
    }
    return KeptRun("ns3", "levels", "whole", "", 1, 1, {}, parameters, metrics=values, series=series)


def test_a_long_run_is_compared_by_its_parts() -> None:
    found = {c.startup: c for c in cells([long_run("standard", 0), long_run("tsl/3-16", -2)])}
    base = found["standard"]
    assert len(base.runs) == parts.PARTS == 25 and len(base.totals) == 1
    sizes = [len(run.lost) for run in base.runs.values()]
    assert sum(sizes) == 1000 and set(sizes) <= {39, 40, 41}
    both = Load.of(dict(found))
    gain = of_startup("gain_rtts", both, "tsl/3-16")[0]
    share = sizes[-1] / 1000
    assert gain.value == pytest.approx(2 * share)
    # one part of 25 differs by 2: its pseudo-values' standard error is about 2/25
    assert gain.high - gain.value == pytest.approx(2.064 * 2 * share, rel=0.05)
    loss = of_startup("loss_percent", both, "standard")[0]
    assert loss.value == pytest.approx(2.08, abs=0.01) and loss.low < 2.0
    peak = of_startup("peak_loss_percent", both, "standard")[0]
    assert peak.value == pytest.approx(4, rel=2.0**-12) and math.isnan(
        peak.low
    )  # of one run there is no interval
    assert of_startup("used_percent", both, "standard")[0].value == pytest.approx(40)


def test_a_thinned_number_keeps_its_bits() -> None:
    values = np.array([0.0, 1.0, 7.0001, 1460.3, 61234.567, 0.013])
    assert parts.thinned(values, 10) == pytest.approx(values, rel=2.0**-10)
    assert len(set(parts.thinned(np.linspace(1000, 1000.2, 50), 10))) == 1
    sizes = np.arange(2048.0)
    assert list(parts.thinned(sizes, parts.SIZE_BITS)) == list(sizes)  # a segment and one byte more differ


def test_queues_and_crowds_have_their_tables() -> None:
    def stored(
        scenario: str, seed: int, level: float, startup: str, rtts: float, packets: int = 50
    ) -> KeptRun:
        series = {
            f"lost_{name}": np.array([value])
            for name, value in {
                "rtts": rtts,
                "whole_ms": 1000 + rtts,
                "path_rtt_ms": 50.0,
                "bytes": 4000.0,
                "studied": 1.0,
            }.items()
        }
        series |= {
            f"late_{name}": np.array([]) for name in ("rtts", "whole_ms", "path_rtt_ms", "bytes", "studied")
        }
        series["loss_share"] = np.array([0.1])
        metrics = {"connections": 10.0, "link_loss_share": 0.1 - packets / 1e4, "unresolved": 0.0}
        metrics["mean_response_studied_rtts"] = rtts
        parameters = {
            "load": {"level": level, "startup": startup, "startup_share": 1.0},
            "topology": {"rate_mbps": 10.0, "queue_packets": packets},
        }
        return KeptRun(
            "ns3", scenario, "quick", "", seed, seed, {}, parameters, metrics=metrics, series=series
        )

    runs = [
        stored("queues", seed, 0.9, startup, of + seed, packets)
        for seed in SEEDS
        for packets in (20, 200)
        for startup, of in (("standard", 5), ("tsl/1-1000", 4), ("tsl/3-16", 3))
    ]
    table = page.queues(runs)
    assert "| 90 % | 20 | 24 | 9.80 (9.80 to 9.80) | 10.00 | 7.00 (4.52 to 9.48) |" in table
    assert "| 1.00 (1.00 to 1.00) | 2.00 (2.00 to 2.00) |" in table
    assert "| 90 % | 200 | 240 | 8.00 (8.00 to 8.00) |" in table
    crowd = pairs.crowds(
        [
            stored("crowds", seed, 1.5, startup, of * seed)
            for seed in SEEDS
            for startup, of in (("standard", 4), ("tsl/3-16", 2), ("tsl-feedback", 1))
        ]
    )
    half, quarter = "-50.0 (-50.0 to -50.0)", "-75.0 (-75.0 to -75.0)"
    assert f"| 150 % | mean response, RTTs | 3 | 8.00 | {half} | {quarter} | {half} | yes | less |" in crowd
    assert page.queues([]) == pairs.crowds([]) == ""
