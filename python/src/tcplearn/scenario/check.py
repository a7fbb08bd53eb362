# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Validates scenario files. An error message is one line with the wrong key and the allowed values."""

from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from tcplearn.errors import UserError, did_you_mean, printable

M = TypeVar("M", bound=BaseModel)
TABLE, TEXT = "table", "text"  # tags for a value that may be a table or a text; they are no keys of the file
_SHOWN = 60


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)  # strict: true is not a number

    @classmethod
    def keys(cls) -> list[str]:
        return list(cls.model_fields)


def checked(model: type[M], tree: Any, path: Path, where: str = "") -> M:
    """Return `tree`, the content of the file `path`, as an instance of `model`. Raise UserError, which names
    the first wrong key; `where` is the text before the key in the message, such as "grids[0]."."""
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        raise UserError(f"{printable(path)}: {where}{printable(_one_line(error, model))}") from None


def _one_line(error: ValidationError, model: type[BaseModel]) -> str:
    # a wrong key comes first, because a missing key may be its consequence
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
    got, plain = first.get("input"), (str, int, float, bool)
    shown = f", not {repr(got)[:_SHOWN]}" if first["type"] != "value_error" and isinstance(got, plain) else ""
    return f"{place}: {message[:1].lower()}{message[1:]}{shown}" if place else message


def _place(loc: tuple[Any, ...], model: type[BaseModel]) -> tuple[str, list[str]]:
    words: list[str] = []
    at: list[type[BaseModel]] = [model]  # several models for a union; the next word is its tag
    for word in loc:
        known = at[0].model_fields if len(at) == 1 else {}
        if word in (TABLE, TEXT):
            continue
        if word in known:
            words.append(str(word))
            at = _models(known[word].annotation)
        elif len(at) > 1:
            at = [m for m in at if word in get_args(m.model_fields["kind"].annotation)]
        else:  # an index in a list, or an unknown key
            words.append(str(word))
    return ".".join(words), _keys(at[0]) if len(at) == 1 else []


def _keys(model: type[BaseModel]) -> list[str]:
    return model.keys() if issubclass(model, Table) else list(model.model_fields)


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models(inner)]
