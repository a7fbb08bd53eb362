/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the loss classifiers' features in fixed point. A feature has 30 fractional bits. */
#ifndef TCPLEARN_LOSS_FIXED_H
#define TCPLEARN_LOSS_FIXED_H

#include "../arithmetic/fix.h"

/* Returns a / b with 30 fractional bits. If |a| or b is above 2^32 (16 s), both lose 10 bits first.
 * Range: |a| <= 2^42, 0 < b <= 2^42. */
TL_FN int64_t tl_loss_quotient_fix(int64_t a, int64_t b)
{
	TL_RANGE(tl_fix_within(a, 42), a);
	TL_RANGE(b > 0 && tl_fix_within(b, 42), b);
	if (!tl_fix_within(a, 32) || !tl_fix_within(b, 32)) {
		a = tl_fix_shr(a, 10);
		b = tl_fix_shr(b, 10);
		b += b == 0;
	}
	return tl_fix_div(a * ((int64_t)1 << 30), b);
}

/* Returns log2 x; -30 if x is 0 or less. x and the result have 30 fractional bits. The series is that of
 * loss_double.h with seven terms; the error is within 2^-27. Range: x <= 2^62. */
TL_FN int64_t tl_loss_log2_fix(int64_t x)
{
	/* the terms 1 / 13, 1 / 11, ... 1 with 30 fractional bits; `scale` is 2 log2 e */
	static const int32_t term[7] = { 82595525,  97612893,  119304647, 153391689,
					 214748365, 357913941, 1073741824 };
	const int64_t scale = 3098164009, one = (int64_t)1 << 30;
	uint64_t u = x > 0 ? (uint64_t)x : 1;
	uint32_t top = tl_fix_top_bit(u), i;
	int64_t m, s, s2, sum = 0, k = (int64_t)top - 30;

	TL_RANGE(x <= (int64_t)1 << 62, x);
	m = (int64_t)(top > 30 ? u >> (top - 30) : u << (30 - top)); /* in [1, 2) */
	if (m >= 1518500250) {                                       /* m >= sqrt 2 */
		k++;
		s = tl_fix_div((m - 2 * one) * one, m + 2 * one);
	} else {
		s = tl_fix_div((m - one) * one, m + one);
	}
	s2 = tl_fix_mul(s, s);
	for (i = 0; i < 7; i++)
		sum = tl_fix_mul(sum, s2) + term[i];
	return k * one + tl_fix_mul(tl_fix_mul(s, sum), scale);
}

#endif
