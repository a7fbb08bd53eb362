/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the fixed-point model. Every rounding is to nearest, halves away from zero, on
 * magnitudes: BPF below v4 has no signed division, and no sign is favoured. */
#ifndef TCPLEARN_FIX_H
#define TCPLEARN_FIX_H

#include "../deps.h"
#include "exp_tables.h"

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

/* 2^-x from x + 33, both with 30 fractional bits, the result too; cut. At most 2^-29 off and never rising:
 * 2^-(j/256) from a table, and the rest, r < 2^-8, by the parabola a ((c - r)^2 + k), a within the table.
 * The 33 is the shift that a product of this size needs. Range: x < 31. */
TL_FN uint64_t tl_fix_exp2_neg33(uint64_t x_q30)
{
	const uint64_t c_q30 = 1550899691u, k_q60 = 2399654099552362303u;
	uint64_t r = c_q30 - (x_q30 & (((uint64_t)1 << 22) - 1));

	return (((r * r + k_q60) >> 31) * tl_exp2_table((x_q30 >> 22) & 255)) >> (x_q30 >> 30);
}

/* 2^-x with 30 fractional bits both ways; 0 from x = 31 on. */
TL_FN uint32_t tl_fix_exp2_neg(uint64_t x_q30)
{
	return x_q30 >> 30 > 30 ? 0 : (uint32_t)tl_fix_exp2_neg33(x_q30 + ((uint64_t)33 << 30));
}

/* eta log2 e: the rate for the two below. Range: eta <= 2^36. */
TL_FN uint64_t tl_fix_decay_rate(int64_t eta)
{
	return (uint64_t)tl_fix_mul(eta, 1549082005);
}

/* The largest loss at which the decay is computed: 2^-x, x < 31. Beyond it is 0. At most 2^62. */
TL_FN uint64_t tl_fix_decay_limit(uint64_t rate)
{
	return rate == 0 ? (uint64_t)1 << 62 : (((uint64_t)31 << 54) - ((uint64_t)1 << 23) - 1) / rate;
}

/* e^(-eta loss), loss with 24 fractional bits, the result with 30. Range: loss within the limit. */
TL_FN uint64_t tl_fix_decay(uint64_t loss, uint64_t rate)
{
	return tl_fix_exp2_neg33((loss * rate + ((uint64_t)33 << 54) + ((uint64_t)1 << 23)) >> 24);
}

/* floor(log2 x), x > 0. By hand: clang 14 loops for ever over a count of leading zeros for BPF, and some
 * machines would call a library for it. */
TL_FN uint32_t tl_fix_top_bit(uint64_t x)
{
	uint32_t n = 0, k;

	for (k = 32; k > 0; k >>= 1) {
		uint32_t step = x >> k ? k : 0;
		x >>= step;
		n += step;
	}
	return n;
}

/* Mean of x by the positive ones of w, which count with their 18 leading bits; fallback where there is
 * none. Range: |x| < 2^41, n <= 16. */
TL_FN int64_t tl_fix_positive_mean(const int64_t *w, const int64_t *x, uint32_t n, int64_t fallback)
{
	uint64_t top = 0;
	int64_t sum = 0, dot = 0;
	uint32_t k, shift = 0;

	for (k = 0; k < n; k++)
		top |= w[k] > 0 ? (uint64_t)w[k] : 0;
	if (top == 0)
		return fallback;
	if (top >= (uint64_t)1 << 18)
		shift = tl_fix_top_bit(top) - 17;
	for (k = 0; k < n; k++) {
		int64_t v = w[k] > 0 ? w[k] >> shift : 0;
		sum += v;
		dot += v * x[k];
	}
	return tl_fix_div(dot, sum);
}

/* Mitchell's logarithm with a parabola put right (f64.h), 16 fractional bits. Range: 1 <= x < 2^62. */
TL_FN int64_t tl_fix_log2_near(int64_t x)
{
	int64_t e = tl_fix_top_bit((uint64_t)x);
	int64_t f = (e <= 16 ? x << (16 - e) : x >> (e - 16)) - 65536;

	return e * 65536 + f + ((11 * f * (65536 - f)) >> 21);
}

/* Its inverse: x with 16 fractional bits of any sign, the result whole; at most 2^58. */
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

/* 2^u * sqrt(a b), u with 32 fractional bits. Range: 1 <= a, b < 2^60. */
TL_FN int64_t tl_fix_width(int64_t u, int64_t a, int64_t b)
{
	return tl_fix_exp2_near((u >> 16) + ((tl_fix_log2_near(a) + tl_fix_log2_near(b)) >> 1));
}

/* log2(5/4 ln(1 / (2 miss))), miss and the result with 32 fractional bits. */
TL_FN int64_t tl_fix_level_start(int64_t miss)
{
	const int64_t most = 858993459; /* 0.2 */
	int64_t bits = (int64_t)31 * 65536 - tl_fix_log2_near(miss < 1 ? 1 : miss < most ? miss : most);

	return (tl_fix_log2_near((bits * 56783) >> 16) - (int64_t)16 * 65536) * 65536; /* 5/4 ln 2 */
}

#endif
