/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the estimator `eifel` in fixed point. */
#ifndef TCPLEARN_EIFEL_FIXED_H
#define TCPLEARN_EIFEL_FIXED_H

#include "../arithmetic/fix.h"

/* Returns n / d with 30 fractional bits. Range: d > 0. */
TL_FN int64_t tl_ratio_of_counts_fix(uint32_t n, uint32_t d)
{
	return tl_fix_div((int64_t)n * ((int64_t)1 << 30), d);
}

/* Returns a / (r / 2^30), rounded; for r = 0, 2^62 with the sign of a. Range: |a| <= 2^62, 0 <= r <= 2^30,
 * and r = 0 or |a| / r <= 2^32. */
TL_FN int64_t tl_fix_over(int64_t a, int64_t r)
{
	uint64_t m = tl_fix_mag(a), f = (uint64_t)r;

	TL_RANGE(tl_fix_within(a, 62), a);
	TL_RANGE(r >= 0 && tl_fix_within(r, 30), r);
	TL_RANGE(r == 0 || (double)m / (double)f <= 4294967296.0, r);
	if (f == 0)
		return tl_fix_signed((uint64_t)1 << 62, a);
	return tl_fix_signed(((m / f) << 30) + (((m % f) << 30) + f / 2) / f, a);
}

/* Returns a / 2^16 / (r / 2^30), with two roundings. Range: |a| <= 2^58, 2^20 <= r <= 2^30. */
TL_FN int64_t tl_coarse_over_fix(int64_t a, int64_t r)
{
	TL_RANGE(tl_fix_within(a, 58), a);
	TL_RANGE(r >= (int64_t)1 << 20 && tl_fix_within(r, 30), r);
	return tl_fix_shr(tl_fix_over(tl_fix_shr(a, 6), r), 10);
}

#endif
