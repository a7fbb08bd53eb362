/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parameters as users type them, for every registry. */
#ifndef TCPLEARN_PARAMS_TABLE_H
#define TCPLEARN_PARAMS_TABLE_H

#include <stddef.h>

#include "tcplearn/params.h"

#define TL_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* In double, before any conversion: what rounds to a bound is not within it. */
static inline int tl_allowed(const struct tl_param *table, size_t count, size_t index, double value)
{
	return index < count && value >= table[index].low && value <= table[index].high;
}

/* The verbs about parameters and memory of one algorithm, in the arithmetic that is begun. */
/* clang-format off */
#define TL_LIBRARY_PARAMS(id) \
	static int TL(set_##id)(void *params, size_t index, double x) \
	{ \
		if (!tl_allowed(table_##id, TL_COUNT_OF(table_##id), index, x)) \
			return -1; \
		return TL(wrap_set_##id)(params, (uint32_t)index, ratio_from_double(x)); \
	} \
	static double TL(get_##id)(const void *params, size_t index) \
	{ \
		return ratio_to_double(TL(wrap_get_##id)(params, (uint32_t)index)); \
	} \
	static size_t TL(state_bytes_##id)(const void *params) { return TL(wrap_state_bytes_##id)(params); }
/* clang-format on */

#endif
