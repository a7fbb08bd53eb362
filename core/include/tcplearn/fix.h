/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the fixed-point model. Every rounding is to nearest, halves away from zero, on
 * magnitudes: BPF below v4 has no signed division, and no sign is favoured. */
#ifndef TCPLEARN_FIX_H
#define TCPLEARN_FIX_H

#include "deps.h"

TL_FN uint64_t tl_fix_mag(int64_t a)
{
	return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

TL_FN int64_t tl_fix_signed(uint64_t mag, int64_t sign)
{
	return sign < 0 ? -(int64_t)mag : (int64_t)mag;
}

/* a / 2^k. Range: |a| < 2^62, 1 <= k <= 32. */
TL_FN int64_t tl_fix_shr(int64_t a, uint32_t k)
{
	return tl_fix_signed((tl_fix_mag(a) + ((uint64_t)1 << (k - 1))) >> k, a);
}

/* a * r / 2^30 without a 128-bit product, exact but for the last rounding.
 * Range: |a| < 2^62 and the result too. */
TL_FN int64_t tl_fix_mul(int64_t a, int64_t r)
{
	const uint64_t low30 = ((uint64_t)1 << 30) - 1;
	uint64_t m = tl_fix_mag(a), f = tl_fix_mag(r);
	uint64_t q = m * (f >> 30) + (m >> 30) * (f & low30) +
		     (((m & low30) * (f & low30) + ((uint64_t)1 << 29)) >> 30);

	return tl_fix_signed(q, (a < 0) != (r < 0) ? -1 : 1);
}

/* a * n, saturating at +-2^62. Range: n > 0. */
TL_FN int64_t tl_fix_mul_count(int64_t a, uint32_t n)
{
	const uint64_t top = (uint64_t)1 << 62;
	uint64_t m = tl_fix_mag(a);

	return tl_fix_signed(m > top / n ? top : m * n, a);
}

/* a / n. Range: |a| < 2^62, n > 0. */
TL_FN int64_t tl_fix_div(int64_t a, int64_t n)
{
	uint64_t d = (uint64_t)n;

	return tl_fix_signed((tl_fix_mag(a) + d / 2) / d, a);
}

/* a / (r / 2^30), saturating at r = 0. Range: |a| < 2^62, 0 <= r <= 2^30 and the result below 2^62. */
TL_FN int64_t tl_fix_over(int64_t a, int64_t r)
{
	uint64_t m = tl_fix_mag(a), f = (uint64_t)r;

	if (f == 0)
		return tl_fix_signed((uint64_t)1 << 62, a);
	return tl_fix_signed(((m / f) << 30) + (((m % f) << 30) + f / 2) / f, a);
}

/* a / 2^16 / (r / 2^30), rounded twice, first to 2^6. Range: |a| < 2^58, 2^20 <= r <= 2^30. */
TL_FN int64_t tl_fix_coarse_over(int64_t a, int64_t r)
{
	return tl_fix_shr(tl_fix_over(tl_fix_shr(a, 6), r), 10);
}

/* Ticks with 20 fractional bits to a duration with 8. Range: 0 <= x < 2^32, tick_us <= 2^30. */
TL_FN int64_t tl_fix_tick_to_num(int64_t x, int64_t tick_us)
{
	return tl_fix_shr(x * tick_us, 12);
}

/* us / tick_us with 20 fractional bits, at most 2048 ticks: the square of a distance then fits. */
TL_FN int64_t tl_fix_tick(int64_t us, int64_t tick_us)
{
	int64_t x = tl_fix_div(us * ((int64_t)1 << 20), tick_us);

	return x < ((int64_t)1 << 31) ? x : (int64_t)1 << 31;
}

/* loss * ratio. Range: loss <= 2^50, 0 <= ratio <= 2^36; a loss is at most 4000^2 units or
 * 64 * 4000, with 24 fractional bits. */
TL_FN uint64_t tl_fix_loss_mul(uint64_t loss, int64_t ratio)
{
	return (uint64_t)tl_fix_mul((int64_t)loss, ratio);
}

/* 1 - t p / k with 32 fractional bits: a step of the Taylor polynomial of e^-t. Range: t, p <= 2^32. */
TL_FN uint64_t tl_fix_taylor(uint64_t t, uint64_t p, uint64_t k)
{
	return ((uint64_t)1 << 32) - ((t * (p >> 1)) >> 31) / k;
}

/* 2^-x with 30 fractional bits both ways; 0 from x = 31 on. At most 2^-29 off:
 * Taylor to the eleventh order in f * ln 2, with 32 fractional bits. */
TL_FN uint32_t tl_fix_exp2_neg(uint64_t x_q30)
{
	const uint64_t ln2_q32 = 2977044472u;
	uint64_t whole = x_q30 >> 30;
	uint64_t t, p = (uint64_t)1 << 32;

	if (whole > 30)
		return 0;
	t = ((x_q30 & (((uint64_t)1 << 30) - 1)) * ln2_q32) >> 30; /* 32 fractional bits, below ln 2 */
	/* 1 - t(1 - t/2(1 - t/3(... (1 - t/11)))), each factor below 1; written out: constant divisors */
	p = tl_fix_taylor(t, p, 11);
	p = tl_fix_taylor(t, p, 10);
	p = tl_fix_taylor(t, p, 9);
	p = tl_fix_taylor(t, p, 8);
	p = tl_fix_taylor(t, p, 7);
	p = tl_fix_taylor(t, p, 6);
	p = tl_fix_taylor(t, p, 5);
	p = tl_fix_taylor(t, p, 4);
	p = tl_fix_taylor(t, p, 3);
	p = tl_fix_taylor(t, p, 2);
	p = tl_fix_taylor(t, p, 1);
	return (uint32_t)((p + ((uint64_t)2 << whole)) >> (whole + 2));
}

/* e^-l, l with 24 fractional bits, the result with 30. */
TL_FN uint32_t tl_fix_exp_neg(uint64_t l_q24)
{
	const uint64_t log2e_q30 = 1549082005u;

	if (l_q24 >= (uint64_t)32 << 24)
		return 0;
	return tl_fix_exp2_neg((l_q24 * log2e_q30 + ((uint64_t)1 << 23)) >> 24);
}

#endif
