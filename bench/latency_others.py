# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What is measured beside response times over paths: past the end of fades, many flows over one overloaded
queue, a transfer beside stock's, requests of real programs."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from latency_cells import (
    DRAWS,
    FIGURES,
    OURS,
    SCENARIOS,
    SEED,
    STOCK,
    Cell,
    Floats,
    cell,
    folders_of,
    paths,
    spread,
    too_few,
    verdict,
)

from tcplearn.lab import beside, fades, queue_drops, results, scenario
from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import counted, milliseconds, ratio

FADES, OVERLOAD = (SCENARIOS / f"{name}.toml" for name in ("fades", "overload"))
PROGRAMS = SCENARIOS / "programs-requests.toml"
#: Profiles of the overload, and what they are.
LOADS = {
    "full": "50 flows",
    "no-timestamps": "50 flows, no timestamps",
    "200": "200 flows",
    "200-no-timestamps": "200 flows, no timestamps",
    "held-out-100": "100 flows, held out",
    "held-out-100-no-timestamps": "100 flows, held out, no timestamps",
    "held-out-shallow": "100 flows, held out, a shallow queue",
}
#: Of programs-requests.toml.
VISITS = {"full": "nginx, connection kept", "fresh": "nginx, a connection each", "echo": "lines echoed"}
#: Answers whose times are drawn together.
BLOCKS = 25

#: By path and timer: Jain's index and the transfer's own Mbit/s, a run each.
Shared = dict[str, dict[str, list[tuple[float, float]]]]
Overruns = dict[tuple[int, int], tuple[float, float]]  # run and fade: its length and the overrun, in ms


def overruns() -> dict[str, Overruns]:
    """By timer; nothing where no run is kept."""
    return {
        timer: {
            (run, int(number)): (length, past)
            for run, folder in enumerate(folders)
            for number, length, past in fades.overruns(folder).tolist()
        }
        for timer, folders in folders_of(FADES).items()
    }


def _over_stock(found: dict[str, Overruns], timer: str) -> tuple[float, Floats]:
    """The mean overrun's ratio to stock's, over the fades that both have, and it of fades drawn again."""
    both = sorted(found[timer].keys() & found[STOCK].keys())
    ours, stock = (np.array([found[name][key][1] for key in both]) for name in (timer, STOCK))
    drawn = np.random.default_rng(SEED).integers(0, len(both), (10 * DRAWS, len(both)))
    return float(ours.mean() / stock.mean()), ours[drawn].mean(axis=1) / stock[drawn].mean(axis=1)


def past_fades(found: dict[str, Overruns]) -> str:
    rows = []
    for timer, of in found.items():
        past = np.array([overrun for _, overrun in of.values()])
        row = [timer, f"{len(past)}", milliseconds(float(past.mean())), milliseconds(float(np.median(past)))]
        row += [milliseconds(float(np.percentile(past, 90))), milliseconds(float(past.max()))]
        rows.append([*row, "1" if timer == STOCK else spread(*_over_stock(found, timer))])
    return table_of(["timer", "fades", "mean, ms", "median", "90 %", "longest", "mean, × stock"], rows)


@dataclass(frozen=True)
class Load:
    """Answers and drops of one timer in one profile of the overload."""

    block_us: list[Floats]  # of each run: the time that each block of as many answers took
    answers: float
    dropped: list[float]  # of each run
    timeouts: float
    probes: float

    @property
    def a_second(self) -> float:
        return 1e6 * self.answers / float(sum(blocks.sum() for blocks in self.block_us))

    @functools.cached_property
    def drawn(self) -> Floats:
        """Answers a second, blocks drawn again."""
        rng = np.random.default_rng(SEED)
        every = np.concatenate(self.block_us)
        return 1e6 * self.answers / every[rng.integers(0, len(every), (DRAWS, len(every)))].sum(axis=1)


def _load(folders: Sequence[Path]) -> Load:
    blocks, dropped, answers, timeouts, probes = [], [], 0, 0.0, 0.0
    for folder in folders:
        took_us, started_us = np.loadtxt(folder / "requests", dtype=np.float64).T
        ends = np.sort(started_us + took_us)[np.linspace(0, len(took_us) - 1, BLOCKS + 1).astype(int)[1:]]
        blocks.append(np.diff(ends, prepend=started_us.min()))
        answers += len(took_us)
        dropped.append(dict(queue_drops.figures(folder))["queue_dropped_packets"])
        moved = results.kernel_counts(folder)
        timeouts += moved.get("TcpExtTCPTimeouts", 0.0)
        probes += moved.get("TcpExtTCPLossProbes", 0.0)
    return Load(blocks, float(answers), dropped, timeouts, probes)


def loads() -> dict[str, dict[str, Load]]:
    """By profile and timer; those that are kept."""
    found = {profile: folders_of(OVERLOAD, profile) for profile in LOADS}
    return {
        profile: {timer: _load(folders) for timer, folders in of.items()}
        for profile, of in found.items()
        if of
    }


def dispersion(found: dict[str, dict[str, Load]]) -> float:
    """Variance of drops, which come in bursts, over their mean: between runs of a load and timer, over all
    of these. At least a Poisson count's 1, which is taken where no load has two runs."""
    groups = [np.array(load.dropped) for of in found.values() for load in of.values()]
    runs = sum(len(drops) - 1 for drops in groups)
    squares = sum(((drops - drops.mean()) ** 2).sum() / max(drops.mean(), 1) for drops in groups)
    return max(float(squares) / max(runs, 1), 1.0)


def overload(found: dict[str, dict[str, Load]]) -> str:
    rows, spreads = [], dispersion(found)
    for profile, of in found.items():
        for timer, load in of.items():
            row = [LOADS[profile], timer, f"{load.answers:,.0f}", f"{load.a_second:.1f}"]
            row.append("1" if timer == STOCK else spread(*_goodput(of, timer)))
            row.append(f"{sum(load.dropped):,.0f}")
            row.append("1" if timer == STOCK else spread(*_drops(of, timer, spreads)))
            rows.append([*row, f"{load.timeouts:.0f}", f"{load.probes:.0f}"])
    head = ["load", "timer", "answers", "a second", "× stock", "drops", "× stock", "timeouts", "probes"]
    return table_of(head, rows)


def _goodput(of: dict[str, Load], timer: str) -> tuple[float, Floats]:
    return of[timer].a_second / of[STOCK].a_second, of[timer].drawn / of[STOCK].drawn


def _drops(of: dict[str, Load], timer: str, spreads: float) -> tuple[float, Floats]:
    """Per answer; drops as counts whose variance is so many times their mean."""
    rng = np.random.default_rng(SEED)
    ours, stock = (max(sum(of[name].dropped), 1) for name in (timer, STOCK))
    value = ours / of[timer].answers / (stock / of[STOCK].answers)
    return value, value * np.exp(rng.normal(0, np.sqrt(spreads * (1 / ours + 1 / stock)), DRAWS))


def jain() -> Shared:
    """Of those that are kept."""
    out: Shared = {}
    for file in paths("beside"):
        if found := folders_of(file, "beside"):
            out[file.stem.removeprefix("thin-")] = {
                timer: [_index(file, folder) for folder in folders] for timer, folders in found.items()
            }
    return out


def _index(file: Path, folder: Path) -> tuple[float, float]:
    of = results.read_info(folder)
    own_mbps = 8 * of["bytes"] / of["elapsed_us"]
    chosen = scenario.load(file, "beside")
    measured = dict(beside.figures(chosen, folder, own_mbps, of["elapsed_us"], results.read_nstat))
    return measured["jain_index"], own_mbps


def beside_stock(found: Shared) -> str:
    rows = []
    for path, of in found.items():
        row = [path, str(len(of[STOCK]))]
        for timer in (STOCK, *OURS):
            indices, mbps = np.array(of[timer]).T
            row += [f"{ratio(float(indices.mean()))} ({ratio(float(indices.min()))})"]
            row += [f"{mbps.mean():.2f}"]
        rows.append(row)
    head = [column for timer in (STOCK, *OURS) for column in (f"{timer}: Jain's index (least)", "Mbit/s")]
    return table_of(["path", "runs", *head], rows)


def visits() -> list[Cell]:
    found = ((what, cell(PROGRAMS, profile)) for profile, what in VISITS.items())
    return [Cell(what, c.timers) for what, c in found if c]


def by_program(cells: Sequence[Cell]) -> str:
    rows = []
    for c in cells:
        for timer, t in c.timers.items():
            row = [c.path, timer, f"{c.requests:,}"]
            row += ["–" if too_few(c, name) else milliseconds(t.of(f)) for name, f in FIGURES.items()]
            rows.append([*row, f"{t.needless_permille:.1f}", f"{sum(t.resends):.0f}"])
    figures = (f"{name}, ms" for name in FIGURES)
    return table_of(["program", "timer", "requests", *figures, "needless in 1,000", "resends"], rows)


def bar(
    found: dict[str, Overruns],
    loaded: dict[str, dict[str, Load]],
    shared: Shared,
) -> Iterator[list[str]]:
    """Lines of the bar."""
    if found:
        fades_each = counted(min(map(len, found.values())), "fade")
        values = [verdict(value, 0.4, drawn) for value, drawn in (_over_stock(found, o) for o in OURS)]
        yield [f"mean overrun past a fade's end ({fades_each})", "≤ 0.4 × stock", *values]
    spreads = dispersion(loaded)
    for profile, of in loaded.items():
        values = [verdict(v, 0.98, drawn, least=True) for v, drawn in (_goodput(of, o) for o in OURS)]
        yield [f"{LOADS[profile]}: answers a second", "≥ 0.98 × stock", *values]
        values = [verdict(v, 1.1, drawn) for v, drawn in (_drops(of, o, spreads) for o in OURS)]
        yield [f"{LOADS[profile]}: drops an answer", "≤ 1.1 × stock", *values]
    for path, by_timer in shared.items():
        row = [f"Jain's index beside stock, {path} ({counted(len(by_timer[STOCK]), 'run')})", "≥ 0.95"]
        for timer in OURS:
            value, stock = (float(np.mean(by_timer[name], axis=0)[0]) for name in (timer, STOCK))
            met = "met" if value >= 0.95 else "missed"
            row.append(f"{ratio(value)}: {met}, stock itself {ratio(stock)}")
        yield row
