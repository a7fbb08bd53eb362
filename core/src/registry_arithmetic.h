/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* No include guard: the registry of one arithmetic over tcplearn/wrap.h, with what only the library has:
 * parameters and answers as doubles, ranges checked as users type them, a run over columns. TL_ARITHMETIC is
 * TL_F64 or TL_FIX. */

#ifndef TCPLEARN_REGISTRY_ARITHMETIC_H
#define TCPLEARN_REGISTRY_ARITHMETIC_H

/* clang-format off */
#define TL_LIBRARY(id, label, list, state, timer, origin, summary, about) \
	TL_LIBRARY_PARAMS(id) \
	static void TL(query_##id)(const void *s, struct tl_prediction *out) \
	{ \
		struct TL(prediction) p; \
		TL(id##_query)(s, &p); \
		out->rtt_us = num_to_double_us(p.rtt); \
		out->rto_us = num_to_double_us(p.rto); \
	} \
	static void TL(run_##id)(void *s, size_t rows, const struct tl_columns *c, double *rtt_us, double *rto_us) \
	{ \
		size_t k; \
		for (k = 0; k < rows; k++) { \
			struct tl_prediction before; \
			TL(query_##id)(s, &before); \
			if (rtt_us) \
				rtt_us[k] = before.rtt_us; \
			if (rto_us) \
				rto_us[k] = before.rto_us; \
			if (c->rtt_us[k] >= 0) { \
				struct tl_sample in = tl_sample_of_row(c, k); \
				TL(id##_update)(s, &in); \
			} \
		} \
	}

#define TL_ENTRY(id, label, brief, glossary, defaults_fn) \
	{ label, brief, glossary, (int)tl_origin_of_##id == TL_LEARNED, TL_ARITHMETIC, (enum tl_timer)tl_timer_of_##id, \
	  TL_COMMON_FIELDS(id, defaults_fn), TL(wrap_update_##id), TL(query_##id), TL(run_##id) },
#define TL_ESTIMATOR_ENTRY(id, label, list, state, timer, origin, summary, about) \
	TL_ENTRY(id, label, summary, about, TL(wrap_defaults_##id))
#define TL_PRESET_ENTRY(id, preset, label, summary) \
	TL_ENTRY(id, label, summary, "", TL(wrap_defaults_##id##_##preset))
#endif

TL_ESTIMATORS(TL_LIBRARY)

static const struct tl_estimator TL(registry)[] = {
	TL_ESTIMATORS(TL_ESTIMATOR_ENTRY)
	TL_PRESETS(TL_PRESET_ENTRY)
};
/* clang-format on */
