/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the double model that the language lacks. Needs no libm. */
#ifndef TCPLEARN_F64_H
#define TCPLEARN_F64_H

#include "../deps.h"

/* e^x for x in [-708, 0], 0 below, and within 2 ulp: Cody and Waite's reduction to
 * |r| <= ln2/2, the Taylor polynomial to r^13, and the exponent put together by integer addition.
 * Free of branches but two selections: a loop over it becomes vector code (gcc asks for
 * -fno-trapping-math, which changes no value). */
TL_FN double tl_f64_exp(double x)
{
	const double shifter = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer */
	double low = x < -708.0 ? -708.0 : x;
	double t = low * 1.4426950408889634074 + shifter;
	double n = t - shifter;
	double r = (low - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
	double r2 = r * r;
	double r4 = r2 * r2;
	/* Estrin's scheme: short chains */
	double p01 = 1.0 + r;
	double p23 = 0.5 + r * (1.0 / 6);
	double p45 = 1.0 / 24 + r * (1.0 / 120);
	double p67 = 1.0 / 720 + r * (1.0 / 5040);
	double p89 = 1.0 / 40320 + r * (1.0 / 362880);
	double pab = 1.0 / 3628800 + r * (1.0 / 39916800);
	double pcd = 1.0 / 479001600 + r * (1.0 / 6227020800.0);
	double p = (p01 + r2 * p23) + r4 * ((p45 + r2 * p67) + r4 * ((p89 + r2 * pab) + r4 * pcd));
	uint64_t bits;
	double scale;

	TL_COPY(&bits, &t);
	bits = (bits + 1023) << 52; /* the low bits of t hold n */
	TL_COPY(&scale, &bits);
	return x < -708.0 ? 0.0 : p * scale;
}

TL_FN double tl_f64_min(double a, double b)
{
	return a < b ? a : b;
}

/* To the nearest microsecond; a stays within +-2^62. */
TL_FN int64_t tl_f64_to_us(double a)
{
	return (int64_t)(a < 0 ? a - 0.5 : a + 0.5);
}

/* Mean of x by the positive ones of w; fallback where there is none. */
TL_FN double tl_f64_positive_mean(const double *w, const double *x, uint32_t n, double fallback)
{
	double sum = 0, dot = 0;
	uint32_t k;

	for (k = 0; k < n; k++) {
		double v = w[k] > 0 ? w[k] : 0;
		sum += v;
		dot += v * x[k];
	}
	return sum > 0 ? dot / sum : fallback;
}

/* Mitchell's logarithm (1962) with a parabola put right: log2(1 + f) is f + 11/32 f (1 - f), at most
 * 0.0081 off. What controls a width needs no more, and both number models can have the same. x > 0. */
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

/* Its inverse to the same order: 2^f is 1 + f - 11/32 f (1 - f). x within +-1000. */
TL_FN double tl_f64_exp2_near(double x)
{
	int64_t whole = (int64_t)x - (x < (double)(int64_t)x);
	double f = x - (double)whole, scale;
	uint64_t bits = (uint64_t)(whole < -1000 ? 23 : whole > 1000 ? 2023 : whole + 1023) << 52;

	TL_COPY(&scale, &bits);
	return (1 + f - 11.0 / 32 * f * (1 - f)) * scale;
}

/* log2(5/4 ln(1 / (2 miss))): where a Laplace tail is missed that often, a quarter wider. */
TL_FN double tl_f64_level_start(double miss)
{
	double rate = miss < 0.2 ? miss : 0.2;

	return tl_f64_log2_near(1.25 * 0.69314718055994530942 * -tl_f64_log2_near(2 * rate));
}

#endif
