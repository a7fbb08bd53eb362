# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checks the form of stored results when they are read, so that the code that uses them need not check."""

import sys
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_type_hints

#: The form of JSON data. bool, int, str and float (any finite number) stand for themselves. A dataclass
#: stands for an object with exactly its fields, [shape] for a list of values of this shape, (shape, ...) for
#: a list of exactly these values, and {"key": shape} for an object with at least these keys.
Shape = Any
_FLOAT_MAX = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Each:
    """The shape of an object with any keys."""

    value: Shape  # the shape of each of its values


@dataclass(frozen=True, slots=True)
class Maybe:
    value: Shape  # the shape of a value that may also be null or missing


def check(found: object, shape: Shape, where: str = "") -> None:
    """Raise ValueError if the value `found` does not have the form `shape`. The message begins with the path
    of the wrong part: `where`, followed by the keys that lead to it."""
    match shape:
        case Maybe():
            if found is not None:
                check(found, shape.value, where)
        case type() if is_dataclass(shape):
            known = _fields(shape)
            _need(isinstance(found, dict) and found.keys() == known.keys(), where, "an object of its fields")
            check(found, known, where)
        case type():
            _need(_is(found, shape), where, f"a {shape.__name__}")
        case list() | tuple():
            _need(isinstance(found, list), where, "a list")
            assert isinstance(found, list)
            shapes = shape * len(found) if isinstance(shape, list) else shape
            _need(len(found) == len(shapes), where, f"{len(shapes)} values")
            for k, (value, inner) in enumerate(zip(found, shapes, strict=True)):
                check(value, inner, f"{where}[{k}]")
        case Each() | dict():
            _need(isinstance(found, dict), where, "an object")
            assert isinstance(found, dict)
            for key, inner in shape.items() if isinstance(shape, dict) else ((k, shape.value) for k in found):
                _need(key in found or isinstance(inner, Maybe), f"{where}.{key}", "there")
                check(found.get(key), inner, f"{where}.{key}")


@cache
def _fields(of: Any) -> dict[str, Shape]:
    types = get_type_hints(of)
    return {field.name: _shape_of(types[field.name]) for field in fields(of)}


def _shape_of(annotation: Any) -> Shape:
    if not isinstance(annotation, UnionType):
        return annotation
    (kind,) = (of for of in get_args(annotation) if of is not NoneType)
    return Maybe(kind)


def _is(found: object, kind: type) -> bool:
    if kind is float:
        return isinstance(found, int | float) and not isinstance(found, bool) and abs(found) <= _FLOAT_MAX
    if kind is int:
        return isinstance(found, int) and not isinstance(found, bool) and abs(found) < 1 << 63
    return isinstance(found, kind)


def _need(holds: bool, where: str, what: str) -> None:
    if not holds:
        raise ValueError(f"{where.lstrip('.') or 'it'} is not {what}")
