/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* TL_RANGE(condition, value) states the range of an argument or result of a fixed-point function. Only a
 * test build with TL_CHECK_RANGES (CMake: TCPLEARN_CHECK_RANGES) checks the condition, and aborts if it is
 * false. */
#ifndef TCPLEARN_RANGE_H
#define TCPLEARN_RANGE_H

#ifdef TL_CHECK_RANGES
#include <stdio.h>
#include <stdlib.h>

static inline void tl_range_broken(const char *function, const char *range, long long value)
{
	fprintf(stderr, "%s: out of its range, %s: %lld\n", function, range, value);
	abort();
}

#define TL_RANGE(condition, value) \
	do { \
		if (!(condition)) \
			tl_range_broken(__func__, #condition, (long long)(value)); \
	} while (0)
#else
#define TL_RANGE(condition, value) \
	do { \
	} while (0)
#endif

#endif
