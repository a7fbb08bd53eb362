/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the network `mlp` in fixed point. Values of units and weights have 24 fractional bits;
 * products and sums have 48. */
#ifndef TCPLEARN_LOSS_MLP_FIXED_H
#define TCPLEARN_LOSS_MLP_FIXED_H

#include "../arithmetic/weights_fixed.h"

typedef int32_t tl_mlp_value_fix;
typedef int64_t tl_mlp_sum_fix;

/* Returns the z-score (x - mean) * gain, clamped to [-5, 5]. Range: |x|, |mean| <= 2^53, 0 < gain <=
 * 2^38. */
TL_FN tl_mlp_value_fix tl_mlp_score_fix(int64_t x, int64_t mean_q30, int64_t gain_q30)
{
	const int64_t five = (int64_t)5 << 30;
	int64_t z;

	TL_RANGE(tl_fix_within(x, 53), x);
	TL_RANGE(tl_fix_within(mean_q30, 53), mean_q30);
	TL_RANGE(gain_q30 > 0 && tl_fix_within(gain_q30, 38), gain_q30);
	z = tl_fix_mul(x - mean_q30, gain_q30);
	return (int32_t)tl_fix_shr(z > five ? five : z < -five ? -five : z, 6);
}

TL_FN tl_mlp_sum_fix tl_mlp_bias_fix(int32_t w_q24)
{
	return (int64_t)w_q24 * ((int64_t)1 << 24);
}

/* Returns weight * x with 48 fractional bits. Range: |w| <= 64, |x| <= 5. A hidden unit has at most 32
 * inputs, and the output unit at most 64 inputs of at most 1, so their sums stay below 2^62. */
TL_FN tl_mlp_sum_fix tl_mlp_weigh_fix(int32_t w_q24, tl_mlp_value_fix x)
{
	TL_RANGE(tl_fix_within(w_q24, 30), w_q24);
	TL_RANGE(tl_fix_mag(x) <= (uint64_t)5 << 24, x);
	return (int64_t)w_q24 * x;
}

/* Returns 1 / (1 + e^-x) with 30 fractional bits. x has 48 fractional bits and is clamped to [-24, 24]. */
TL_FN int64_t tl_mlp_probability_fix(tl_mlp_sum_fix x)
{
	const int64_t top = (int64_t)24 << 30;
	int64_t y = tl_fix_shr((int64_t)tl_fix_mag(x), 18);
	/* the factor is log2 e */
	uint64_t e = tl_fix_exp2_neg((uint64_t)tl_fix_mul(y < top ? y : top, 1549082005));
	uint64_t one = (uint64_t)1 << 30, p = ((one << 30) + (one + e) / 2) / (one + e);

	return (int64_t)(x < 0 ? one - p : p);
}

/* Returns the log odds, the output unit's sum clamped to [-32, 32], with 30 fractional bits. */
TL_FN int64_t tl_mlp_odds_of_fix(tl_mlp_sum_fix x)
{
	const int64_t top = (int64_t)32 << 30, odds = tl_fix_shr(x, 18);

	return odds > top ? top : odds < -top ? -top : odds;
}

/* Converts log odds, clamped to [-32, 32], to a sum with 48 fractional bits. Range: |odds| <= 2^38. */
TL_FN tl_mlp_sum_fix tl_mlp_sum_of_fix(int64_t odds)
{
	const int64_t top = (int64_t)32 << 30;

	TL_RANGE(tl_fix_within(odds, 38), odds);
	return (odds > top ? top : odds < -top ? -top : odds) * ((int64_t)1 << 18);
}

TL_FN tl_mlp_value_fix tl_mlp_unit_fix(tl_mlp_sum_fix x)
{
	return (int32_t)tl_fix_shr(tl_mlp_probability_fix(x), 6);
}

#endif
