# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read and write the perceptron of a loss classifier as JSON. Reading checks the range of each number. As in
the C core, weights have 24 fractional bits; the means and gains of inputs have 30."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tcplearn import documents
from tcplearn.errors import UserError, printable

WEIGHT_MAX, GAIN_MAX, MEAN_MAX, HIDDEN_MAX = 64.0, 256.0, 2.0**22, 64  # no sum in mlp_fixed.h overflows
WEIGHT_BITS, SCALE_BITS = 24, 30
NAME_MAX = 31  # characters of the name of an own model, in its text for the core
_KEYS = ("name", "inputs", "mean", "gain", "hidden", "hidden_bias", "output", "output_bias")


@dataclass(frozen=True, slots=True)
class Model:
    """A perceptron with one hidden layer: the probability that a loss is due to congestion is s(output .
    s(hidden . z + hidden_bias) + output_bias), where s(x) = 1 / (1 + e^-x) and z = (feature - mean) gain,
    limited to [-5, 5]."""

    name: str
    inputs: tuple[str, ...]
    mean: tuple[float, ...]
    gain: tuple[float, ...]
    hidden: tuple[tuple[float, ...], ...]
    hidden_bias: tuple[float, ...]
    output: tuple[float, ...]
    output_bias: float
    about: Mapping[str, Any] = field(default_factory=dict)  # how the model was trained, for human readers


def rounded(value: float, bits: int = WEIGHT_BITS) -> float:
    """Return the number with `bits` fractional bits that is nearest to `value`."""
    return math.ldexp(float(round(math.ldexp(value, bits))), -bits)


def fixed(value: float, bits: int) -> int:
    """Return `value` as the integer that the C core stores. `value` has at most `bits` fractional bits."""
    return round(math.ldexp(value, bits))


class Reader:
    """Reads numbers from the JSON object `document`, which must have `keys`. Errors name the file `where`."""

    def __init__(self, where: str, document: object, keys: Sequence[str]) -> None:
        self.where = where
        if not isinstance(document, dict):
            raise self.error("not a model: an object is needed")
        self.document: dict[str, Any] = document
        missing = [key for key in keys if key not in document]
        if missing:
            raise self.error(f"not a model: {', '.join(missing)} missing")

    def error(self, what: str) -> UserError:
        return UserError(f"{self.where}: {what}")

    def number(self, what: str, value: object, most: float, bits: int = WEIGHT_BITS) -> float:
        given = self.float_of(what, value)
        if not math.isfinite(given):
            raise self.error(f"{what} is not finite: {given}")
        if abs(given) > most:
            raise self.error(f"{what} is {given:g}, beyond {most:g}")
        return rounded(given, bits)

    def float_of(self, what: str, value: object) -> float:
        """Return `value` as a float, which is infinite if `value` is too large. Raise UserError, which names
        `what`, if `value` is no number."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f"{what} is not a number: {printable(value)[:40]}")
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf

    def numbers(
        self, what: str, values: object, count: int, most: float, bits: int = WEIGHT_BITS
    ) -> tuple[float, ...]:
        if not isinstance(values, list) or len(values) != count:
            raise self.error(f"{what} needs {count} numbers")
        return tuple(self.number(f"{what}[{k}]", v, most, bits) for k, v in enumerate(values))


def from_document(document: object, where: str, features: Sequence[str]) -> Model:
    """Return the perceptron in `document`, the content of the JSON file `where`. `features` has the names of
    the input features that the C core knows. Raise UserError."""
    reader = Reader(where, document, _KEYS)
    name, inputs, units = (reader.document[key] for key in ("name", "inputs", "hidden"))
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        raise reader.error("name has to be an identifier")
    if not isinstance(inputs, list) or not inputs or not all(isinstance(f, str) for f in inputs):
        raise reader.error("inputs has to be a list of features")
    unknown = [f for f in inputs if f not in features]
    if unknown or len(set(inputs)) != len(inputs):
        raise reader.error(f"no feature {printable(unknown[0])}" if unknown else "an input is there twice")
    if not isinstance(units, list) or not 1 <= len(units) <= HIDDEN_MAX:
        raise reader.error(f"hidden has to be a list of 1 to {HIDDEN_MAX} units")
    gain = reader.numbers("gain", reader.document["gain"], len(inputs), GAIN_MAX, SCALE_BITS)
    if min(gain) <= 0:
        raise reader.error("gain has to be above 0")
    about = reader.document.get("about", {})
    return Model(
        name=name,
        inputs=tuple(inputs),
        mean=reader.numbers("mean", reader.document["mean"], len(inputs), MEAN_MAX, SCALE_BITS),
        gain=gain,
        hidden=tuple(
            reader.numbers(f"hidden[{k}]", unit, len(inputs), WEIGHT_MAX) for k, unit in enumerate(units)
        ),
        hidden_bias=reader.numbers("hidden_bias", reader.document["hidden_bias"], len(units), WEIGHT_MAX),
        output=reader.numbers("output", reader.document["output"], len(units), WEIGHT_MAX),
        output_bias=reader.number("output_bias", reader.document["output_bias"], WEIGHT_MAX),
        about=about if isinstance(about, dict) else {},
    )


def read(path: Path, features: Sequence[str]) -> Model:
    return from_document(documents.json_file(path), printable(path), features)


def words(model: Model) -> str:
    """Return `model` as the line of text that the C core reads (loss/own_model.h), with numbers as the
    integers that the C core stores. Raise UserError."""
    if len(model.name) > NAME_MAX:
        raise UserError(f"model {model.name}: a name of an own model has at most {NAME_MAX} characters")
    inputs = zip(model.inputs, model.mean, model.gain, strict=True)
    out: list[object] = ["tcplearn-mlp-1", model.name, len(model.inputs), len(model.hidden)]
    for feature, mean, gain in inputs:
        out += [feature, fixed(mean, SCALE_BITS), fixed(gain, SCALE_BITS)]
    for bias, unit in zip(model.hidden_bias, model.hidden, strict=True):
        out += [fixed(w, WEIGHT_BITS) for w in (bias, *unit)]
    out += [fixed(w, WEIGHT_BITS) for w in (model.output_bias, *model.output)]
    return " ".join(map(str, out))


def text(model: Model) -> str:
    """Return the JSON text of `model`. Each list has its own line, so that a diff shows what changed."""
    return document_text(asdict(model), "hidden")


def document_text(document: Mapping[str, Any], nested: str) -> str:
    """Return the JSON text of `document`: one line per entry, and per entry of the value of the key
    `nested`."""
    lines = []
    for key, value in document.items():
        text = json.dumps(value)
        if key == nested and isinstance(value, dict):
            inner = ",\n  ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
            text = f"{{\n  {inner}\n }}"
        elif key == nested:
            text = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
        lines.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
