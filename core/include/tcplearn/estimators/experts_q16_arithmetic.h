/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The arithmetic of nunes2014, section 6.1: Q16.16 in sign and magnitude, saturating and truncating.
 * Except for differences every value of the algorithm is nonnegative, and differences are stored as
 * magnitudes, so the sign bit is never stored. */
#ifndef TCPLEARN_Q16_H
#define TCPLEARN_Q16_H

#include "../deps.h"
#include "../arithmetic/exp_tables.h"
#include "../arithmetic/range.h"

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

/* Returns a / b. Range: b > 0. */
TL_FN tl_q16 tl_q16_div(tl_q16 a, tl_q16 b)
{
	TL_RANGE(b > 0, b);
	return tl_q16_sat(((uint64_t)a << 16) / b);
}

/* For z of at least this value, e^-z is below half of the last bit. */
#define TL_Q16_EXP_END 772244u

/* Returns e^-z, correctly rounded for every z (a test tries all), as a product of three table entries. */
TL_FN tl_q16 tl_q16_exp_neg(tl_q16 z)
{
	uint64_t p;

	if (z >= TL_Q16_EXP_END)
		return 0;
	p = (tl_q16_eighths(z >> 13) * tl_q16_1024ths((z >> 6) & 127)) >> 28; /* 35 fractional bits */
	return (tl_q16)((p * tl_q16_65536ths(z & 63) + ((uint64_t)1 << 46)) >> 47);
}

#endif
