/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the network `mlp` in double precision. The weights are integers with 24 fractional bits
 * and the scales with 30 fractional bits, the same numbers as in fixed point. */
#ifndef TCPLEARN_LOSS_MLP_DOUBLE_H
#define TCPLEARN_LOSS_MLP_DOUBLE_H

#ifndef TL_NO_F64
#include "../arithmetic/f64.h"

typedef double tl_mlp_value_f64; /* the value of a unit */
typedef double tl_mlp_sum_f64;

/* Returns the z-score (x - mean) * gain, clamped to [-5, 5]; NaN counts as the mean. */
TL_FN tl_mlp_value_f64 tl_mlp_score_f64(double x, int64_t mean_q30, int64_t gain_q30)
{
	double z = (x - (double)mean_q30 / 1073741824.0) * ((double)gain_q30 / 1073741824.0);

	return z > 5.0 ? 5.0 : z >= -5.0 ? z : z < -5.0 ? -5.0 : 0.0;
}

TL_FN tl_mlp_sum_f64 tl_mlp_bias_f64(int32_t w_q24)
{
	return (double)w_q24 / 16777216.0;
}

TL_FN tl_mlp_sum_f64 tl_mlp_weigh_f64(int32_t w_q24, tl_mlp_value_f64 x)
{
	return (double)w_q24 / 16777216.0 * x;
}

/* Returns the sigmoid 1 / (1 + e^-x). */
TL_FN double tl_mlp_probability_f64(tl_mlp_sum_f64 x)
{
	double e = tl_f64_exp(x < 0 ? x : -x);

	return x < 0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
}

/* Returns the log odds: the sum of the output unit before its sigmoid, clamped to [-32, 32]. */
TL_FN double tl_mlp_odds_of_f64(tl_mlp_sum_f64 x)
{
	return x > 32.0 ? 32.0 : x >= -32.0 ? x : -32.0;
}

TL_FN tl_mlp_sum_f64 tl_mlp_sum_of_f64(double odds)
{
	return odds;
}

TL_FN tl_mlp_value_f64 tl_mlp_unit_f64(tl_mlp_sum_f64 x)
{
	return tl_mlp_probability_f64(x);
}

#endif
#endif
