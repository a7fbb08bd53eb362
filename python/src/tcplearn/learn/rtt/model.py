# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read and write a model of the first RTO as JSON. Reading checks the range of every number. As in the C
core, weights have 16 fractional bits and times are whole microseconds."""

import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tcplearn import documents
from tcplearn.errors import printable
from tcplearn.loss_model import Reader, document_text, fixed, rounded

WEIGHT_BITS = 16
WEIGHT_MAX = 64.0
CAP_US = 1_000_000  # RFC 6298, section 2.1: the RTO before the first sample; models only shorten it
TIME_MAX_US, AGE_MAX_US = 60_000_000, 365 * 86_400_000_000
_HOP_MAX_US = 1_000_000
STEPS: dict[str, dict[str, float]] = {  # largest terms: weights of RTTs, or times in us
    "place": {"constant_us": TIME_MAX_US, "last": WEIGHT_MAX, "high": WEIGHT_MAX},
    "prefix": {"constant_us": TIME_MAX_US, "last": WEIGHT_MAX, "high": WEIGHT_MAX},
    "hops": {"constant_us": TIME_MAX_US, "hop_us": _HOP_MAX_US},
    "nothing": {"constant_us": TIME_MAX_US},
}
_KEYS = ("name", "steps", "floor_us", "cap_us", "max_age_us")


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the first RTO. It has four linear functions, called steps: of earlier RTTs of the
    destination, of earlier RTTs of its address prefix, of the number of hops, and a constant. The first step
    that is not None and whose inputs are known gives the RTO: constant_us + last * (the last RTT) + high *
    (the high RTT), or constant_us + hop_us * hops, limited to the range from floor_us to cap_us."""

    name: str
    steps: Mapping[str, Mapping[str, float] | None]
    floor_us: int = 20_000
    cap_us: int = CAP_US
    max_age_us: int = 7 * 86_400_000_000
    about: Mapping[str, Any] = field(default_factory=dict)  # how the model was trained, for human readers


def step(name: str, values: Mapping[str, float]) -> dict[str, float]:
    """Return the terms `values` of the linear function (step) `name`, rounded as the core stores them."""
    return {
        term: float(round(values[term])) if term.endswith("_us") else rounded(values[term], WEIGHT_BITS)
        for term in STEPS[name]
    }


class _Reader(Reader):
    def within(self, what: str, value: object, least: float, most: float) -> float:
        given = self.float_of(what, value)
        if not least <= given <= most:  # the comparison is also false for NaN
            raise self.error(f"{what} is {given:g}; it has to be {least:g} to {most:g}")
        return given

    def step(self, name: str) -> dict[str, float] | None:
        value = self.document["steps"][name]
        if value is None:
            return None
        if not isinstance(value, dict) or set(value) != set(STEPS[name]):
            raise self.error(f"{name} needs {' and '.join(STEPS[name])}")
        return step(
            name, {t: self.within(f"{name}.{t}", value[t], 0, most) for t, most in STEPS[name].items()}
        )

    def time(self, name: str, least: int, most: int) -> int:
        return round(self.within(name, self.document[name], least, most))


def from_document(document: object, where: str) -> Model:
    """Return the first-RTO model in `document`, JSON data whose file is called `where`. Raise UserError."""
    reader = _Reader(where, document, _KEYS)
    name = reader.document["name"]
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or len(name) > 40:
        raise reader.error("name has to be an identifier")
    cap_us = reader.time("cap_us", 1000, TIME_MAX_US)
    about = reader.document.get("about", {})
    steps = reader.document["steps"]
    if not isinstance(steps, dict) or set(steps) != set(STEPS):
        raise reader.error(f"steps has to be an object of {', '.join(STEPS)}")
    return Model(
        name,
        {step: reader.step(step) for step in STEPS},
        floor_us=reader.time("floor_us", 1000, cap_us),
        cap_us=cap_us,
        max_age_us=reader.time("max_age_us", 0, AGE_MAX_US),
        about=about if isinstance(about, dict) else {},
    )


def read(path: Path) -> Model:
    return from_document(documents.json_file(path), printable(path))


def text(model: Model) -> str:
    """Return the JSON text of `model`, with one line for each linear function."""
    return document_text(asdict(model), "steps")


def packed(model: Model, ticks_per_second: int) -> bytes:
    """Return `model` as bytes of `struct settings` in linux/bpf/first_rto.bpf.c."""
    out = b""
    for step in STEPS:
        terms = model.steps[step]
        given = terms or {}
        values = [round(given.get("constant_us", 0.0))]
        values += [fixed(given.get(term, 0.0), WEIGHT_BITS) for term in ("last", "high")]
        out += struct.pack("<qqqqI4x", *values, round(given.get("hop_us", 0.0)), terms is not None)
    return out + struct.pack("<qqqII", model.floor_us, model.cap_us, model.max_age_us, ticks_per_second, 0)
