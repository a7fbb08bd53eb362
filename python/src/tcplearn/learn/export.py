# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Export core/models/loss_*.json and rtt_*.json as C headers: loss/mlp_models.h and first_rto_models.h.
`python -m tcplearn.learn.export --write` writes the headers; `--check` compares them with the models."""

import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tcplearn import loss_model as models
from tcplearn import losses
from tcplearn.errors import UserError
from tcplearn.learn.rtt import model as rtt_models
from tcplearn.loss_model import Model

CORE = Path(__file__).parents[4] / "core"
HEADER = CORE / "include" / "tcplearn" / "loss" / "mlp_models.h"
RTT_HEADER = CORE / "include" / "tcplearn" / "first_rto_models.h"
LOSS_NAMES = ("wide", "hwang2018")  # the core's parameter `model` is an index into this list
OWN = "own"  # the choice after the last of LOSS_NAMES: the user gives the weights (own_model.h)

_LOSS_TOP = """\
/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Made by python -m tcplearn.learn.export from core/models/: the weights of the trained perceptrons that
 * classify losses. Weights have 24 fractional bits, and a unit's bias comes first; means and gains of inputs
 * have 30. Each table is in a function, so that an object file contains it once, and only if it is used. */
#ifndef TCPLEARN_LOSS_MLP_MODELS_H
#define TCPLEARN_LOSS_MLP_MODELS_H

#include "feature_list.h"

struct tl_mlp {
	uint32_t inputs, hidden;
	const uint8_t *input; /* enum tl_loss_feature */
	const int64_t *mean_q30, *gain_q30;
	const int32_t *hidden_q24, *output_q24;
};
"""
RTT_NAMES = ("rfc6298", "emulated")  # in the order of enum tl_first_rto_choice

_RTT_TOP = """\
/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Made by python -m tcplearn.learn.export from core/models/: the trained models of the first RTO. */
#ifndef TCPLEARN_FIRST_RTO_MODELS_H
#define TCPLEARN_FIRST_RTO_MODELS_H

#include "first_rto.h"
"""
_RTT_CHOOSER = "tl_first_rto_shipped(uint32_t model, struct tl_first_rto_model *out)"
_RTT_TERMS = ("constant_us", "last", "high", "hop_us")  # in the order of tl_first_rto_set()'s arguments


def _rows(values: Iterable[object]) -> str:
    lines = textwrap.wrap(", ".join(map(str, values)) + ",", 95)
    return "\n".join(f"\t\t{line}" for line in lines)


def _fixed(values: Iterable[float], bits: int) -> list[int]:
    return [models.fixed(value, bits) for value in values]


def _loss_function(model: Model) -> str:
    units = zip(model.hidden_bias, model.hidden, strict=True)
    hidden = [w for bias, unit in units for w in (bias, *unit)]
    tables: dict[str, Sequence[object]] = {
        "uint8_t input": [f"TL_LOSS_F_{name}" for name in model.inputs],
        "int64_t mean_q30": _fixed(model.mean, models.SCALE_BITS),
        "int64_t gain_q30": _fixed(model.gain, models.SCALE_BITS),
        "int32_t hidden_q24": _fixed(hidden, models.WEIGHT_BITS),
        "int32_t output_q24": _fixed((model.output_bias, *model.output), models.WEIGHT_BITS),
    }
    arrays = "".join(
        f"\tstatic const {name}[{len(values)}] = {{\n{_rows(values)}\n\t}};\n"
        for name, values in tables.items()
    )
    names = [name.split()[1] for name in tables]
    return (
        f"\nTL_FN void tl_mlp_{model.name}(struct tl_mlp *out)\n{{\n"
        f"\t/* clang-format off */\n{arrays}\t/* clang-format on */\n\n"
        f"\tout->inputs = {len(model.inputs)};\n\tout->hidden = {len(model.hidden)};\n"
        + "".join(f"\tout->{name} = {name};\n" for name in names)
        + "}\n"
    )


def loss_header(trained: Sequence[Model]) -> str:
    names = [m.name for m in trained]
    return (
        _LOSS_TOP
        + _choices("mlp", "TL_MLP", [*names, OWN])
        + f'#define TL_MLP_MODEL_NAMES "{"|".join([*names, OWN])}"\n'
        + f"#define TL_MLP_MODEL_COUNT {len(names) + 1}\n"
        + "".join(map(_loss_function, trained))
        + _chooser("tl_mlp_model(uint32_t model, struct tl_mlp *out)", "TL_MLP", "tl_mlp", names)
    )


def rtt_header(trained: Sequence[rtt_models.Model]) -> str:
    names = [m.name for m in trained]
    return (
        _RTT_TOP
        + _choices("first_rto", "TL_FIRST_RTO", names)
        + f"#define TL_FIRST_RTO_MODEL_COUNT {len(trained)}\n"
        + "".join(map(_rtt_function, trained))
        + _chooser(_RTT_CHOOSER, "TL_FIRST_RTO", "tl_first_rto", names)
    )


def _rtt_function(model: rtt_models.Model) -> str:
    lines = [_rtt_line(step, model.steps[step]) for step in rtt_models.STEPS]
    lines += [f"out->{name} = {getattr(model, name)};" for name in ("floor_us", "cap_us", "max_age_us")]
    body = "".join(f"\t{line}\n" for line in lines)
    return f"\nTL_FN void tl_first_rto_{model.name}(struct tl_first_rto_model *out)\n{{\n{body}}}\n"


def _rtt_line(step: str, terms: Mapping[str, float] | None) -> str:
    if terms is None:
        return f"tl_first_rto_leave(&out->{step});"
    values = (terms.get(term, 0.0) for term in _RTT_TERMS)
    integers = [
        round(value) if term.endswith("_us") else models.fixed(value, rtt_models.WEIGHT_BITS)
        for term, value in zip(_RTT_TERMS, values, strict=True)
    ]
    return f"tl_first_rto_set(&out->{step}, {', '.join(map(str, integers))});"


def _choices(kind: str, prefix: str, names: Sequence[str]) -> str:
    """Return the C code of `enum tl_KIND_choice` (KIND: `kind`), whose enumerators begin with `prefix`."""
    enum = ", ".join(f"{prefix}_{name.upper()} = {k}" for k, name in enumerate(names))
    return f"\nenum tl_{kind}_choice {{ {enum} }};\n"


def _chooser(signature: str, prefix: str, function: str, names: Sequence[str]) -> str:
    """Return a C function with the head `signature` that fills `out` by calling `function`_NAME, where NAME
    is number `model` in `names`, or the first name if there is no such number."""
    lines = "\n".join(
        f"\t{'else ' if k else ''}if (model == {prefix}_{name.upper()})\n\t\t{function}_{name}(out);"
        for k, name in enumerate(names[1:])
    )
    return f"\nTL_FN void {signature}\n{{\n{lines}\n\telse\n\t\t{function}_{names[0]}(out);\n}}\n\n#endif\n"


def shipped() -> list[Model]:
    return [models.read(CORE / "models" / f"loss_{name}.json", losses.features()) for name in LOSS_NAMES]


def shipped_rtt() -> list[rtt_models.Model]:
    return [rtt_models.read(CORE / "models" / f"rtt_{name}.json") for name in RTT_NAMES]


def main(arguments: Sequence[str]) -> int:
    try:
        headers = {HEADER: loss_header(shipped()), RTT_HEADER: rtt_header(shipped_rtt())}
    except UserError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    for path, made in headers.items():
        if "--write" in arguments:
            path.write_text(made)
        elif "--check" not in arguments:
            print(made, end="")
        elif not path.exists() or path.read_text() != made:
            print(f"{path.name} is not what core/models gives: python -m tcplearn.learn.export --write")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
