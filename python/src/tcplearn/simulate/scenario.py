# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads scenario files and unfolds a profile into runs. An error names file, key and what is allowed."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from tcplearn.errors import UserError, did_you_mean, printable
from tcplearn.scenario import toml_file
from tcplearn.simulate.models import Document, Grid, Profile, Scenario

FULL = "full"  # the grid as it stands: there without being written

Tree = dict[str, Any]
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Run:
    """One simulation: what to simulate, and how its rows are labelled."""

    file: Path
    document: Document
    scenario: Scenario
    algorithm: str
    timing: str
    seed: int
    labels: Mapping[str, Any] = field(default_factory=dict)  # variant and what is varied


def load(path: Path) -> Document:
    return _checked(Document, read_tree(path), path)


def read_tree(path: Path, seen: tuple[Path, ...] = ()) -> Tree:
    """The file over the one it extends; a trace's path is taken from the file that names it."""
    name = printable(path)
    tree = toml_file.read(path)
    _resolve_traces(tree, path.parent)
    base = tree.pop("extends", None)
    if base is None:
        return tree
    if not isinstance(base, str) or path in seen:
        raise UserError(f"{name}: extends: give another scenario file's path")
    return _merged(read_tree(path.parent / base, (*seen, path)), tree)


def _resolve_traces(tree: Tree, folder: Path) -> None:
    for key, value in tree.items():
        if isinstance(value, dict):
            _resolve_traces(value, folder)
        elif key.rpartition(".")[2] == "trace" and isinstance(value, str) and value:
            tree[key] = str((folder / value).resolve())


def _merged(base: Tree, over: Tree) -> Tree:
    out = dict(base)
    for key, value in over.items():
        both = isinstance(out.get(key), dict) and isinstance(value, dict)
        # another kind of topology or load shares no key with the one it replaces
        if (
            both
            and value.get("kind", out[key].get("kind")) == out[key].get("kind")
            and key not in ("vary", "variants")
        ):
            out[key] = _merged(out[key], value)
        else:
            out[key] = value
    return out


def _checked(model: type[M], tree: Any, path: Path, where: str = "") -> M:
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        raise UserError(f"{printable(path)}: {where}{_one_line(error, model)}") from None


def _one_line(error: ValidationError, model: type[BaseModel]) -> str:
    # a wrong key tells more than the key that is missing because of it
    first = min(error.errors(), key=lambda e: e["type"] == "missing")
    place, fields = _place(first["loc"], model)
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        key = str(first["loc"][-1])
        return f"{place}: no such key; {did_you_mean(key, fields, 'allowed: ' + ', '.join(fields))}"
    if first["type"] == "missing":
        return f"{place}: is missing"
    if first["type"] == "union_tag_invalid":
        tag, known = str(first["ctx"]["tag"]), str(first["ctx"]["expected_tags"]).replace("'", "").split(", ")
        return f"{place}.kind: no {tag!r}; {did_you_mean(tag, known, 'there are ' + ' and '.join(known))}"
    message = message.replace("Input should be", "should be")
    got = first.get("input")
    shown = f", not {got!r}" if isinstance(got, (str, int, float, bool)) else ""
    return f"{place}: {message[:1].lower()}{message[1:]}{shown}" if place else message


def _place(loc: tuple[Any, ...], model: type[BaseModel]) -> tuple[str, list[str]]:
    """The key as the file has it, and the keys its table may have."""
    words: list[str] = []
    at: Any = model
    for word in loc:
        known = at.model_fields if isinstance(at, type) and issubclass(at, BaseModel) else {}
        if word in known:
            words.append(str(word))
            at = _inner(known[word].annotation)
        elif isinstance(at, tuple):  # a union: this word is its tag
            at = next(m for m in at if word in get_args(m.model_fields["kind"].annotation))
        else:
            words.append(str(word))
            if word != loc[-1]:
                at = _inner(get_args(at)[-1]) if get_args(at) else None
    return ".".join(words), list(at.model_fields) if isinstance(at, type) and issubclass(
        at, BaseModel
    ) else []


def _inner(annotation: Any) -> Any:
    members = tuple(a for a in get_args(annotation) if isinstance(a, type) and issubclass(a, BaseModel))
    return members if len(members) > 1 else annotation


def profile_of(document: Document, name: str, path: Path) -> Profile:
    if name in document.profiles:
        return document.profiles[name]
    if name == FULL:
        return Profile()
    known = list(dict.fromkeys((*document.profiles, FULL)))
    raise UserError(
        f"{printable(path)}: no profile {name!r}; {did_you_mean(name, known, 'it has ' + ', '.join(known))}"
    )


def runs(path: Path, profile_name: str) -> list[Run]:
    """Every run of a profile, each once, the cheap order of the file kept: seeds innermost."""
    document = load(path)
    profile = profile_of(document, profile_name, path)
    base = document.grid.model_dump()
    out: dict[tuple[Any, ...], Run] = {}
    for i, grid in enumerate(profile.grids):
        where = f"profiles.{profile_name}.grids[{i}]."
        for run in _unfold(path, document, profile, _checked(Grid, {**base, **grid}, path, where)):
            out.setdefault((run.algorithm, run.timing, run.seed, repr(run.labels), repr(run.scenario)), run)
    return list(out.values())


def _unfold(path: Path, document: Document, profile: Profile, grid: Grid) -> Iterator[Run]:
    for variant in grid.variants or [""]:
        if variant and variant not in document.variants:
            todo = did_you_mean(
                variant, document.variants, "it has " + (", ".join(document.variants) or "none")
            )
            raise UserError(f"{printable(path)}: no variant {variant!r}; {todo}")
        fixed = {**profile.set, **grid.set, **document.variants.get(variant, {})}
        for values in itertools.product(*grid.vary.values()):
            varied = dict(zip(grid.vary, values, strict=True))
            scenario = _with(path, document, {**fixed, **varied})
            labels = {**({"variant": variant} if variant else {}), **varied}
            for algorithm, timing in itertools.product(grid.algorithms, grid.timings):
                for seed in range(1, grid.seeds + 1):
                    yield Run(path, document, scenario, algorithm, timing, seed, labels)


def _with(path: Path, document: Document, changes: Mapping[str, Any]) -> Scenario:
    tree = copy.deepcopy(document.scenario.model_dump())
    for dotted, value in changes.items():
        *way, last = dotted.split(".")
        at: Any = tree
        for word in way:
            at = at.get(word) if isinstance(at, dict) else None
        if not isinstance(at, dict) or last not in at:
            known = list(_dotted(tree))
            raise UserError(
                f"{printable(path)}: {dotted}: no such key to set; "
                f"{did_you_mean(dotted, known, 'give one of [scenario], as topology.rate_mbps')}"
            )
        at[last] = value
    return _checked(Scenario, tree, path, "scenario.")


def _dotted(tree: Tree, before: str = "") -> Iterator[str]:
    for key, value in tree.items():
        yield before + key
        if isinstance(value, dict):
            yield from _dotted(value, f"{before}{key}.")
