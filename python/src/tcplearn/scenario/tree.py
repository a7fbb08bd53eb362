# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Scenario files as trees: TOML, the file that one extends, and its profiles laid over it.

One rule says what it is to lie over: tables are merged key by key; all else, lists included, takes the
place of what was there. So do a table of another `kind` (it shares no key with the one it replaces), `vary`
and `variants` (they list what is crossed).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tcplearn import documents
from tcplearn.errors import UserError, did_you_mean, printable

Tree = dict[str, Any]

#: The file as it stands: a profile that is there without being written.
FULL = "full"
_WHOLE = ("vary", "variants")
_MOST_BELOW = 20


def read(path: Path, profile: str = FULL, other: tuple[str, str] | None = None) -> Tree:
    """The file over the one it extends, the profile over both. `other`: a key that only files of another
    command have, and that command. Raises UserError with one line."""
    tree = _extended(path, ())
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
        if (
            isinstance(below, dict)
            and isinstance(value, dict)
            and key not in _WHOLE
            and value.get("kind", below.get("kind")) == below.get("kind")
        ):
            out[key] = overlaid(below, value)
        else:
            out[key] = value
    return out


def _extended(path: Path, seen: tuple[str, ...]) -> Tree:
    tree = documents.toml(path)
    _resolve_traces(tree, path.parent)
    base = tree.pop("extends", None)
    if base is None:
        return tree
    real = os.path.realpath(path)
    if not isinstance(base, str) or real in seen:
        raise UserError(f"{printable(path)}: extends: give another scenario file's path")
    if len(seen) == _MOST_BELOW:
        raise UserError(f"{printable(path)}: extends: more than {_MOST_BELOW} files over each other")
    return overlaid(_extended(path.parent / base, (*seen, real)), tree)


def _resolve_traces(value: Any, folder: Path) -> None:
    """A link trace's path is taken from the file that names it."""
    if isinstance(value, list):
        for item in value:
            _resolve_traces(item, folder)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key.rpartition(".")[2] == "trace" and isinstance(inner, str) and inner:
                value[key] = os.path.realpath(folder / inner)
            else:
                _resolve_traces(inner, folder)
