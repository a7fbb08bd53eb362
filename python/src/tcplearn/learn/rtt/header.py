# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Generate core/include/tcplearn/first_rto_models.h from core/models/rtt_*.json."""

from collections.abc import Mapping, Sequence

from tcplearn.learn import header as shared
from tcplearn.learn.rtt.model import STEPS, WEIGHT_BITS, Model
from tcplearn.loss_model import fixed

NAMES = ("rfc6298", "emulated")  # in the order of enum tl_first_rto_choice

_TOP = """\
/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Made by python -m tcplearn.learn.export from core/models/: the trained models of the first RTO. */
#ifndef TCPLEARN_FIRST_RTO_MODELS_H
#define TCPLEARN_FIRST_RTO_MODELS_H

#include "first_rto.h"
"""
_SHIPPED = "tl_first_rto_shipped(uint32_t model, struct tl_first_rto_model *out)"
_TERMS = ("constant_us", "last", "high", "hop_us")  # in the order of tl_first_rto_set()'s arguments


def header(models: Sequence[Model]) -> str:
    names = [m.name for m in models]
    return (
        _TOP
        + shared.choices("first_rto", "TL_FIRST_RTO", names)
        + f"#define TL_FIRST_RTO_MODEL_COUNT {len(models)}\n"
        + "".join(map(_function, models))
        + shared.chooser(_SHIPPED, "TL_FIRST_RTO", "tl_first_rto", names)
    )


def _function(model: Model) -> str:
    lines = [_line(step, model.steps[step]) for step in STEPS]
    lines += [f"out->{name} = {getattr(model, name)};" for name in ("floor_us", "cap_us", "max_age_us")]
    body = "".join(f"\t{line}\n" for line in lines)
    return f"\nTL_FN void tl_first_rto_{model.name}(struct tl_first_rto_model *out)\n{{\n{body}}}\n"


def _line(step: str, terms: Mapping[str, float] | None) -> str:
    if terms is None:
        return f"tl_first_rto_leave(&out->{step});"
    values = (terms.get(term, 0.0) for term in _TERMS)
    integers = [
        round(value) if term.endswith("_us") else fixed(value, WEIGHT_BITS)
        for term, value in zip(_TERMS, values, strict=True)
    ]
    return f"tl_first_rto_set(&out->{step}, {', '.join(map(str, integers))});"
