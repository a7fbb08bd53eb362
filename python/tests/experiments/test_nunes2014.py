# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the pages of experiments/nunes2014 with invented runs: each figure is drawn, and each ratio on the
page is the ratio of the invented numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from experiments.lib.pages import ROOT
from experiments.lib.runs import Run
from experiments.nunes2014 import PAGES, clock, live, paper, published, rounded
from experiments.nunes2014.figures import AXES, PLOTS
from experiments.nunes2014.runs import SCORED, keep, sized

FOLDER = ROOT / "experiments" / "nunes2014"
BOUNDS = ":rto_min_us=1000000,rto_max_us=32000000"
FLOWS = "load.flows"
NETWORKS: Sequence[tuple[str, Mapping[str, Any]]] = (
    *((of, {"variant": "paper", FLOWS: flows}) for of in ("I", "II", "III") for flows in (34, 100)),
    ("IV", {"variant": "paper", "topology.speed_mps": [1.0, 10.0]}),
    *(("V", {"variant": "1Mbps", FLOWS: flows}) for flows in (30, 100)),
    ("VI", {FLOWS: 4}),
    ("VII", {"variant": "codel", FLOWS: 4}),
)  # fmt: skip
#: In ticks, by what the experts are given; of Jacobson's, by what is scored.
EXPERTS = dict(zip(clock.GIVEN, (1.0, 0.5, 0.25), strict=True))
JACOBSON = dict(zip(SCORED.values(), (2.0, 0.5, 0.25), strict=True))
ERRORS = {rounded.BASE: 3.0, "experts": 1.5}
MEASURED = {
    "rtt_variance_ticks2": 0.25, "mean_cwnd_bytes": 3000.0, "mean_queue_bytes": 100.0, "delivery_ratio": 0.9,
    "delivered_packets": 500.0, "goodput_pps": 5.0, "timeouts": 4.0, "needless_timeouts": 1.0,
    "spurious_timeouts": 1.0,
}  # fmt: skip


def runs(
    networks: Sequence[tuple[str, Mapping[str, Any]]],
    algorithms: Sequence[tuple[str, str]],
    measured: Callable[[str, Mapping[str, Any], str, int], Mapping[str, float]],
) -> Iterator[Run]:
    """Return runs with two seeds for each network, algorithm and timing. A run has two flows; the second has
    no samples, and neither has any if `measured` gives no errors."""
    for (scenario, labels), (algorithm, timing), seed in (
        (network, one, seed) for seed in (1, 2) for network in networks for one in algorithms
    ):
        errors = measured(algorithm, labels, timing, seed)
        flows = [{"samples": 9.0 if errors else 0.0, **errors}, {"samples": 0.0}]
        share = {"retransmitted_share": 0.05 if algorithm == "experts" else 0.1}
        result = {
            "run": {
                "metrics": {**MEASURED, **share, **errors},
                "cwnd_over_time": {"bin_s": 4, "bytes": [1000.0, None, 2000.0]},
            },
            "flows": [{"metrics": flow} for flow in flows],
        }
        metrics, series = keep(SimpleNamespace(document=SimpleNamespace(name=scenario)), result)
        of = {**labels, "timing": timing}
        yield Run("ns3", scenario, "t", algorithm, seed, seed, of, metrics=metrics, series=series)


def test_flows_are_grouped_by_rtt_in_ticks() -> None:
    (metric, *_) = SCORED.values()
    rtts_ms = {49.9: 1.0, 50.0: 2.0, 55.0: 4.0, 499.0: 6.0, 500.0: 8.0, 5000.0: 10.0}
    flows = [{"metrics": {"mean_rtt_ms": rtt, metric: error}} for rtt, error in rtts_ms.items()]
    chosen = SimpleNamespace(document=SimpleNamespace(name="II"))
    metrics, _ = keep(chosen, {"run": {"metrics": {}}, "flows": flows})
    means = {"under 0.1": 1.0, "0.1 to 1": 4.0, "above 1": 9.0}
    assert metrics == {sized(metric, size): mean for size, mean in means.items()}


def written(page: str, found: Sequence[Run], out: Path) -> str:
    PAGES[page].write(found, FOLDER, out / f"{page}.md")
    return (out / f"{page}.md").read_text()


def check_figures(text: str, out: Path, place: str, scenarios: Sequence[str]) -> None:
    for scenario in scenarios:
        for label, metric in PLOTS[scenario].items():
            words = " ".join(ElementTree.parse(out / place / f"figure-{label}.svg").getroot().itertext())
            assert AXES[metric][0] in words and f"({place}/figure-{label}.svg)" in text


def test_each_reading_is_in_every_table(tmp_path: Path) -> None:
    def measured(algorithm: str, _: Any, timing: str, seed: int) -> Mapping[str, float]:
        errors = JACOBSON if algorithm == clock.BASE else dict.fromkeys(SCORED.values(), EXPERTS[timing])
        return {"mean_rtt_ms": 350.0, **errors, "mean_abs_error_ticks": 9.0}

    algorithms = [(clock.BASE, clock.CLOCK), *(("experts", timing) for timing in clock.GIVEN)]
    text = written("simulated", list(runs(NETWORKS[:9], algorithms, measured)), tmp_path)
    assert "| clock count − 1 | 4.00; 9 of 9; 9 above, 0 below of 9 | 1.00; 0 of 9; 0 above, 0 below" in text
    assert "| 0.1 to 1 | RTT | 2.00 / 0.25: +1.75 ± 0.00; 18 of 18 |" in text
    assert "| under 0.1 | clock count | – | – | – |" in text
    assert "| 0.1 to 1 | `experts` | 1.00 ± 0.00; 18 of 18 | 1.00 ± 0.00; 0 of 18 |" in text
    row = "| clock count | 2.00 / 1.00: 2.00 (2.00 to 2.00) | 0.50 / 1.00: 0.50 (0.50 to 0.50) |"
    assert f"| III | paper | 34 | 2 | 0.70 | 0.25 {row} 0.25 / 1.00: 0.25 (0.25 to 0.25) | 2.44 |" in text
    assert "| 0.25; paper 0.4763 |" in text
    assert re.search(r"\| IV \| paper \| 1-10 \| 2 \| .* \| 3 \|\n", text)
    sent = "2.00 (2.00 to 2.00) | 4.00 / 4.00 | 1.00 / 1.00 | 500 / 500 |"
    assert f"| III | paper | 34 | clock count | 10.0% / 5.0% | {sent}" in text
    # the paper's own figures disagree
    assert "| live-2 | 9% less (67.64 against 74.11) | 32% less (250.8 against 367.7) |" in text
    assert "| III | an example | experts | 0.63 |" in text
    check_figures(text, tmp_path, "figures", ("I", "II", "III", "IV", "V"))


def test_one_table_has_all_that_the_paper_prints(tmp_path: Path) -> None:
    def measured(algorithm: str, _: Any, timing: str, seed: int) -> Mapping[str, float]:
        errors = JACOBSON if algorithm == clock.BASE else dict.fromkeys(SCORED.values(), EXPERTS[timing])
        return {"mean_rtt_ms": 350.0, **errors}

    algorithms = [(clock.BASE, clock.CLOCK), *(("experts", timing) for timing in clock.GIVEN)]
    text = written("paper", list(runs(NETWORKS[:9], algorithms, measured)), tmp_path)
    assert all(f"| Figure {number}" in text for number in range(1, 27))
    assert all(text.count(f"| Table {number}, live") == 3 for number in (2, 3, 4)) and "| Table 1," in text
    ours = "1Mbps 30: 2.00 ± 0.00 / 1.00 ± 0.00; 1Mbps 100: 2.00 ± 0.00 / 1.00 ± 0.00"
    assert f"almost four times as large | {ours} | reproduced (2 of 2 agree, 0 contradict) | A |" in text
    assert "0.25 ± 0.00 / 1.00 ± 0.00 | not reproduced (0 of 2 agree, 2 contradict) | A |" in text
    assert (
        "paper 34: 10.0 ± 0.0 / 5.00 ± 0.00; paper 100:" in text
    )  # the share of retransmitted packets, in %
    assert "paper 34: 100 ± 0 in I, 100 ± 0 in III" in text


@pytest.mark.parametrize(
    ("experts", "said"),
    [
        ((3.0, 3.0, 1.0), "reproduced (2 of 3 agree, 0 contradict)"),
        ((3.0, 1.0, 1.0), "cannot be told (1 of 3 agree, 0 contradict)"),
        ((3.0, 3.0, 0.1), "reproduced in some networks, not in others (2 of 3 agree, 1 contradict)"),
        ((0.1, 0.1, 1.0), "not reproduced (0 of 3 agree, 2 contradict)"),
    ],
)
def test_a_figure_is_reproduced_by_the_stated_rule(experts: Sequence[float], said: str) -> None:
    networks = [((1.0, 0.5), (one, 0.1)) for one in experts]
    assert paper.agree(networks, more=True) == said
    assert paper.agree([(theirs, ours) for ours, theirs in networks], more=False) == said


def test_every_figure_of_the_simulations_has_a_statement() -> None:
    said = {int(one["figure"]) for one in published.figures(FOLDER)}
    assert said | {14, 21} == {*range(2, 26)}  # 14 compares two networks, 21 is a drawing


def test_the_papers_figures_are_all_there() -> None:
    numbers = [int(label[:2]) for of in PLOTS.values() for label in of if label.isdigit()]
    assert sorted(numbers) == [*range(2, 21), *range(22, 26)]  # 21 is a drawing of the network
    delivered = {
        label for of in PLOTS.values() for label, metric in of.items() if metric == "delivered_packets"
    }
    assert delivered == {"04", "12", "19", "25"}  # section 5.1


def rounded_runs(error: Callable[[str, Mapping[str, Any], int], float | None]) -> list[Run]:
    def measured(algorithm: str, labels: Mapping[str, Any], _: str, seed: int) -> Mapping[str, float]:
        if (ticks := error(algorithm, labels, seed)) is None:
            return {}
        errors = {"mean_abs_error_ticks": ticks, "mean_abs_error_ms": 500 * ticks, "bias_ms": -50.0}
        return {**errors, "mean_rtt_ms": 2000.0}

    five = [f"last{BOUNDS}", rounded.BASE, "experts", f"tracking{BOUNDS}", f"conformal{BOUNDS}"]
    algorithms = [(one, timing) for timing in rounded.TICKS for one in five]
    others = [(one, rounded.UNBOUNDED) for one in ("linux", rounded.BASE, "experts")]
    return [*runs(NETWORKS, algorithms, measured), *runs(NETWORKS[:1], others, measured)]


def test_every_figure_and_ratio(tmp_path: Path) -> None:
    found = rounded_runs(lambda algorithm, _, seed: ERRORS.get(algorithm, 1.0) * seed)
    text = written("rounded", found, tmp_path)
    check_figures(text, tmp_path, "figures-rounded", list(PLOTS))
    ratio = "4.50 / 2.25: 2.00 (2.00 to 2.00)"
    assert f"| V | 1Mbps | 30 | 4.00 | 2 of 4 | 9 | {ratio} | {ratio} | -0.10 |" in text
    assert "| experts | 0.50 | 0.50 | 0 of 18 |" in text and "| tracking | 0.33 | 0.33 | 18 of 18 |" in text
    assert re.search(r"\| 22 \| V .* \| 4 ratio \| 2.00 to 2.00, of 4 \|", text)
    assert "| – | I | rtt_variance_ticks2 | load.flows=34 | – | 0.4763 ticks | 0.25 to 0.25, of 2 |" in text
    assert (
        "| 3 | I | retransmitted_share | most flows | experts/jacobson | 0.7 ratio | 0.50 to 0.50, of 4 |"
        in text
    )
    assert "| I | paper | 34 | `linux` | 750 | 10.0 | 1.00 | 5.00 |" in text


def test_a_network_that_carries_nothing_is_named(tmp_path: Path) -> None:
    def error(algorithm: str, labels: Mapping[str, Any], seed: int) -> float | None:
        if labels.get(FLOWS) == 34:
            return None
        if algorithm.startswith("tracking") and seed == 1:
            return None  # only here no flow got through
        return 0.0 if algorithm == rounded.BASE else 1.0

    text = written("rounded", rounded_runs(error), tmp_path)
    assert "| III | paper | 34 | – | 0 of 4 | 0 | no samples | no samples | – |" in text
    assert "| tracking |" not in text  # without an error in one seed, it is compared nowhere
    ratio = "0.00 / 1.00: no ratio"
    assert f"| III | paper | 100 | 4.00 | 2 of 4 | 9 | {ratio} | {ratio} | -0.10 |" in text


def live_runs() -> list[Run]:
    """Return two runs in which Jacobson's estimator has errors of 2 and 3 ticks, and the experts of 1 and
    2."""
    found = []
    for number in (0, 1):
        for algorithm, error in (("reno+stock", 2.0), (f"reno+{live.OF}", 1.0)):
            ticks = error + number
            measured = {
                live.ERROR: ticks,
                "mean_abs_error_count_ticks": ticks + 0.5,
                "retransmitted_packets": 7.0,
                "mean_rto_ms": 250.4,
            }
            measured |= {} if number else {"nstat.TcpExtTCPTimeouts": 3.0}  # one that did not move has no row
            chosen = SimpleNamespace(algorithms=None)
            metrics, _ = live.keep(chosen, Path("elsewhere"), measured)
            names = [live.MEASURED, *(name for of in live.SIDES.values() for name in of)]
            series = {name: np.arange(3.0) for name in names} if algorithm.endswith(live.OF) else {}
            parameters = {"title": "wired, far site"}
            found.append(
                Run(
                    "lab", "live-1", "t", algorithm, number, 1, {"tlp": False}, parameters,
                    host_version="6.1", metrics=metrics, series=series,
                )
            )  # fmt: skip
    return found


def test_the_papers_live_figures_are_beside_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "arms", lambda *_: [])
    text = written("live", live_runs(), tmp_path)
    # mean and half of Student's interval of 90 % of two runs; the scores that were not measured are left out
    half = 6.3138 * math.sqrt(0.5) / math.sqrt(2)
    assert (
        f"| `stock` | off | 2 | 3.00 ± {half:.2f} |  | 2.50 ± {half:.2f} |  |  |  | 8.19 ± 0.97 |  |" in text
    )
    # the geometric mean of 1/2 and 2/3 in pairs of one run
    logs = math.log(1 / 2), math.log(2 / 3)
    middle, half = sum(logs) / 2, 6.3138 * abs(logs[0] - logs[1]) / 2
    low, high = math.exp(middle - half), math.exp(middle + half)
    assert f"| {math.exp(middle):.2f} ({low:.2f} to {high:.2f}) | 5.10 ± 0.61 | 0.62 |" in text
    assert "| 7.0 ± 0.0; paper 31.1 ± 17.7 | 1.5 ± " in text and "| 250 ± 0 |" in text
    words = " ".join(ElementTree.parse(tmp_path / "live-figure-26.svg").getroot().itertext())
    assert "live-1" in words and all(side in words for side in live.SIDES)
