# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014's live experiments: ours beside its tables, as a Markdown page."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tcplearn.errors import UserError, printable
from tcplearn.lab.scenario import Scenario
from tcplearn.lab.table import Row, Summary, has_probes, summary

#: The paper's names for what stands here under another one.
NAMES = {"stock": "jacobson", "experts/nunes2014-linux": "experts"}
#: The congestion control that is not named: the paper's is unknown.
PLAIN = "reno"
METRICS = (
    ("mean_abs_error_ticks", "error, ticks of 4 ms", 2),
    ("mean_cwnd_segments", "cwnd, segments", 1),
    ("retransmitted_packets", "retransmissions", 1),
)
#: Of ours alone.
OURS = (
    ("nstat.TcpExtTCPTimeouts", "timeouts", 1),
    ("nstat.TcpExtTCPLossProbes", "loss probes", 1),
    ("nstat.TcpExtTCPSpuriousRTOs", "spurious timeouts", 1),
    ("goodput_mbps", "Mbit/s", 2),
    ("mean_rtt_ms", "RTT, ms", 0),
    ("mean_rto_ms", "RTO, ms", 0),
    ("instructions_per_ack", "instructions an ACK", 0),
)

#: (scenario, algorithm, metric) -> mean, standard deviation.
Published = dict[tuple[str, str, str], tuple[float, float]]


FIGURE = (
    "200 samples from the middle of each scenario's first transfer under the experts, TLP off; each "
    "prediction from before its sample. Left, as the paper's figure: the kernel's experts, and its own SRTT "
    "(`linux`) over the same samples. Right: others of the core's estimators on those samples, replayed."
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
    kernels = sorted({json.loads(row["parameters"])["kernel"] for part in parts for row in part.rows})
    lines += [
        f"Kernel {', '.join(kernels)}. Mean ± standard deviation over the runs; the paper's 10 after ours. "
        "`stock` is Linux's own estimator, which the paper calls Jacobson; TLP: tail loss probes (RFC 8985), "
        "on as shipped today, off as in 2009.",
        "",
    ]
    for part in parts:
        lines += _part(part, published)
    if figure:
        lines += ["## Figure 26", "", f"![RTTs and predictions, sample by sample]({figure})", "", FIGURE, ""]
    return "\n".join([*lines, mark + rest]).rstrip("\n") + "\n"


def _part(part: Part, published: Published) -> list[str]:
    s = part.scenario
    lines = [f"## {s.name}: {s.title}", ""]
    headings = ["algorithm", "TLP", "runs", *(h for _, h, _ in METRICS), *(h for _, h, _ in OURS)]
    lines += ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    for (algorithm, parameters), metrics in summary(part.rows).items():
        base, _, name = algorithm.partition("+")
        tlp = "on" if has_probes(parameters) else "off"
        cells = [_shown(base, name), tlp, str(metrics["duration_s"][2])]
        for metric, _, digits in METRICS:
            theirs = published.get((_paths(s.name), NAMES.get(name, name), metric)) if base == PLAIN else None
            paper = "" if theirs is None else f"; paper {theirs[0]:.{digits}f} ± {theirs[1]:.{digits}f}"
            cells.append(_cell(metrics, metric, digits) + paper)
        cells += [_cell(metrics, metric, digits) for metric, _, digits in OURS]
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, "", *_relative(part, published), ""]


def _relative(part: Part, published: Published) -> list[str]:
    """The error against stock: what the paper's claim is about."""
    found = summary(part.rows)
    lines = []
    for (algorithm, parameters), metrics in found.items():
        base, _, name = algorithm.partition("+")
        stock = found.get((f"{base}+stock", parameters))
        if name == "stock" or stock is None or "mean_abs_error_ticks" not in metrics:
            continue
        ours = metrics["mean_abs_error_ticks"][0] / stock["mean_abs_error_ticks"][0]
        path = _paths(part.scenario.name)
        key = (path, NAMES.get(name, name), "mean_abs_error_ticks")
        theirs = ""
        if key in published:
            ratio = published[key][0] / published[(path, "jacobson", "mean_abs_error_ticks")][0]
            theirs = f"; in the paper {ratio:.2f}"
        tlp = "on" if has_probes(parameters) else "off"
        lines.append(f"- {_shown(base, name)}, TLP {tlp}: {ours:.2f} times stock's error{theirs}")
    return lines


def _shown(base: str, name: str) -> str:
    return f"`{name}`" if base == PLAIN else f"`{name}`, {base}"


def _paths(scenario: str) -> str:
    """The paper's experiment: live-2h stands for its second on a worse path."""
    return scenario.removesuffix("h")


def _cell(metrics: Mapping[str, Summary], metric: str, digits: int) -> str:
    """A kernel counter that is absent is 0; what was not measured is left out."""
    value = metrics.get(metric)
    if value is None:
        return "0" if metric.startswith("nstat.") else ""
    return f"{value[0]:.{digits}f}" + (f" ± {value[1]:.{digits}f}" if value[2] > 1 else "")
