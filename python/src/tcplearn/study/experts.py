# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements `study experts`. It measures how three parameters affect the error of the RTT estimator
`experts` on any trace, as section 4.1 of the paper nunes2014 does: the number of experts N, the learning rate
eta and the sharing rate alpha."""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcplearn import estimators, metrics, provenance
from tcplearn.errors import UserError, printable
from tcplearn.jobs import Progress
from tcplearn.output.rows import Record, head_of, tidy
from tcplearn.replay import copies
from tcplearn.replay.copies import Copied
from tcplearn.replay.results import TOO_SHORT
from tcplearn.replay.trace_jobs import Where
from tcplearn.study import measure
from tcplearn.study.measure import Sums

#: The paper's choice (nunes2014, end of section 4.1): "we use N = 100, eta = 2 and alpha = 0.08".
PAPER = (100, 2.0, 0.08)

N = (10, 25, 50, 100, 200)
#: Eta: nunes2014's choice (2), the ends of the range that it found good (1.7 and 2.5), and values beyond.
ETA = (0.1, 0.25, 0.5, 1, 1.7, 2, 2.5, 4, 8)
#: Alpha: no sharing, nunes2014's choice (0.08), nearly full sharing, and values between.
ALPHA = (0, 0.001, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 0.999)

COPIES_NAMED = 20

PRESETS = ("experts", "experts/fitted")
REFERENCES = ("jacobson", "last")
#: The columns of a row that identify it and are not metrics.
KEYS = ("estimator", "n", "eta", "alpha")
_SETTINGS = ("arithmetic", "sender", "every_ack", "min_samples", "flow")  # the options of all jobs


@dataclass(frozen=True, slots=True)
class Options:
    preset: str = "experts"
    n: tuple[float, ...] = N
    eta: tuple[float, ...] = ETA
    alpha: tuple[float, ...] = ALPHA
    arithmetic: str = "double"
    sender: str = "auto"
    every_ack: bool = False
    min_samples: int = TOO_SHORT
    flow: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    n: int
    eta: float
    alpha: float
    spec: estimators.Spec

    @property
    def triple(self) -> tuple[int, float, float]:
        return self.n, self.eta, self.alpha

    @property
    def named(self) -> str:
        return f"N={self.n}, η={self.eta:g}, α={self.alpha:g}"


@dataclass(slots=True)
class Study:
    options: Options
    files: list[str]
    cells: list[Cell]
    scores: list[Sums]  # in the order of `cells`
    references: dict[str, Sums]
    flows: int
    samples: int
    skipped: int  # flows left out because they have too few samples
    warnings: list[str]
    made_by: dict[str, str]

    def ratio(self, score: Sums) -> float | None:
        base = self.references["jacobson"].error
        return score.error / base if base else None

    def half_ratio(self, score: Sums, which: int) -> float | None:
        base = self.references["jacobson"].half(which)
        return score.half(which) / base if base else None

    def _least(self, error: Callable[[Sums], float]) -> int:
        return min(range(len(self.cells)), key=lambda i: error(self.scores[i]))

    @property
    def best(self) -> int:
        """Return the index in `cells` of the parameters with the least error over all flows."""
        return self._least(lambda score: score.error)

    @property
    def best_of_first_half(self) -> int:
        return self._least(lambda score: score.half(0))

    @property
    def best_of_second_half(self) -> int:
        return self._least(lambda score: score.half(1))

    @property
    def at_edge(self) -> list[str]:
        """Return those parameters of `experts` ("N", "η", "α") whose best value is the largest or the
        smallest value that was tried. A best value of 0 does not count, because smaller values do not
        exist."""
        best, options = self.cells[self.best], self.options
        grids = (("N", best.n, options.n), ("η", best.eta, options.eta), ("α", best.alpha, options.alpha))
        return [k for k, v, grid in grids if len(grid) > 1 and (v == max(grid) or (v == min(grid) and v > 0))]

    @property
    def paper(self) -> int | None:
        """Return the index in `cells` of the parameters of nunes2014, or None if they were not tried."""
        for i, cell in enumerate(self.cells):
            if cell.triple == PAPER and not any(cell.spec.params.get(key) for key in ("loss", "share")):
                return i
        return None


def cells_of(options: Options) -> list[Cell]:
    """Return a Cell for each combination of N, eta and alpha in `options`. Raise UserError."""
    base = estimators.parse(options.preset)
    for key in ("n", "eta", "alpha"):
        if not estimators.parameter(base, key):
            raise UserError(
                f"--preset {options.preset}: it has no parameter '{key}'; give {' or '.join(PRESETS)}"
            )
    if any(value != int(value) for value in options.n):
        raise UserError("--n: a number of experts is whole")
    joint = "," if ":" in options.preset else ":"
    out = []
    for n, eta, alpha in itertools.product(sorted(options.n), sorted(options.eta), sorted(options.alpha)):
        spec = estimators.parse(f"{options.preset}{joint}n={int(n)},eta={eta!r},alpha={alpha!r}")
        out.append(Cell(int(n), eta, alpha, spec))
    return out


def run(
    paths: Sequence[Path],
    options: Options | None = None,
    progress: Progress | None = None,
    where: Where | None = None,
) -> Study:
    """Return the errors, misses (RTTs above the RTO) and RTOs of the RTT estimator `experts` on the traces in
    `paths`, for every triple of the number of experts N, the learning rate eta and the sharing rate alpha.
    Raise UserError or TraceError."""
    options = options or Options()
    cells = cells_of(options)
    specs = [*(c.spec.text for c in cells), *REFERENCES]
    settings = {key: getattr(options, key) for key in _SETTINGS}
    shown = [str(path) for path in paths]
    with contextlib.ExitStack() as stack:
        work = [measure.jobs(measure.seen(path, stack), settings, specs) for path in paths]
        done = measure.run({job.key: job for jobs in work for job in jobs}, progress, where or Where())
    scores, samples, skipped = [Sums() for _ in specs], list[int](), 0
    seen, left_out, warnings = copies.Seen(), list[Copied](), list[str]()
    for number, (path, jobs) in enumerate(zip(shown, work, strict=True)):
        parts = [done[job.key] for job in jobs]
        of_file = parts[0]
        names = [f"{path} {name}" for name in of_file["names"]]
        keys = of_file["copies_keys"]
        firsts = [seen.first(key, number, name) for key, name in zip(keys, names, strict=True)]
        left_out += copies.of_file(path, names, firsts, shown)
        fresh = [i for i, first in enumerate(firsts) if first is None]
        skipped += of_file["skipped"]
        samples += [of_file["samples"][i] for i in fresh]
        warnings += [f"{path}: {line}" for line in of_file["warnings"]]
        found = (score for part in parts for score in part["scores"])
        for k, flows in enumerate(found):
            for i in fresh:
                scores[k] = scores[k].plus(flows[i])
    warnings += copies.sentence(left_out, COPIES_NAMED)
    if not samples:
        where_named = f" with '{options.flow}' in its name" if options.flow else ""
        few = f"no flow{where_named} of {options.min_samples} samples or more"
        raise UserError(f"{printable(', '.join(shown))}: {few}")
    made_by = provenance.made_by(
        preset=options.preset,
        **{key: ",".join(f"{v:g}" for v in getattr(options, key)) for key in KEYS[1:]},
        **settings | {"every_ack": str(options.every_ack).lower(), "min_samples": str(options.min_samples)},
    )
    tried, references = scores[: len(cells)], dict(zip(REFERENCES, scores[len(cells) :], strict=True))
    counts = (len(samples), sum(samples), skipped)
    return Study(options, shown, cells, tried, references, *counts, warnings, made_by)


def marks(study: Study) -> dict[int, list[str]]:
    """Return remarks such as "best in hindsight", by the index of the parameters in `study.cells`."""
    out: dict[int, list[str]] = {study.best: ["best in hindsight"]}
    out.setdefault(study.best_of_first_half, []).append("best of the first half")
    if study.paper is not None:
        out.setdefault(study.paper, []).append("the paper's choice")
    return out


def _row(study: Study, score: Sums, key: Sequence[Any], note: str = "") -> Record:
    return {
        **dict(zip(KEYS, key, strict=True)),
        "flows": study.flows,
        "samples": study.samples,
        "mean_abs_error_ms": score.error / 1000,
        "mean_abs_error_ratio": study.ratio(score),
        "rto_miss_rate": score.miss_rate,
        "mean_rto_ms": score.rto_us / max(1, score.timed) / 1000,
        "excess_wait_ms": score.excess_us / max(1, score.timed) / 1000,
        "first_half_error_ms": score.half(0) / 1000,
        "second_half_error_ms": score.half(1) / 1000,
        "first_half_error_ratio": study.half_ratio(score, 0),
        "second_half_error_ratio": study.half_ratio(score, 1),
        "note": note,
    }


def rows(study: Study) -> list[Record]:
    """Return a row for each triple (N, eta, alpha), then one for each reference, where they are None."""
    said = marks(study)
    preset = study.options.preset
    tried = [
        _row(study, score, (preset, *cell.triple), ", ".join(said.get(i, [])))
        for i, (cell, score) in enumerate(zip(study.cells, study.scores, strict=True))
    ]
    return tried + [_row(study, score, (name, None, None, None)) for name, score in study.references.items()]


def tidied(study: Study, wide: Sequence[Record]) -> Iterator[Record]:
    """Yield a row for each metric of each row of `wide`, with N, eta and alpha as `parameters`."""
    source = ", ".join(study.files)
    made = {key: value for key, value in study.made_by.items() if key not in KEYS}  # leave out the whole grid
    for row in wide:
        cell = {key: row[key] for key in KEYS[1:] if row[key] is not None}
        own = {"algorithm": row["estimator"], "parameters": cell}
        head = head_of(metrics.REPLAY, made, source=source, flow="total", **own)
        yield from tidy(head, {key: value for key, value in row.items() if key not in KEYS})
