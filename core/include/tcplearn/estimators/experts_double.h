/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the estimator `experts` in double precision: conversion of durations to units of the grid
 * of experts, the loss of each expert, and sums of weights. */
#ifndef TCPLEARN_EXPERTS_DOUBLE_H
#define TCPLEARN_EXPERTS_DOUBLE_H

#include "../arithmetic/weights_double.h"

#ifndef TL_NO_F64

typedef double tl_tick_f64; /* a duration in units of the grid of experts */
typedef double tl_weight_dot_f64;

/* Returns us / unit_us, limited to 2048 units as in fixed point. */
TL_FN tl_tick_f64 tl_tick_from_us_f64(int64_t us, int64_t unit_us)
{
	double x = (double)us / (double)unit_us;

	return x < 2048.0 ? x : 2048.0;
}

TL_FN double tl_tick_to_num_f64(tl_tick_f64 x, int64_t unit_us)
{
	return x * (double)unit_us;
}

/* Returns low + span 2^(-j / per_octave). */
TL_FN tl_tick_f64 tl_tick_of_grid_f64(double low, double span, uint32_t j, uint32_t per_octave)
{
	return low + span * tl_f64_exp(-0.69314718055994530942 * (double)j / (double)per_octave);
}

TL_FN tl_tick_f64 tl_tick_mean_f64(tl_tick_f64 sum, uint32_t n)
{
	return sum / (double)n;
}

TL_FN tl_loss_f64 tl_loss_from_tick_f64(tl_tick_f64 x)
{
	return x;
}

TL_FN tl_loss_f64 tl_loss_square_f64(tl_tick_f64 d)
{
	return d * d;
}

TL_FN tl_loss_f64 tl_loss_square_less_f64(tl_tick_f64 d, tl_loss_f64 least)
{
	return d * d - least;
}

TL_FN tl_loss_f64 tl_loss_mul_f64(tl_loss_f64 loss, double ratio)
{
	return loss * ratio;
}

TL_FN tl_weight_sum_f64 tl_weight_one_f64(void)
{
	return 1.0;
}

/* Returns pool * scale / n, the weight that each of `n` experts gets from the pool, that is the weight that
 * all experts give up in step 4 of the algorithm; `scale` normalizes the sum of weights to 1. */
TL_FN tl_weight_ratio_f64 tl_weight_pool_f64(tl_weight_sum_f64 pool, tl_weight_ratio_f64 scale, uint32_t n)
{
	return pool * scale / (double)n;
}

/* Returns alpha * sum / t: alpha times the mean of `t` weights. */
TL_FN tl_weight_ratio_f64 tl_weight_past_f64(tl_weight_sum_f64 sum, uint32_t t, double alpha)
{
	return sum / (double)t * alpha;
}

/* Returns w, but at least 2^-30, the least positive weight in fixed point. */
TL_FN tl_weight_f64 tl_weight_floor_f64(tl_weight_f64 w)
{
	return w > 1.0 / 1073741824.0 ? w : 1.0 / 1073741824.0;
}

TL_FN tl_weight_dot_f64 tl_weight_dot_one_f64(tl_weight_f64 w, tl_tick_f64 x)
{
	return w * x;
}

TL_FN tl_tick_f64 tl_weight_mean_f64(tl_weight_dot_f64 dot, tl_weight_sum_f64 sum)
{
	return dot / sum;
}

#endif
#endif
