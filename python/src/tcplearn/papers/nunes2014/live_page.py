# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014's live experiments: ours beside its tables, as a Markdown page."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tcplearn.errors import UserError, printable
from tcplearn.lab.scenario import STOCK, Scenario
from tcplearn.lab.table import Row, by_run, has_probes
from tcplearn.output.markdown import table_of
from tcplearn.simulate.interval import mean_interval, ratio_interval

#: The paper's names for what stands here under another one.
NAMES = {"stock": "jacobson", "experts/nunes2014-linux": "experts"}
#: The congestion control that is not named: the paper's is unknown.
PLAIN = "reno"
ERROR = "mean_abs_error_ticks"
#: Against what a prediction is scored. A clock of 4 ms beside the log counts; the kernel times in us.
SCORED = {
    "the count": "mean_abs_error_count_ticks",
    "the count less one": "mean_abs_error_count_less_one_ticks",
    "the RTT": ERROR,
}
#: What was sent: the paper's two, then ours alone.
SENT = (
    ("mean_cwnd_segments", "cwnd, segments", 1),
    ("retransmitted_packets", "retransmissions", 1),
    ("nstat.TcpExtTCPTimeouts", "timeouts", 1),
    ("nstat.TcpExtTCPLossProbes", "loss probes", 1),
    ("nstat.TcpExtTCPSpuriousRTOs", "spurious timeouts", 1),
    ("goodput_mbps", "Mbit/s", 2),
    ("mean_rtt_ms", "RTT, ms", 0),
    ("mean_rto_ms", "RTO, ms", 0),
    ("instructions_per_ack", "instructions an ACK", 0),
)
CONFIDENCE = 0.9  # as of the simulations

#: (scenario, algorithm, metric) -> mean, standard deviation.
Published = dict[tuple[str, str, str], tuple[float, float]]
#: Of one algorithm: metric -> run -> value.
Metrics = Mapping[str, Mapping[str, float]]
HEAD = ("algorithm", "TLP", "runs")


FIGURE = (
    "200 samples from the middle of each scenario's first transfer under the experts, TLP off; each "
    "prediction from before its sample. Left, as the paper's figure: the kernel's experts, and its own SRTT "
    "(`linux`) over the same samples. Right: others of the core's estimators on those samples, replayed."
)


SCORES = (
    "An error is \\|prediction − what is scored\\| in ticks of 4 ms. All are given the RTT, which the kernel "
    "times in microseconds. Scored against: the RTT; the count of the boundaries of a clock of 4 ms that "
    "pass, from one; the count less one, as a kernel of the paper's time counted."
)


@dataclass(frozen=True, slots=True)
class Part:
    """One scenario and its rows."""

    scenario: Scenario
    rows: Sequence[Row]


def read_published(path: Path) -> Published:
    try:
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    except OSError as error:
        raise UserError(f"{printable(path)}: cannot be read: {error.strerror}") from error
    return {
        (r["scenario"], r["algorithm"], r["metric"]): (float(r["mean"]), float(r["sigma"]))
        for r in csv.DictReader(lines)
    }


def page(parts: Sequence[Part], published: Published, command: str, notes: str = "", figure: str = "") -> str:
    """The whole page: `command` made it but for `notes`, which are a person's; `figure` lies beside it."""
    first, mark, rest = notes.partition("## ")
    lines = [
        "# Live experiments: ours beside the paper's",
        "",
        *([first.strip(), ""] if first.strip() else []),
    ]
    lines += [f"Made by `{command}`; do not edit.", ""]
    lines += [_made([row for part in parts for row in part.rows]), "", SCORES, ""]
    for part in parts:
        lines += _part(part, published)
    if figure:
        lines += ["## Figure 26", "", f"![RTTs and predictions, sample by sample]({figure})", "", FIGURE, ""]
    return "\n".join([*lines, mark + rest]).rstrip("\n") + "\n"


def _made(rows: Sequence[Row]) -> str:
    kernels = sorted({json.loads(row["parameters"])["kernel"] for row in rows})
    commits = sorted({row["commit"] for row in rows} - {""})
    return (
        f"Kernel {', '.join(kernels)}; runs made at {', '.join(commits)}. Mean ± half of its interval of "
        f"{CONFIDENCE:.0%} over the runs; a ratio is the geometric mean over pairs of one run, with its "
        "interval. A run is one machine in which all make their transfer one after the other, each run "
        "beginning with another. The paper's are means ± standard deviations of its 10. `stock` is Linux's "
        "own estimator, which the paper calls Jacobson; TLP: tail loss probes (RFC 8985), on as shipped "
        "today, off as in 2009."
    )


def _part(part: Part, published: Published) -> list[str]:
    s = part.scenario
    tables = [_errors(part, published), _sent(part, published)]
    return [f"## {s.name}: {s.title}", "", *(line for one in tables for line in (one, ""))]


def _errors(part: Part, published: Published) -> str:
    """Against each score, and over stock's: what the paper's claim is about."""
    found = by_run(part.rows)
    rows = []
    for key, metrics in found.items():
        base, name, first = _first(key, metrics)
        stock = found.get((f"{base}+{STOCK}", key[1]))
        over = (
            None if name == STOCK or stock is None else _ratio(metrics, stock, m) for m in SCORED.values()
        )
        theirs = {who: _theirs(published, part, base, who, ERROR) for who in (name, STOCK)}
        paper = ["", ""]
        if (of := theirs[name]) and (against := theirs[STOCK]):
            paper = [f"{of[0]:.2f} ± {of[1]:.2f}", f"{of[0] / against[0]:.2f}" if name != STOCK else ""]
        rows.append(
            [*first, *(_cell(metrics, m, 2) for m in SCORED.values()), *(r or "" for r in over), *paper]
        )
    errors = (f"error against {scored}" for scored in SCORED)
    over_stock = (f"over `{STOCK}`'s, against {scored}" for scored in SCORED)
    return table_of((*HEAD, *errors, *over_stock, "the paper's error", "over its Jacobson's"), rows)


def _sent(part: Part, published: Published) -> str:
    rows = []
    for key, metrics in by_run(part.rows).items():
        base, name, first = _first(key, metrics)
        cells = []
        for metric, _, digits in SENT:
            theirs = _theirs(published, part, base, name, metric)
            paper = "" if theirs is None else f"; paper {theirs[0]:.{digits}f} ± {theirs[1]:.{digits}f}"
            cells.append(_cell(metrics, metric, digits) + paper)
        rows.append([*first, *cells])
    return table_of((*HEAD, *(heading for _, heading, _ in SENT)), rows)


def _first(key: tuple[str, str], metrics: Metrics) -> tuple[str, str, list[str]]:
    """Congestion control, estimator, and the cells of HEAD."""
    base, _, name = key[0].partition("+")
    return (
        base,
        name,
        [_shown(base, name), "on" if has_probes(key[1]) else "off", str(len(metrics["duration_s"]))],
    )


def _theirs(
    published: Published, part: Part, base: str, name: str, metric: str
) -> tuple[float, float] | None:
    if base != PLAIN:
        return None
    return published.get((_paths(part.scenario.name), NAMES.get(name, name), metric))


def _ratio(metrics: Metrics, stock: Metrics, metric: str) -> str | None:
    both = [run for run in metrics.get(metric, {}) if run in stock.get(metric, {})]
    found = ratio_interval([metrics[metric][r] for r in both], [stock[metric][r] for r in both], CONFIDENCE)
    if found is None:
        return None
    middle, low, high = (f"{value:.{2 if value < 100 else 0}f}" for value in found)
    return f"{middle} ({low} to {high})" if len(both) > 1 else middle


def _shown(base: str, name: str) -> str:
    return f"`{name}`" if base == PLAIN else f"`{name}`, {base}"


def _paths(scenario: str) -> str:
    """The paper's experiment: live-2h stands for its second on a worse path."""
    return scenario.removesuffix("h")


def _cell(metrics: Metrics, metric: str, digits: int) -> str:
    """A kernel counter that is absent is 0; what was not measured is left out."""
    values = metrics.get(metric)
    if values is None:
        return "0" if metric.startswith("nstat.") else ""
    mean, half = mean_interval(list(values.values()), CONFIDENCE)
    return f"{mean:.{digits}f}" + ("" if half is None else f" ± {half:.{digits}f}")
