# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads scenario files as trees of TOML tables. A file overrides the file that it extends, and a profile (a
named table of overrides) overrides both. Tables are merged key by key; any other value replaces the earlier
one. These tables also replace the earlier one: `vary`, `variants`, a table with another `kind`, and a `path`
that names a file."""

import os
from pathlib import Path
from typing import Any

from tcplearn import documents, losses
from tcplearn.errors import UserError, did_you_mean, printable

Tree = dict[str, Any]

FULL = "full"  # the name of the profile that every file has: the unchanged file
PATH, FILE = "path", "file"  # the key of a scenario's path, and the key in it that names a path file
_WHOLE = ("vary", "variants")
_CLASSIFIERS = ("classifier", "loss")  # keys of loss classifiers, whose model may be a file
_MOST_BELOW = 20


def read(path: Path, profile: str = FULL, other: tuple[str, str] | None = None) -> Tree:
    """Return the tree of the scenario file `path` with its table of overrides `profile` applied. `other` is a
    pair: a key that only scenarios of another tcplearn command have, and that command. Raise UserError."""
    tree = extended(path)
    if other and other[0] in tree:
        raise UserError(f"{printable(path)}: a scenario of `tcplearn {other[1]}`; name it there")
    profiles = tree.pop("profiles", {})
    name = printable(path)
    if not isinstance(profiles, dict) or not all(isinstance(p, dict) for p in profiles.values()):
        raise UserError(f"{name}: profiles: a table of tables, as [profiles.smoke]")
    if profile in profiles:
        return overlaid(tree, profiles[profile])
    if profile == FULL:
        return tree
    known = list(dict.fromkeys((*profiles, FULL)))
    what = " ".join((did_you_mean(profile, known, ""), f"it has {', '.join(known)}")).strip()
    raise UserError(f"{name}: no profile {profile!r}; {what}")


def overlaid(base: Tree, over: Tree) -> Tree:
    out = dict(base)
    for key, value in over.items():
        below = out.get(key)
        if key == PATH and isinstance(below, str):
            below = {FILE: below}
        if (
            isinstance(below, dict)
            and isinstance(value, dict)
            and key not in _WHOLE
            and not (key == PATH and FILE in value)
            and value.get("kind", below.get("kind")) == below.get("kind")
        ):
            out[key] = overlaid(below, value)
        else:
            out[key] = value
    return out


def extended(path: Path, seen: tuple[str, ...] = ()) -> Tree:
    """Return the tree of the scenario file `path`, merged over the tree of the file that it extends. No
    profile is applied. Raise UserError."""
    tree = documents.toml(path)
    _resolve(tree, path)
    base = tree.pop("extends", None)
    if base is None:
        return tree
    real = os.path.realpath(path)
    if not isinstance(base, str) or real in seen:
        raise UserError(f"{printable(path)}: extends: give another scenario file's path")
    if len(seen) == _MOST_BELOW:
        raise UserError(f"{printable(path)}: extends: more than {_MOST_BELOW} files extend each other")
    return overlaid(extended(path.parent / base, (*seen, real)), tree)


def _resolve(value: Any, source: Path, key: str = "") -> None:
    if isinstance(value, dict):
        if key == PATH and FILE not in value and "source" not in value:
            value["source"] = str(source)
        for inner_key, inner in value.items():
            last = inner_key.rpartition(".")[2]
            is_file = last in ("trace", PATH, *_CLASSIFIERS) or (key == PATH and last == FILE)
            value[inner_key] = _absolute(inner, source, last) if is_file else inner
            _resolve(value[inner_key], source, last)
    elif isinstance(value, list):
        for inner in value:
            _resolve(inner, source)


def _absolute(value: Any, source: Path, key: str) -> Any:
    if isinstance(value, str) and key in _CLASSIFIERS:
        return losses.located(value, source.parent)
    if isinstance(value, str) and value:
        return os.path.realpath(source.parent / value)
    if isinstance(value, list) and key in (PATH, *_CLASSIFIERS):  # a list of files, in `vary`
        return [_absolute(inner, source, key) for inner in value]
    return value
