/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The common head of an algorithm of every kind: its name, description, parameters as data, and memory.
 * The public struct of a kind (an estimator, a resend policy) begins with it, followed by the functions of
 * the kind. */
#ifndef TCPLEARN_ALGORITHM_H
#define TCPLEARN_ALGORITHM_H

#include "params.h"

enum tl_arithmetic { TL_F64 = 0, TL_FIX = 1 };
enum { TL_FORMULA = 0, TL_LEARNED = 1 };

struct tl_algorithm {
	const char *name;    /* "experts", or a preset's: "experts/fitted" */
	const char *summary; /* half a line */
	const char *about;   /* a sentence or two for a glossary; may be "" */
	const struct tl_param *params;
	uint32_t param_count, params_bytes;
	uint32_t learned; /* TL_FORMULA or TL_LEARNED */
	enum tl_arithmetic arithmetic;
	void (*defaults)(void *params);
	int (*set)(void *params, uint32_t index,
		   tl_value value); /* 0, or -1: no such index, or out of range */
	tl_value (*get)(const void *params, uint32_t index);
	uint32_t (*state_bytes)(const void *params);
	void (*init)(void *state, const void *params); /* state: aligned for int64_t */
};

/* All algorithms of a kind, presets included, in one arithmetic. */
struct tl_kind {
	const char *name; /* "resend policy" */
	const char *key;  /* "resend", the name in `tcplearn algorithms` and of folders */
	uint32_t count;
	const struct tl_algorithm *(*at)(uint32_t index); /* index < count */
};

#endif
