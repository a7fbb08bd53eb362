/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the estimator `experts` in fixed point: conversion of durations to units of the grid of
 * experts (with 20 fractional bits), the loss of each expert, and sums of weights. */
#ifndef TCPLEARN_EXPERTS_FIXED_H
#define TCPLEARN_EXPERTS_FIXED_H

#include "../arithmetic/weights_fixed.h"

typedef int64_t tl_tick_fix; /* a duration in units of the grid of experts */
typedef uint64_t tl_weight_dot_fix;

/* Returns us / unit_us, at most 2048 units so that the square of a distance fits. Range: 0 <= us <= 2^42,
 * 1 <= unit_us <= 2^30. */
TL_FN tl_tick_fix tl_tick_from_us_fix(int64_t us, int64_t unit_us)
{
	int64_t x = tl_fix_div(us * ((int64_t)1 << 20), unit_us);

	TL_RANGE(us >= 0 && tl_fix_within(us, 42), us);
	TL_RANGE(unit_us >= 1 && tl_fix_within(unit_us, 30), unit_us);
	return x < ((int64_t)1 << 31) ? x : (int64_t)1 << 31;
}

/* Converts units of the grid to a duration. Range: 0 <= x <= 2^32, 1 <= unit_us <= 2^30. */
TL_FN int64_t tl_tick_to_num_fix(tl_tick_fix x, int64_t unit_us)
{
	TL_RANGE(x >= 0 && tl_fix_within(x, 32), x);
	TL_RANGE(unit_us >= 1 && tl_fix_within(unit_us, 30), unit_us);
	return tl_fix_shr(x * unit_us, 12);
}

/* Returns low + span 2^(-j / per_octave). Range: low and span from 0 to 2^41, per_octave > 0. */
TL_FN tl_tick_fix tl_tick_of_grid_fix(int64_t low, int64_t span, uint32_t j, uint32_t per_octave)
{
	int64_t power = (int64_t)tl_fix_exp2_neg((uint64_t)j * ((uint64_t)1 << 30) / per_octave);

	TL_RANGE(low >= 0 && tl_fix_within(low, 41), low);
	TL_RANGE(span >= 0 && tl_fix_within(span, 41), span);
	TL_RANGE(per_octave > 0, per_octave);
	return tl_fix_shr(low + tl_fix_mul(span, power), 10);
}

/* Returns sum / n, rounded. Range: n > 0. */
TL_FN tl_tick_fix tl_tick_mean_fix(tl_tick_fix sum, uint32_t n)
{
	return tl_fix_div(sum, n);
}

/* Converts a distance in units to a loss. Range: 0 <= x <= 2^46. */
TL_FN tl_loss_fix tl_loss_from_tick_fix(tl_tick_fix x)
{
	TL_RANGE(x >= 0 && tl_fix_within(x, 46), x);
	return (uint64_t)x << 4;
}

/* Returns the squared distance as a loss. Range: 0 <= d < 2^32. */
TL_FN tl_loss_fix tl_loss_square_fix(tl_tick_fix d)
{
	TL_RANGE(d >= 0 && d < (int64_t)1 << 32, d);
	return ((uint64_t)d * (uint64_t)d + 0x8000u) >> 16;
}

/* Returns loss_square(d) - least. Range: 0 <= d < 2^32, least <= loss_square(d). */
TL_FN tl_loss_fix tl_loss_square_less_fix(tl_tick_fix d, tl_loss_fix least)
{
	TL_RANGE(d >= 0 && d < (int64_t)1 << 32, d);
	TL_RANGE(least <= tl_loss_square_fix(d), least);
	return ((uint64_t)d * (uint64_t)d + (0x8000u - (least << 16))) >> 16;
}

/* Returns loss * ratio. Range: loss <= 2^50, 0 <= ratio <= 2^36. */
TL_FN tl_loss_fix tl_loss_mul_fix(tl_loss_fix loss, int64_t ratio)
{
	TL_RANGE(loss <= (uint64_t)1 << 50, loss);
	TL_RANGE(ratio >= 0 && tl_fix_within(ratio, 36), ratio);
	return (uint64_t)tl_fix_mul((int64_t)loss, ratio);
}

TL_FN tl_weight_sum_fix tl_weight_one_fix(void)
{
	return (uint64_t)1 << 30;
}

/* Returns pool * scale / n, the weight that each of `n` experts gets from the pool, that is the weight that
 * all experts give up in step 4 of the algorithm, truncated; `scale` normalizes the sum of weights to 1.
 * Range: pool * scale <= 2^61, n > 0. */
TL_FN tl_weight_ratio_fix tl_weight_pool_fix(tl_weight_sum_fix pool, tl_weight_ratio_fix scale, uint32_t n)
{
	TL_RANGE(pool == 0 || scale <= ((uint64_t)1 << 61) / pool, scale);
	TL_RANGE(n > 0, n);
	return ((pool * scale) >> 30) / n;
}

/* Returns alpha * sum / t: alpha times the mean of `t` weights. Range: sum / t <= 2^31,
 * 0 <= alpha <= 2^30, t > 0. */
TL_FN tl_weight_ratio_fix tl_weight_past_fix(tl_weight_sum_fix sum, uint32_t t, int64_t alpha)
{
	TL_RANGE(sum / t <= (uint64_t)1 << 31, sum);
	TL_RANGE(alpha >= 0 && tl_fix_within(alpha, 30), alpha);
	return (sum / t * (uint64_t)alpha + ((uint64_t)1 << 29)) >> 30;
}

/* Returns w, but at least 2^-30 (its last bit), because a weight of 0 could stay 0. */
TL_FN tl_weight_fix tl_weight_floor_fix(tl_weight_fix w)
{
	return w > 1u ? w : 1u;
}

/* Returns one term w * x of a weighted sum of experts. `x` is an expert or a sum of at most 1,000. Range:
 * 0 <= x <= 2^42. An expert is at most 4000 units, below 2^32 with its 20 fractional bits; weights that
 * sum to 1 (2^30) thus keep the weighted sum below 2^62. */
TL_FN tl_weight_dot_fix tl_weight_dot_one_fix(tl_weight_fix w, tl_tick_fix x)
{
	TL_RANGE(x >= 0 && tl_fix_within(x, 42), x);
	return (uint64_t)w * (uint64_t)x;
}

/* Returns the weighted mean dot / sum. Range: dot < 2^63, sum > 0. */
TL_FN tl_tick_fix tl_weight_mean_fix(tl_weight_dot_fix dot, tl_weight_sum_fix sum)
{
	TL_RANGE(dot < (uint64_t)1 << 63, dot);
	TL_RANGE(sum > 0, sum);
	return (int64_t)((dot + sum / 2) / sum);
}

#endif
