/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Macros that make tables of algorithms from the lists of each kind (for example estimators/list.h), for
 * the library and for the kernel module. A registry passes its list to TL_TABLE_OF; then, in each
 * arithmetic, to TL_VERBS_OF; then it makes a table with TL_ENTRY_OF and TL_PRESET_OF. The registry
 * itself defines TL_ENTRY_VERBS(id), the functions of one kind that follow the common struct
 * tl_algorithm. */
#ifndef TCPLEARN_REGISTRY_H
#define TCPLEARN_REGISTRY_H

#include "algorithm.h"

#define TL_COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* clang-format off */
#define TL_TABLE(id, list, learned) \
	static const struct tl_param tl_table_##id[] = { list(TL_INFO) }; \
	enum { tl_learned_of_##id = (learned) };

/* Makes tl_set_ID and tl_get_ID, which take and return values in the unit that users see. */
#define TL_VERBS(id) \
	_Static_assert(sizeof(struct TL(id##_params)) <= TL_PARAMS_BYTES_MAX, "TL_PARAMS_BYTES_MAX is too small"); \
	static int TL(set_##id)(void *params, uint32_t index, tl_value x) \
	{ \
		if (!tl_param_allows(tl_table_##id, TL_COUNT_OF(tl_table_##id), index, x)) \
			return -1; \
		return TL(wrap_set_##id)(params, index, ratio_from_value(x)); \
	} \
	static tl_value TL(get_##id)(const void *params, uint32_t index) \
	{ \
		return ratio_to_value(TL(wrap_get_##id)(params, index)); \
	}

/* Makes the initializer of a struct tl_algorithm. */
#define TL_HEAD(id, label, brief, glossary, defaults_fn) \
	{ label, TL_SAID(brief), TL_SAID(glossary), tl_table_##id, TL_COUNT_OF(tl_table_##id), (uint32_t)sizeof(struct TL(id##_params)), \
	  tl_learned_of_##id, TL_ARITHMETIC, defaults_fn, TL(set_##id), TL(get_##id), TL(wrap_state_bytes_##id), \
	  TL(wrap_init_##id) }

/* A line of a list of algorithms is X(id, label, parameters, learned, summary, about, fields of this
 * kind...). A line of a list of presets is X(id, preset, label, summary). */
#define TL_FIRST(first, ...) first
#define TL_TABLE_OF(id, label, list, learned, ...) TL_TABLE(id, list, learned)
#define TL_VERBS_OF(id, ...) TL_VERBS(id)
#define TL_ENTRY_OF(id, label, list, learned, brief, ...) \
	{ TL_HEAD(id, label, brief, TL_FIRST(__VA_ARGS__, 0), TL(wrap_defaults_##id)), TL_ENTRY_VERBS(id) },
#define TL_PRESET_OF(id, preset, label, brief) \
	{ TL_HEAD(id, label, brief, "", TL(wrap_defaults_##id##_##preset)), TL_ENTRY_VERBS(id) },
/* clang-format on */

/* Returns whether the parameter at `index` may have this value. The check is made before any conversion,
 * so a value beyond a bound is refused even if conversion would round it to the bound. */
TL_FN int tl_param_allows(const struct tl_param *table, uint32_t count, uint32_t index, tl_value value)
{
	return index < count && value >= tl_value_of_nano(table[index].low_nano) &&
	       value <= tl_value_of_nano(table[index].high_nano);
}

#endif
