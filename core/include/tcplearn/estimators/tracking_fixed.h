/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the estimator `tracking` in fixed point. */
#ifndef TCPLEARN_TRACKING_FIXED_H
#define TCPLEARN_TRACKING_FIXED_H

#include "../arithmetic/weights_fixed.h"

/* Returns the mean of x, weighted by the positive values of w; `fallback` if no value of w is positive.
 * Only the 18 leading bits of w count. Range: |x| <= 2^41, n <= 16. */
TL_FN int64_t tl_positive_mean_fix(const int64_t *w, const int64_t *x, uint32_t n, int64_t fallback)
{
	uint64_t top = 0;
	int64_t sum = 0, dot = 0;
	uint32_t k, shift = 0;

	TL_RANGE(n <= 16, n);
	for (k = 0; k < n; k++)
		top |= w[k] > 0 ? (uint64_t)w[k] : 0;
	if (top == 0)
		return fallback;
	if (top >= (uint64_t)1 << 18)
		shift = tl_fix_top_bit(top) - 17;
	for (k = 0; k < n; k++) {
		int64_t v = w[k] > 0 ? w[k] >> shift : 0;
		TL_RANGE(tl_fix_within(x[k], 41), x[k]);
		sum += v;
		dot += v * x[k];
	}
	return tl_fix_div(dot, sum);
}

/* Returns the mean of x, weighted by the positive values of w, whose sum is `sum`. Bits of w below the 20
 * leading bits of `sum` are dropped. Range: |x| <= 2^41, n <= 16, each w below 2^58. */
TL_FN int64_t tl_summed_mean_fix(const int64_t *w, const int64_t *x, uint32_t n, int64_t fallback,
				 int64_t sum)
{
	int64_t parts = 0, dot = 0;
	uint32_t k, shift = 0;

	TL_RANGE(n <= 16, n);
	if (sum == 0)
		return fallback;
	if (sum >= (int64_t)1 << 20)
		shift = tl_fix_top_bit((uint64_t)sum) - 19;
	for (k = 0; k < n; k++) {
		int64_t v = w[k] > 0 ? w[k] >> shift : 0;
		TL_RANGE(tl_fix_within(w[k], 58), w[k]);
		TL_RANGE(tl_fix_within(x[k], 41), x[k]);
		parts += v;
		dot += v * x[k];
	}
	return tl_fix_div(dot, parts);
}

/* Returns part / (part + rest), truncated. Range: 0 < part <= 2^58, 0 <= rest <= 2^62. */
TL_FN int64_t tl_share_of_fix(int64_t part, int64_t rest)
{
	uint64_t all = (uint64_t)part + (uint64_t)rest;
	uint32_t shift = all >= (uint64_t)1 << 33 ? tl_fix_top_bit(all) - 32 : 0;

	TL_RANGE(part > 0 && tl_fix_within(part, 58), part);
	TL_RANGE(rest >= 0 && tl_fix_within(rest, 62), rest);
	return (int64_t)((((uint64_t)part >> shift) << 30) / (all >> shift));
}

/* Returns c + error * distance / scale^2 / 32, clamped to [-1, 1]. The three quantities are truncated to
 * the 15 leading bits of `scale`. Range: |error|, |distance| <= scale, 0 < scale <= 2^42. */
TL_FN int64_t tl_correction_step_fix(int64_t c, int64_t error, int64_t distance, int64_t scale)
{
	const int64_t one = (int64_t)1 << 30;
	uint32_t shift = scale >= 32768 ? tl_fix_top_bit((uint64_t)scale) - 14 : 0;
	int64_t part = (error >> shift) * (distance >> shift) * ((int64_t)1 << 25), s = scale >> shift;

	TL_RANGE(scale > 0 && tl_fix_within(scale, 42), scale);
	TL_RANGE(error <= scale && -error <= scale, error);
	TL_RANGE(distance <= scale && -distance <= scale, distance);
	c += tl_fix_div(part, s * s);
	return c < -one ? -one : c > one ? one : c;
}

/* Returns an error as a multiple of `scale`. Range: 0 <= error <= 2^42, scale > 0. */
TL_FN tl_loss_fix tl_loss_in_scales_fix(int64_t error, int64_t scale)
{
	TL_RANGE(error >= 0 && tl_fix_within(error, 42), error);
	return (uint64_t)tl_fix_div(error * ((int64_t)1 << 20), scale) << 4;
}

#endif
