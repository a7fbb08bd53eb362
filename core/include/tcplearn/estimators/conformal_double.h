/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the estimator `conformal` in double precision: levels (log2), logarithms, width. */
#ifndef TCPLEARN_CONFORMAL_DOUBLE_H
#define TCPLEARN_CONFORMAL_DOUBLE_H

#include "../deps.h"

#ifndef TL_NO_F64

typedef double tl_level_f64; /* a logarithm to base 2, or a sum of misses */

TL_FN tl_level_f64 tl_level_of_f64(int64_t n, int64_t d)
{
	return (double)n / (double)d;
}

TL_FN tl_level_f64 tl_level_from_ratio_f64(double r)
{
	return r;
}

TL_FN tl_level_f64 tl_level_shr_f64(tl_level_f64 a, uint32_t k)
{
	return a * (1.0 / (double)((uint64_t)1 << k));
}

TL_FN tl_level_f64 tl_level_mul_f64(tl_level_f64 a, tl_level_f64 b)
{
	return a * b;
}

/* Returns Mitchell's logarithm to base 2 (1962) with a parabola as correction: log2(1 + f) = f + 11/32 f
 * (1 - f), error at most 0.0081. Fixed point uses the same formula. Range: x > 0. */
TL_FN double tl_f64_log2_near(double x)
{
	uint64_t bits;
	double f;
	int64_t e;

	TL_COPY(&bits, &x);
	e = (int64_t)((bits >> 52) & 2047) - 1023;
	bits = (bits & (((uint64_t)1 << 52) - 1)) | ((uint64_t)1023 << 52);
	TL_COPY(&f, &bits);
	f -= 1;
	return (double)e + f + 11.0 / 32 * f * (1 - f);
}

/* Returns approximately 2^x, the inverse of tl_f64_log2_near() except for small errors:
 * 2^f = 1 + f - 11/32 f (1 - f). x is clamped to [-1000, 1000]. */
TL_FN double tl_f64_exp2_near(double x)
{
	int64_t whole = (int64_t)x - (x < (double)(int64_t)x);
	double f = x - (double)whole, scale;
	uint64_t bits = (uint64_t)(whole < -1000 ? 23 : whole > 1000 ? 2023 : whole + 1023) << 52;

	TL_COPY(&scale, &bits);
	return (1 + f - 11.0 / 32 * f * (1 - f)) * scale;
}

/* Returns log2 of a duration in microseconds. */
TL_FN tl_level_f64 tl_level_log2_f64(double a)
{
	return tl_f64_log2_near(a);
}

/* Returns 2^a us; a is clamped to [-30, 40]. */
TL_FN double tl_level_exp2_f64(tl_level_f64 a)
{
	return tl_f64_exp2_near(a < -30 ? -30 : a > 40 ? 40 : a);
}

TL_FN tl_level_f64 tl_level_times_f64(tl_level_f64 a, uint32_t n)
{
	return a * (double)n;
}

TL_FN tl_level_f64 tl_level_over_f64(tl_level_f64 a, uint32_t n)
{
	return a / (double)n;
}

/* Returns a * |a|, the square with the sign of a. a is clamped to [-4096, 4096]. */
TL_FN tl_level_f64 tl_level_square_f64(tl_level_f64 a)
{
	double b = a < -4096 ? -4096 : a > 4096 ? 4096 : a;

	return b < 0 ? -b * b : b * b;
}

/* Returns a / (a + 1/2). */
TL_FN tl_level_f64 tl_level_share_f64(tl_level_f64 a)
{
	return a / (a + 0.5);
}

/* Returns floor(n * a), clamped to 0 ... bins - 1. */
TL_FN uint32_t tl_level_bin_f64(tl_level_f64 a, uint32_t n, uint32_t bins)
{
	double b = a * (double)n;

	return b < 0 ? 0 : b >= (double)bins ? bins - 1 : (uint32_t)b;
}

/* Returns 64 / miss, clamped to 512 ... 32768. */
TL_FN uint32_t tl_tail_memory_f64(tl_level_f64 miss)
{
	return miss > 0.125 ? 512 : miss < 1.0 / 512 ? 32768 : (uint32_t)(64 / miss);
}

/* Returns log2(5/4 ln(1 / (2 miss))): the quantile of a Laplace tail at this rate of misses, widened by a
 * quarter. `miss` is at most 0.2. */
TL_FN tl_level_f64 tl_level_start_f64(tl_level_f64 miss)
{
	double rate = miss < 0.2 ? miss : 0.2;

	return tl_f64_log2_near(1.25 * 0.69314718055994530942 * -tl_f64_log2_near(2 * rate));
}

/* Returns the width 2^u * sqrt(a * b). */
TL_FN double tl_width_f64(tl_level_f64 u, double a, double b)
{
	return tl_f64_exp2_near(u + (tl_f64_log2_near(a) + tl_f64_log2_near(b)) / 2);
}

#endif
#endif
