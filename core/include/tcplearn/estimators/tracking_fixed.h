/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What `tracking` needs of fixed point. */
#ifndef TCPLEARN_TRACKING_FIXED_H
#define TCPLEARN_TRACKING_FIXED_H

#include "../arithmetic/weights_fixed.h"

/* Mean of x by the positive ones of w, which count with their 18 leading bits; fallback where there is
 * none. Range: |x| <= 2^41, n <= 16. */
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

/* An error in units of a scale. Range: 0 <= error <= 2^42, scale > 0. */
TL_FN tl_loss_fix tl_loss_in_scales_fix(int64_t error, int64_t scale)
{
	TL_RANGE(error >= 0 && tl_fix_within(error, 42), error);
	return (uint64_t)tl_fix_div(error * ((int64_t)1 << 20), scale) << 4;
}

#endif
