/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The logarithm of times and the unit of counts with which resend policies learn: integers with 16 fractional
 * bits. */
#ifndef TCPLEARN_RESEND_LOGARITHM_H
#define TCPLEARN_RESEND_LOGARITHM_H

#include "../arithmetic/fix.h"

#define TL_RESEND_ONE 65536u

/* Returns log2 x with 16 fractional bits, by Mitchell's approximation (1962): linear between powers of
 * two, at most 0.09 too low. Range: x > 0. */
TL_FN uint32_t tl_resend_log2(uint64_t x)
{
	const uint32_t top = tl_fix_top_bit(x);

	return (top << 16) + (uint32_t)((top > 16 ? x >> (top - 16) : x << (16 - top)) & 0xffff);
}

#endif
