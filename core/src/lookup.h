/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Macros that make the functions of one kind of algorithm from its tables NAME_f64 and NAME_fix. */
#ifndef TCPLEARN_LOOKUP_H
#define TCPLEARN_LOOKUP_H

#include <stddef.h>
#include <string.h>

#include "tcplearn/registry.h"
#include "tcplearn/tcplearn.h"

/* clang-format off */
/* Makes the table of a kind in one arithmetic. */
#define TL_REGISTRY(type, name, list, presets) \
	list(TL_VERBS_OF) \
	static const struct type name[] = { \
		list(TL_ENTRY_OF) \
		presets(TL_PRESET_OF) \
	};

/* Makes PREFIX_at(), PREFIX_find(), and PREFIX_kinds: a struct tl_kind for each arithmetic. */
#define TL_LOOK_UP(prefix, type, table, title, key) \
	const struct type *prefix##_at(size_t index, enum tl_arithmetic arithmetic) \
	{ \
		if (index >= TL_COUNT_OF(table##_f64)) \
			return NULL; \
		return arithmetic == TL_FIX ? &table##_fix[index] : &table##_f64[index]; \
	} \
	const struct type *prefix##_find(const char *name, enum tl_arithmetic arithmetic) \
	{ \
		size_t i = 0; \
		while (i < TL_COUNT_OF(table##_f64) && strcmp(table##_f64[i].algorithm.name, name) != 0) \
			i++; \
		return prefix##_at(i, arithmetic); \
	} \
	static const struct tl_algorithm *prefix##_algorithm_f64(uint32_t index) { return &table##_f64[index].algorithm; } \
	static const struct tl_algorithm *prefix##_algorithm_fix(uint32_t index) { return &table##_fix[index].algorithm; } \
	const struct tl_kind prefix##_kinds[2] = { \
		{ title, key, TL_COUNT_OF(table##_f64), prefix##_algorithm_f64 }, \
		{ title, key, TL_COUNT_OF(table##_fix), prefix##_algorithm_fix }, \
	};
/* clang-format on */

extern const struct tl_kind tl_estimator_kinds[2], tl_loss_kinds[2], tl_startup_kinds[2], tl_resend_kinds[2],
	tl_first_rto_kinds[2];

#endif
