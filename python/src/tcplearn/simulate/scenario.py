# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads ns-3 scenario files and expands a profile (a named table of overrides) to its runs."""

import copy
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcplearn.errors import UserError, did_you_mean, printable
from tcplearn.scenario import path as network_path
from tcplearn.scenario import tree
from tcplearn.scenario.check import checked
from tcplearn.simulate import draws
from tcplearn.simulate.models import Document, Grid, Scenario


@dataclass(frozen=True)
class Run:
    file: Path
    document: Document
    scenario: Scenario
    algorithm: str
    timing: str
    seed: int
    labels: Mapping[str, Any] = field(default_factory=dict)  # variant, varied and drawn values
    drawn: Mapping[str, Any] = field(default_factory=dict)


def load(path: Path, profile: str = tree.FULL) -> Document:
    return checked(Document, tree.read(path, profile, (tree.PATH, "lab run")), path)


def runs(path: Path, profile: str) -> list[Run]:
    """Return every distinct run of the scenario file `path` with the table of overrides named `profile`."""
    document = load(path, profile)
    base = document.grid.model_dump()
    out: dict[tuple[Any, ...], Run] = {}
    for i, grid in enumerate(document.grids):
        whole = checked(Grid, tree.overlaid(base, grid), path, f"grids[{i}].")
        for run, scenario in _unfold(path, document, whole):
            labels = repr(sorted(run.labels.items()))
            out.setdefault((run.algorithm, run.timing, run.seed, labels, scenario), run)
    return list(out.values())


def _unfold(path: Path, document: Document, grid: Grid) -> Iterator[tuple[Run, str]]:
    for variant in grid.variants or [""]:
        if variant and variant not in document.variants:
            known = "it has " + (", ".join(document.variants) or "none")
            todo = did_you_mean(variant, document.variants, known)
            raise UserError(f"{printable(path)}: no variant {variant!r}; {todo}")
        fixed = {**grid.set, **document.variants.get(variant, {})}
        for values in itertools.product(*grid.vary.values()):
            varied = dict(zip(grid.vary, values, strict=True))
            named = {key: _label(key, value) for key, value in varied.items()}
            labels = {**({"variant": variant} if variant else {}), **named}
            by_seed = {
                seed: (scenario, repr(scenario), drawn, {**labels, **drawn})
                for seed, (scenario, drawn) in _scenarios(path, document, grid, {**fixed, **varied}).items()
            }
            for algorithm, timing in itertools.product(grid.algorithms, grid.timings):
                for seed, (scenario, text, drawn, labelled) in by_seed.items():
                    yield Run(path, document, scenario, algorithm, timing, seed, labelled, drawn), text


def _scenarios(
    path: Path, document: Document, grid: Grid, changes: Mapping[str, Any]
) -> dict[int, tuple[Scenario, dict[str, Any]]]:
    seeds = range(grid.first_seed, grid.first_seed + grid.seeds)
    if not grid.draw:
        scenario = _with(path, document, changes)
        return {seed: (scenario, {}) for seed in seeds}
    out = {}
    for seed in seeds:
        drawn = draws.drawn(grid.draw, document.name, seed)
        kept = {key: value for key, value in drawn.items() if key not in changes}
        out[seed] = _with(path, document, {**kept, **changes}), kept
    return out


def _with(path: Path, document: Document, changes: Mapping[str, Any]) -> Scenario:
    changed = copy.deepcopy(document.scenario.model_dump())
    if described := document.scenario.path:
        changed[tree.PATH] = copy.deepcopy(described.given)
    if described or tree.PATH in changes:  # the path determines the topology anew
        changed.pop("topology")
    # set a new path first, then change its keys
    for dotted, value in sorted(changes.items(), key=lambda item: item[0] != tree.PATH):
        *way, last = dotted.split(".")
        at: Any = changed
        for depth, word in enumerate(way):
            if way[0] == tree.PATH and depth > 2 and isinstance(at, dict):
                at.setdefault(word, {})  # create a missing table of an existing hop
            at = at.get(word) if isinstance(at, dict) else None
        if not isinstance(at, dict) or (last not in at and way[:1] != [tree.PATH]):
            known = list(_dotted(changed))
            todo = "give a key of [scenario], such as topology.rate_mbps"
            if described and way[:1] == ["topology"]:
                known, todo = [], "the scenario has a path; give a key of it, as path.hop.access.delay_ms"
            todo = did_you_mean(dotted, known, todo)
            raise UserError(f"{printable(path)}: {dotted}: no such key to set; {todo}")
        at[last] = network_path.expanded(value, "ns3") if dotted == tree.PATH else value
    return checked(Scenario, changed, path, "scenario.")


def _label(key: str, value: Any) -> Any:
    return Path(value).stem if key == tree.PATH and isinstance(value, str) else value


def _dotted(of: tree.Tree, before: str = "") -> Iterator[str]:
    for key, value in of.items():
        yield before + key
        if isinstance(value, dict):
            yield from _dotted(value, f"{before}{key}.")
