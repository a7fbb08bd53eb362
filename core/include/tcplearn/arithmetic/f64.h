/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions in double precision that do not need libm. */
#ifndef TCPLEARN_F64_H
#define TCPLEARN_F64_H

#include "../deps.h"

/* Returns e^x for x in [-708, 0], and 0 below; error within 2 ulp. Method: Cody and Waite's reduction to
 * |r| <= ln2/2, the Taylor polynomial to r^13, and the exponent set by integer addition. Compilers can
 * vectorize a loop over it, because it branches only for two selections (gcc needs -fno-trapping-math,
 * which changes no value). */
TL_FN double tl_f64_exp(double x)
{
	const double shifter = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds a double to an integer */
	double low = x < -708.0 ? -708.0 : x;
	double t = low * 1.4426950408889634074 + shifter;
	double n = t - shifter;
	double r = (low - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
	double r2 = r * r;
	double r4 = r2 * r2;
	/* Estrin's scheme: short dependency chains */
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

#endif
