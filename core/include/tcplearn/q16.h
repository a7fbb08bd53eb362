/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The arithmetic of nunes2014, section 6.1: Q16.16 in sign and magnitude, saturating, truncating.
 * Every value of its algorithm is nonnegative but differences, which are taken as magnitudes, so the
 * 33rd bit is never stored. */
#ifndef TCPLEARN_Q16_H
#define TCPLEARN_Q16_H

#include "deps.h"

typedef uint32_t tl_q16; /* 0 to 65535.99998 */

#define TL_Q16_ONE ((tl_q16)65536u)

TL_FN tl_q16 tl_q16_sat(uint64_t v)
{
	return v > 0xffffffffu ? 0xffffffffu : (tl_q16)v;
}

TL_FN tl_q16 tl_q16_mul(tl_q16 a, tl_q16 b)
{
	return tl_q16_sat(((uint64_t)a * b) >> 16);
}

/* Range: b > 0. */
TL_FN tl_q16 tl_q16_div(tl_q16 a, tl_q16 b)
{
	return tl_q16_sat(((uint64_t)a << 16) / b);
}

/* e^-z, correctly rounded for every z (a test tries them all): Taylor to the fourteenth order,
 * 1 - t(1 - t/2(1 - ... t/14)), t with 33 fractional bits, the factors with 31, the last with 34. */
TL_FN tl_q16 tl_q16_exp_neg(tl_q16 z)
{
	const uint64_t ln2_q48 = 195103586505167u;
	uint64_t whole, t, p;
	uint32_t k;

	if (z >= 12u << 16)
		return 0;
	whole = ((uint64_t)z << 32) / ln2_q48;
	t = (((uint64_t)z << 32) - whole * ln2_q48 + ((uint64_t)1 << 14)) >> 15; /* below ln 2 */
	p = (uint64_t)1 << 31;
	for (k = 14; k > 1; k--)
		p = ((uint64_t)1 << 31) - ((t * p / k + ((uint64_t)1 << 32)) >> 33);
	p = ((uint64_t)1 << 34) - ((t * p + ((uint64_t)1 << 29)) >> 30);
	return (tl_q16)((p + ((uint64_t)1 << (17 + whole))) >> (18 + whole));
}

#endif
