/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Made by python -m tcplearn.learn.export of core/models/. Weights have 24 fractional bits, a unit's bias is
 * first; means and gains have 30. In functions: a table is in the object once, and only where it is used. */
#ifndef TCPLEARN_LOSS_MLP_MODELS_H
#define TCPLEARN_LOSS_MLP_MODELS_H

#include "feature_list.h"

struct tl_mlp {
	uint32_t inputs, hidden;
	const uint8_t *input; /* enum tl_loss_feature */
	const int64_t *mean_q30, *gain_q30;
	const int32_t *hidden_q24, *output_q24;
};

enum tl_mlp_choice { TL_MLP_WIDE = 0, TL_MLP_HWANG2018 = 1 };
#define TL_MLP_MODEL_NAMES "wide|hwang2018"
#define TL_MLP_MODEL_COUNT 2

TL_FN void tl_mlp_wide(struct tl_mlp *out)
{
	/* clang-format off */
	static const uint8_t input[1] = {
		TL_LOSS_F_rtt_min_to_srtt,
	};
	static const int64_t mean_q30[1] = {
		858993459,
	};
	static const int64_t gain_q30[1] = {
		5368709120,
	};
	static const int32_t hidden_q24[2] = {
		0, -33554432,
	};
	static const int32_t output_q24[2] = {
		-33554432, 67108864,
	};
	/* clang-format on */

	out->inputs = 1;
	out->hidden = 1;
	out->input = input;
	out->mean_q30 = mean_q30;
	out->gain_q30 = gain_q30;
	out->hidden_q24 = hidden_q24;
	out->output_q24 = output_q24;
}

TL_FN void tl_mlp_hwang2018(struct tl_mlp *out)
{
	/* clang-format off */
	static const uint8_t input[2] = {
		TL_LOSS_F_rtt_min_per_packet, TL_LOSS_F_rtt_per_packet,
	};
	static const int64_t mean_q30[2] = {
		1073741824, 1610612736,
	};
	static const int64_t gain_q30[2] = {
		1073741824, 1073741824,
	};
	static const int32_t hidden_q24[3] = {
		0, -33554432, 33554432,
	};
	static const int32_t output_q24[2] = {
		-33554432, 67108864,
	};
	/* clang-format on */

	out->inputs = 2;
	out->hidden = 1;
	out->input = input;
	out->mean_q30 = mean_q30;
	out->gain_q30 = gain_q30;
	out->hidden_q24 = hidden_q24;
	out->output_q24 = output_q24;
}

TL_FN void tl_mlp_model(uint32_t model, struct tl_mlp *out)
{
	if (model == TL_MLP_HWANG2018)
		tl_mlp_hwang2018(out);
	else
		tl_mlp_wide(out);
}

#endif
