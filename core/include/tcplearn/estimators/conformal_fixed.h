/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the estimator `conformal` in fixed point: levels (logarithms to base 2) with 32
 * fractional bits, approximate logarithms, the width. */
#ifndef TCPLEARN_CONFORMAL_FIXED_H
#define TCPLEARN_CONFORMAL_FIXED_H

#include "../arithmetic/fix.h"

typedef int64_t tl_level_fix; /* a logarithm to base 2, or a sum of misses */

/* Returns n / d as a level (32 fractional bits), rounded towards zero. Range: |n| <= 2^30, d > 0. */
TL_FN tl_level_fix tl_level_of_fix(int64_t n, int64_t d)
{
	TL_RANGE(tl_fix_within(n, 30), n);
	TL_RANGE(d > 0, d);
	return n * ((int64_t)1 << 32) / d;
}

/* Converts a ratio to a level, truncated to 26 fractional bits, so that 1/16 of it is exact. Range:
 * 0 <= r <= 2^60. */
TL_FN tl_level_fix tl_level_from_ratio_fix(int64_t r)
{
	TL_RANGE(r >= 0 && tl_fix_within(r, 60), r);
	return (r >> 4) << 6;
}

TL_FN tl_level_fix tl_level_shr_fix(tl_level_fix a, uint32_t k)
{
	return tl_fix_shr(a, k);
}

/* Returns a * b; b is first rounded to 16 fractional bits. Range: |a| <= 2^32, |b| <= 2^45. */
TL_FN tl_level_fix tl_level_mul_fix(tl_level_fix a, tl_level_fix b)
{
	TL_RANGE(tl_fix_within(a, 32), a);
	TL_RANGE(tl_fix_within(b, 45), b);
	return tl_fix_shr(a * tl_fix_shr(b, 16), 16);
}

/* Returns Mitchell's logarithm to base 2 of an integer x with a parabola as correction
 * (conformal_double.h), with 16 fractional bits. Range: 1 <= x <= 2^62. */
TL_FN int64_t tl_fix_log2_near(int64_t x)
{
	int64_t e = tl_fix_top_bit((uint64_t)x);
	int64_t f = (e <= 16 ? x << (16 - e) : x >> (e - 16)) - 65536;

	TL_RANGE(x >= 1 && tl_fix_within(x, 62), x);
	return e * 65536 + f + ((11 * f * (65536 - f)) >> 21);
}

/* Returns approximately 2^x as an integer, at most 2^58. x has 16 fractional bits and any sign. */
TL_FN int64_t tl_fix_exp2_near(int64_t x)
{
	int64_t whole = x >> 16, f = x & 65535;
	int64_t m = 65536 + f - ((11 * f * (65536 - f)) >> 21);

	if (whole > 57)
		return (int64_t)1 << 58;
	if (whole >= 16)
		return m << (whole - 16);
	return whole >= -1 ? (m + ((int64_t)1 << (15 - whole))) >> (16 - whole) : 0;
}

/* Returns log2 of a fine duration (24 fractional bits) in microseconds. The result has 16 significant
 * fractional bits. Range: 1 <= a <= 2^62. */
TL_FN tl_level_fix tl_level_log2_fix(int64_t a)
{
	return (tl_fix_log2_near(a) - (int64_t)24 * 65536) * 65536;
}

/* Returns 2^a us as a fine duration, at most 2^58 (2^34 us). Range: |a| <= 2^61. */
TL_FN int64_t tl_level_exp2_fix(tl_level_fix a)
{
	TL_RANGE(tl_fix_within(a, 61), a);
	return tl_fix_exp2_near((a >> 16) + (int64_t)24 * 65536);
}

/* Returns n * a. Range: the product is within +-2^62. */
TL_FN tl_level_fix tl_level_times_fix(tl_level_fix a, uint32_t n)
{
	TL_RANGE(tl_fix_mag(a) <= ((uint64_t)1 << 62) / (n > 0 ? n : 1), a);
	return a * (int64_t)n;
}

TL_FN tl_level_fix tl_level_over_fix(tl_level_fix a, uint32_t n)
{
	return tl_fix_div(a, n);
}

/* Returns a * |a|; a is clamped to [-4096, 4096] and truncated to 16 fractional bits. */
TL_FN tl_level_fix tl_level_square_fix(tl_level_fix a)
{
	uint64_t m = tl_fix_mag(a) >> 16;

	if (m > (uint64_t)1 << 28)
		m = (uint64_t)1 << 28;
	return tl_fix_signed(m * m, a);
}

/* Returns a / (a + 1/2), truncated. Range: 0 <= a <= 2^46. */
TL_FN tl_level_fix tl_level_share_fix(tl_level_fix a)
{
	uint64_t m = (uint64_t)a >> 15;

	TL_RANGE(a >= 0 && tl_fix_within(a, 46), a);
	return (int64_t)((m << 32) / (m + 65536));
}

/* Returns floor(n * a), clamped to 0 ... bins - 1. Range: |a| <= 2^40, n <= 2^20. */
TL_FN uint32_t tl_level_bin_fix(tl_level_fix a, uint32_t n, uint32_t bins)
{
	uint64_t b = a < 0 ? 0 : ((uint64_t)a * n) >> 32;

	TL_RANGE(tl_fix_within(a, 40), a);
	TL_RANGE(n <= (uint32_t)1 << 20, n);
	return b >= bins ? bins - 1 : (uint32_t)b;
}

/* Returns 64 / miss, clamped to 512 ... 32768. Range: 0 <= miss <= 2^32. */
TL_FN uint32_t tl_tail_memory_fix(tl_level_fix miss)
{
	TL_RANGE(miss >= 0 && tl_fix_within(miss, 32), miss);
	return miss > (int64_t)1 << 29   ? 512
	       : miss < (int64_t)1 << 23 ? 32768
					 : (uint32_t)(((uint64_t)1 << 38) / (uint64_t)miss);
}

/* Returns the width 2^u * sqrt(a * b). Range: 1 <= a, b <= 2^60. */
TL_FN int64_t tl_width_fix(tl_level_fix u, int64_t a, int64_t b)
{
	TL_RANGE(a >= 1 && tl_fix_within(a, 60), a);
	TL_RANGE(b >= 1 && tl_fix_within(b, 60), b);
	return tl_fix_exp2_near((u >> 16) + ((tl_fix_log2_near(a) + tl_fix_log2_near(b)) >> 1));
}

/* Returns log2(5/4 ln(1 / (2 miss))); miss is at most 0.2. Range: 0 <= miss <= 2^32. */
TL_FN tl_level_fix tl_level_start_fix(tl_level_fix miss)
{
	const int64_t most = 858993459; /* 0.2 */
	int64_t bits = (int64_t)31 * 65536 - tl_fix_log2_near(miss < 1 ? 1 : miss < most ? miss : most);

	TL_RANGE(miss >= 0 && tl_fix_within(miss, 32), miss);
	/* the factor is 5/4 ln 2 */
	return (tl_fix_log2_near((bits * 56783) >> 16) - (int64_t)16 * 65536) * 65536;
}

#endif
