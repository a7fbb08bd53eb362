/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Defines struct tl_algorithm, which describes an algorithm of any kind: its name, its description, its
 * parameters as data, and the memory that it needs. The public struct of each kind (for example an
 * estimator or a resend policy) begins with a tl_algorithm and continues with the functions of that kind. */
#ifndef TCPLEARN_ALGORITHM_H
#define TCPLEARN_ALGORITHM_H

#include "params.h"

enum tl_arithmetic { TL_F64 = 0, TL_FIX = 1 };
enum { TL_FORMULA = 0, TL_LEARNED = 1 };

struct tl_algorithm {
	const char *name;    /* "experts", or "experts/fitted" for a preset */
	const char *summary; /* a phrase of half a line */
	const char *about;   /* one or two sentences for a glossary; may be "" */
	const struct tl_param *params;
	uint32_t param_count, params_bytes;
	uint32_t learned; /* TL_FORMULA or TL_LEARNED */
	enum tl_arithmetic arithmetic;
	void (*defaults)(void *params);
	int (*set)(void *params, uint32_t index,
		   tl_value value); /* returns 0, or -1: no such index, or out of range */
	tl_value (*get)(const void *params, uint32_t index);
	uint32_t (*state_bytes)(const void *params);
	void (*init)(void *state, const void *params); /* `state` is aligned for int64_t */
};

/* All algorithms of one kind in one arithmetic, presets included. */
struct tl_kind {
	const char *name; /* "resend policy" */
	const char *key;  /* "resend": the name in `tcplearn algorithms` and of source folders */
	uint32_t count;
	const struct tl_algorithm *(*at)(uint32_t index); /* index < count */
};

#endif
