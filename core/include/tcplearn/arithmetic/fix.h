/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions of fixed point. Every rounding is to nearest, halves away from zero, so that no sign is
 * favoured. Divisions use magnitudes, because BPF below v4 has no signed division. */
#ifndef TCPLEARN_FIX_H
#define TCPLEARN_FIX_H

#include "../deps.h"
#include "range.h"

TL_FN uint64_t tl_fix_mag(int64_t a)
{
	return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

TL_FN int64_t tl_fix_signed(uint64_t mag, int64_t sign)
{
	return sign < 0 ? -(int64_t)mag : (int64_t)mag;
}

/* Returns whether |a| <= 2^k. */
TL_FN int tl_fix_within(int64_t a, uint32_t k)
{
	return tl_fix_mag(a) <= (uint64_t)1 << k;
}

/* Returns a / 2^k, rounded. Range: |a| <= 2^62, 1 <= k <= 32. */
TL_FN int64_t tl_fix_shr(int64_t a, uint32_t k)
{
	TL_RANGE(tl_fix_within(a, 62), a);
	TL_RANGE(k >= 1 && k <= 32, k);
	/* The shift rounds down. For a < 0, one less is added so that a half is rounded away from 0. */
	return (a + (a >> 63) + ((int64_t)1 << (k - 1))) >> k;
}

/* Returns the same as tl_fix_mul(), computed in parts for machines without a 128-bit product. */
TL_FN int64_t tl_fix_mul_parts(int64_t a, int64_t r)
{
	const uint64_t low30 = ((uint64_t)1 << 30) - 1;
	uint64_t m = tl_fix_mag(a), f = tl_fix_mag(r);
	uint64_t q = m * (f >> 30) + (m >> 30) * (f & low30) +
		     (((m & low30) * (f & low30) + ((uint64_t)1 << 29)) >> 30);

	return tl_fix_signed(q, (a < 0) != (r < 0) ? -1 : 1);
}

#if defined(__x86_64__) || defined(__aarch64__)
__extension__ typedef __int128 tl_fix_product;

TL_FN int64_t tl_fix_mul_at_once(int64_t a, int64_t r)
{
	const tl_fix_product product = (tl_fix_product)a * r;

	return (int64_t)((product + (product >> 127) + ((int64_t)1 << 29)) >> 30);
}
#else
#define tl_fix_mul_at_once(a, r) tl_fix_mul_parts((a), (r))
#endif

/* Returns a * r / 2^30, exact except for the final rounding. Range: |a| <= 2^62, and the result too. */
TL_FN int64_t tl_fix_mul(int64_t a, int64_t r)
{
	TL_RANGE(tl_fix_within(a, 62), a);
	TL_RANGE((double)tl_fix_mag(a) * (double)tl_fix_mag(r) <= 4951760157141521099596496896.0,
		 r); /* 2^92 */
	return tl_fix_mul_at_once(a, r);
}

/* Returns a * n, saturating at +-2^62. Range: n > 0. */
TL_FN int64_t tl_fix_mul_count(int64_t a, uint32_t n)
{
	const uint64_t top = (uint64_t)1 << 62;
	uint64_t m = tl_fix_mag(a);

	TL_RANGE(n > 0, n);
	return tl_fix_signed(m > top / n ? top : m * n, a);
}

/* Returns a / n, rounded. Range: |a| < 2^63, n > 0. */
TL_FN int64_t tl_fix_div(int64_t a, int64_t n)
{
	uint64_t d = (uint64_t)n;

	TL_RANGE(tl_fix_mag(a) < (uint64_t)1 << 63, a);
	TL_RANGE(n > 0, n);
	return tl_fix_signed((tl_fix_mag(a) + d / 2) / d, a);
}

/* Returns the duration `a` with 16 more fractional bits. Range: |a| <= 2^42. */
TL_FN int64_t tl_fix_fine(int64_t a)
{
	TL_RANGE(tl_fix_within(a, 42), a);
	return a * 65536;
}

/* Returns the same as tl_fix_top_bit(), for machines on which there may be no instruction for it. The code
 * has no branch, because the BPF verifier would follow both ways of each branch, and no comparison, because
 * compilers turn a comparison into a branch. */
TL_FN uint32_t tl_fix_top_bit_halved(uint64_t x)
{
	uint32_t n = 0, k;

	for (k = 32; k > 0; k >>= 1) {
		/* k if x >= 2^k, because the sign bit of 2^k - 1 - x, or of x itself, is then set */
		const uint32_t step = (uint32_t)(((((uint64_t)1 << k) - 1 - x) | x) >> 63) * k;

		x >>= step;
		n += step;
	}
	return n;
}

/* Returns floor(log2 x). Range: x > 0. A machine instruction is used only where one certainly exists:
 * clang 14 hangs on a count of leading zeros for BPF. */
TL_FN uint32_t tl_fix_top_bit(uint64_t x)
{
	TL_RANGE(x > 0, x);
#if defined(__x86_64__) || defined(__aarch64__)
	return 63 - (uint32_t)__builtin_clzll(x);
#else
	return tl_fix_top_bit_halved(x);
#endif
}

#endif
