/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Weights that sum to one, and losses that reduce them, in fixed point. Fractional bits: 24 of a loss, 30
 * of a weight and its factors. */
#ifndef TCPLEARN_WEIGHTS_FIXED_H
#define TCPLEARN_WEIGHTS_FIXED_H

#include "exp_tables.h"
#include "fix.h"

typedef uint32_t tl_weight_fix;
typedef uint64_t tl_weight_sum_fix;
typedef uint64_t tl_weight_ratio_fix; /* a factor of a weight */
typedef uint64_t tl_loss_fix;
typedef uint64_t tl_rate_fix; /* a learning rate as tl_decay_fix() takes it */

/* Returns 2^(33 - x), truncated; x and the result have 30 fractional bits. The error is at most 2^-29, and a
 * larger x never gives a larger result. Method: 2^-(j/256) from a table, and for the remaining r < 2^-8 the
 * parabola a ((c - r)^2 + k), whose factor a is in the table. The exponent is 33 - x, not -x, so that one
 * shift at the end is enough. Range: 33 <= x < 64. */
TL_FN uint64_t tl_fix_exp2_neg33(uint64_t x_q30)
{
	const uint64_t c_q30 = 1550899691u, k_q60 = 2399654099552362303u;
	uint64_t r = c_q30 - (x_q30 & (((uint64_t)1 << 22) - 1));

	TL_RANGE(x_q30 >> 30 >= 33 && x_q30 >> 30 < 64, x_q30);
	return (((r * r + k_q60) >> 31) * tl_exp2_table((x_q30 >> 22) & 255)) >> (x_q30 >> 30);
}

/* Returns 2^-x; x and the result have 30 fractional bits. Returns 0 for x >= 31. */
TL_FN uint32_t tl_fix_exp2_neg(uint64_t x_q30)
{
	return x_q30 >> 30 > 30 ? 0 : (uint32_t)tl_fix_exp2_neg33(x_q30 + ((uint64_t)33 << 30));
}

/* Returns eta log2 e, the rate for the next two functions. Range: 0 <= eta <= 2^36. */
TL_FN tl_rate_fix tl_decay_rate_fix(int64_t eta)
{
	TL_RANGE(eta >= 0 && tl_fix_within(eta, 36), eta);
	return (uint64_t)tl_fix_mul(eta, 1549082005);
}

/* Returns the largest loss whose decay 2^-x is above 0, that is with x < 31. At most 2^62. */
TL_FN tl_loss_fix tl_decay_limit_fix(tl_rate_fix rate)
{
	return rate == 0 ? (uint64_t)1 << 62 : (((uint64_t)31 << 54) - ((uint64_t)1 << 23) - 1) / rate;
}

/* Returns e^(-eta loss). Range: loss up to tl_decay_limit_fix(rate). */
TL_FN tl_weight_ratio_fix tl_decay_fix(tl_loss_fix loss, tl_rate_fix rate)
{
	TL_RANGE(loss <= tl_decay_limit_fix(rate), loss);
	return tl_fix_exp2_neg33((loss * rate + ((uint64_t)33 << 54) + ((uint64_t)1 << 23)) >> 24);
}

/* Returns w * decay. Range: decay <= 2^30. */
TL_FN tl_weight_fix tl_weight_decayed_fix(tl_weight_fix w, tl_weight_ratio_fix decay)
{
	TL_RANGE(decay <= (uint64_t)1 << 30, decay);
	return (uint32_t)((w * decay + ((uint64_t)1 << 29)) >> 30);
}

TL_FN tl_weight_fix tl_weight_decay_fix(tl_weight_fix w, tl_loss_fix loss, tl_rate_fix rate)
{
	return tl_weight_decayed_fix(w, tl_decay_fix(loss, rate));
}

/* Returns the weight 1 / n. Range: n > 0. */
TL_FN tl_weight_fix tl_weight_uniform_fix(uint32_t n)
{
	TL_RANGE(n > 0, n);
	return (uint32_t)((((uint64_t)1 << 30) + n / 2) / n);
}

TL_FN uint32_t tl_weights_alive_fix(tl_weight_sum_fix sum)
{
	return sum > 0;
}

/* Returns (1 - alpha) / sum, truncated: the factor by which a weight is kept when the sum is normalized
 * to 1. Range: 0 <= alpha <= 2^30, sum > 0. */
TL_FN tl_weight_ratio_fix tl_weight_keep_fix(int64_t alpha, tl_weight_sum_fix sum)
{
	TL_RANGE(alpha >= 0 && tl_fix_within(alpha, 30), alpha);
	TL_RANGE(sum > 0, sum);
	return (uint64_t)(((int64_t)1 << 30) - alpha) * ((uint64_t)1 << 30) / sum;
}

/* Returns alpha / n, truncated, the part that each of `n` weights gets. Range: 0 <= alpha <= 2^30, n > 0. */
TL_FN tl_weight_ratio_fix tl_weight_share_fix(int64_t alpha, uint32_t n)
{
	TL_RANGE(alpha >= 0 && tl_fix_within(alpha, 30), alpha);
	TL_RANGE(n > 0, n);
	return (uint64_t)alpha / n;
}

/* Returns w * keep + share. Range: share <= 2^30, w * keep <= 2^60. */
TL_FN tl_weight_fix tl_weight_mix_fix(tl_weight_fix w, tl_weight_ratio_fix keep, tl_weight_ratio_fix share)
{
	TL_RANGE(share <= (uint64_t)1 << 30, share);
	TL_RANGE(w == 0 || keep <= ((uint64_t)1 << 60) / w, keep);
	return (uint32_t)((w * keep + (((uint64_t)1 << 29) + (share << 30))) >> 30);
}

#endif
