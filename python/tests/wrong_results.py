# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes wrong versions of a stored result, as a person or a disk may have changed it. Most are valid JSON."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tcplearn.jobs import Job, Kept

#: Of a result's own keys; the others say what made it.
_STAMP = ("key", "format", "version", "commit", "arguments")

TEXTS: dict[str, str] = {
    "a list": "[]",
    "null": "null",
    "a number": "1",
    "nothing in it": "{}",
    "cut off": '{"key": "',
    "5,000 digits": "1" * 5000,
    "100,000 brackets": "[" * 100_000,
    "not text": "\udcff\udcfe\udcff",
}


def _numbers(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each number in `value`, without booleans."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _numbers(inner, (*way, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield way


def _with(found: dict[str, Any], way: tuple[Any, ...], value: Any) -> dict[str, Any]:
    out = copy.deepcopy(found)
    at: Any = out
    for key in way[:-1]:
        at = at[key]
    at[way[-1]] = value
    return out


def changes(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return changed versions of the good result `found`, by a description of the change."""
    own = [key for key in found if key not in _STAMP]
    out = {f"{key} is not there": {k: v for k, v in found.items() if k != key} for key in (*own, "key")}
    out |= {f"{key} is a word": {**found, key: "x"} for key in (*own, "key", "format")}
    out |= {f"{key} is a list in a list": {**found, key: [[1]]} for key in own}
    out |= {f"{key} is an object": {**found, key: {"a": {}}} for key in own}
    out["of a later version"] = {**found, "format": 99}
    out["a key that is a list"] = {**found, "key": []}
    numbers = list(_numbers({key: found[key] for key in own}))
    for way in (numbers[0], numbers[-1]):
        for value in (float("nan"), float("inf"), True, "1", 10**400):
            out[f"{'.'.join(map(str, way))} is {str(value)[:10]}"] = _with(found, way, value)
    return out


def ways(good: bytes) -> dict[str, bytes]:
    """Return changed contents of the file of a good result, by a description of the change."""
    out = {name: text.encode(errors="surrogateescape") for name, text in TEXTS.items()}
    return out | {name: json.dumps(found).encode() for name, found in changes(json.loads(good)).items()}


def check(kept: Kept, job: Job, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that each wrong version of `file` is treated as absent, with one line that names the file, and
    that the original is accepted again."""
    good = file.read_bytes()
    expected = kept.get(job)
    assert expected is not None and not capsys.readouterr().err
    for name, wrong in ways(good).items():
        file.write_bytes(wrong)
        store = copy.copy(kept)
        store._unfit = set()
        assert store.get(job) is None, name
        assert store.get(job) is None, name
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"tcplearn: warning: {file}: not the result that was stored"), name
        assert not store.has(job), name
    file.write_bytes(good)
    assert kept.get(job) == expected
