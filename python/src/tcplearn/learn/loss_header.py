# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Generate core/include/tcplearn/loss/mlp_models.h from core/models/loss_*.json."""

import textwrap
from collections.abc import Iterable, Sequence

from tcplearn import loss_model as models
from tcplearn.learn import header as shared
from tcplearn.loss_model import Model

NAMES = ("wide", "hwang2018")  # the core's parameter `model` is an index into this list
OWN = "own"  # the choice after the last of NAMES: the user gives the weights (own_model.h)

_TOP = """\
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
_MODEL = """
TL_FN void tl_mlp_{name}(struct tl_mlp *out)
{{
	/* clang-format off */
	static const uint8_t input[{inputs}] = {{
{input}
	}};
	static const int64_t mean_q30[{inputs}] = {{
{mean}
	}};
	static const int64_t gain_q30[{inputs}] = {{
{gain}
	}};
	static const int32_t hidden_q24[{weights}] = {{
{hidden_q24}
	}};
	static const int32_t output_q24[{outputs}] = {{
{output}
	}};
	/* clang-format on */

	out->inputs = {inputs};
	out->hidden = {hidden};
	out->input = input;
	out->mean_q30 = mean_q30;
	out->gain_q30 = gain_q30;
	out->hidden_q24 = hidden_q24;
	out->output_q24 = output_q24;
}}
"""


def _rows(values: Iterable[object]) -> str:
    lines = textwrap.wrap(", ".join(map(str, values)) + ",", 95)
    return "\n".join(f"\t\t{line}" for line in lines)


def _table(values: Iterable[float], bits: int) -> str:
    return _rows(models.fixed(v, bits) for v in values)


def _function(model: Model) -> str:
    units = zip(model.hidden_bias, model.hidden, strict=True)
    hidden = [w for bias, unit in units for w in (bias, *unit)]
    return _MODEL.format(
        name=model.name,
        inputs=len(model.inputs),
        hidden=len(model.hidden),
        weights=len(hidden),
        outputs=len(model.output) + 1,
        input=_rows(f"TL_LOSS_F_{name}" for name in model.inputs),
        mean=_table(model.mean, models.SCALE_BITS),
        gain=_table(model.gain, models.SCALE_BITS),
        hidden_q24=_table(hidden, models.WEIGHT_BITS),
        output=_table((model.output_bias, *model.output), models.WEIGHT_BITS),
    )


def header(trained: Sequence[Model]) -> str:
    names = [m.name for m in trained]
    return (
        _TOP
        + shared.choices("mlp", "TL_MLP", [*names, OWN])
        + f'#define TL_MLP_MODEL_NAMES "{"|".join([*names, OWN])}"\n'
        + f"#define TL_MLP_MODEL_COUNT {len(names) + 1}\n"
        + "".join(map(_function, trained))
        + shared.chooser("tl_mlp_model(uint32_t model, struct tl_mlp *out)", "TL_MLP", "tl_mlp", names)
    )
