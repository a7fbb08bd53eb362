# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads scenario files as trees of TOML tables. A file may extend another file and may have profiles,
which are named tables of overrides.

A file overrides the file that it extends, and a profile overrides both. Tables are merged key by key; any
other value, also a list, replaces the earlier value. Three kinds of tables are replaced too, instead of
merged:

- a table with another `kind`, because the two have different keys
- `vary` and `variants`, which list the values to combine
- a `path` that names a file; a path that names no file is merged
"""

import os
from pathlib import Path
from typing import Any

from tcplearn import documents
from tcplearn.errors import UserError, did_you_mean, printable

Tree = dict[str, Any]

#: The name of the profile that every file has: the unchanged file.
FULL = "full"
#: The key of a scenario that describes the path, and the key in that table that names a path file.
PATH, FILE = "path", "file"
_WHOLE = ("vary", "variants")
_MOST_BELOW = 20


def read(path: Path, profile: str = FULL, other: tuple[str, str] | None = None) -> Tree:
    """Return the tree of the scenario file `path` with `profile` (a named table of overrides in the file)
    applied; raise UserError with one line. `other` is a key that marks files of another tcplearn command,
    and that command's name."""
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
    """Return the tree of the file `path`, laid over the file that it extends; the profiles are not yet
    applied. `seen` are the files that extend this file. Raise UserError."""
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
    """Make the names of link traces and path files in `value` absolute; in the file they are relative to
    `source`. A path described in the file itself gets `source` as its name in messages."""
    if isinstance(value, dict):
        if key == PATH and FILE not in value and "source" not in value:
            value["source"] = str(source)
        for inner_key, inner in value.items():
            last = inner_key.rpartition(".")[2]
            is_file = last in ("trace", PATH) or (key == PATH and last == FILE)
            value[inner_key] = _absolute(inner, source, last) if is_file else inner
            _resolve(value[inner_key], source, last)
    elif isinstance(value, list):
        for inner in value:
            _resolve(inner, source)


def _absolute(value: Any, source: Path, key: str) -> Any:
    if isinstance(value, str) and value:
        return os.path.realpath(source.parent / value)
    if isinstance(value, list) and key == PATH:  # a list of path files, in `vary`
        return [_absolute(inner, source, key) for inner in value]
    return value
