/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic of the loss classifiers' features in double precision: quotients and logarithms. */
#ifndef TCPLEARN_LOSS_DOUBLE_H
#define TCPLEARN_LOSS_DOUBLE_H

#ifndef TL_NO_F64
#include "../deps.h"

/* Returns a / b. Range: b > 0. */
TL_FN double tl_loss_quotient_f64(double a, double b)
{
	return a / b;
}

/* Returns log2 x; -30 for x below 2^-30. Method: x = 2^e m with m in [1 / sqrt 2, sqrt 2); log m = 2
 * atanh s with s = (m - 1) / (m + 1), |s| < 0.172. Eleven terms of the series have an error within 1e-17.
 * Range: x finite. */
TL_FN double tl_loss_log2_f64(double x)
{
	double low = x > 1.0 / 1073741824.0 ? x : 1.0 / 1073741824.0, m, s, s2, sum = 0;
	uint64_t bits, half;
	int k, i;

	TL_COPY(&bits, &low);
	/* 1 if the significand is at least sqrt 2; the exponent is then one higher and m = significand /
	 * 2 */
	half = (bits & 0xfffffffffffffu) >= 0x6a09e667f3bcdu;
	k = (int)(bits >> 52) - 1023 + (int)half;
	bits = (bits & 0xfffffffffffffu) | (1023 - half) << 52;
	TL_COPY(&m, &bits);
	s = (m - 1.0) / (m + 1.0);
	s2 = s * s;
	for (i = 21; i > 0; i -= 2)
		sum = sum * s2 + 1.0 / (double)i;
	return (double)k + 2.0 * 1.4426950408889634074 * s * sum;
}

#endif
#endif
