/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parameters as users type them, and a look-up by place and by name, for every registry. */
#ifndef TCPLEARN_PARAMS_TABLE_H
#define TCPLEARN_PARAMS_TABLE_H

#include <stddef.h>
#include <string.h>

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
/* What the entries of a registry have in common, as most kinds order it. */
#define TL_COMMON_FIELDS(id, defaults_fn) \
	table_##id, TL_COUNT_OF(table_##id), sizeof(struct TL(id##_params)), defaults_fn, TL(set_##id), TL(get_##id), \
	TL(state_bytes_##id), TL(wrap_init_##id)

/* kind_count(), kind_at() and kind_find() over TABLE_f64 and TABLE_fix. */
#define TL_LOOK_UP(kind, type, table) \
	size_t kind##_count(void) { return TL_COUNT_OF(table##_f64); } \
	const struct type *kind##_at(size_t index, enum tl_arithmetic arithmetic) \
	{ \
		if (index >= kind##_count()) \
			return NULL; \
		return arithmetic == TL_FIX ? &table##_fix[index] : &table##_f64[index]; \
	} \
	const struct type *kind##_find(const char *name, enum tl_arithmetic arithmetic) \
	{ \
		size_t i = 0; \
		while (i < kind##_count() && strcmp(table##_f64[i].name, name) != 0) \
			i++; \
		return kind##_at(i, arithmetic); \
	}
/* clang-format on */

#endif
