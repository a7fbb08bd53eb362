/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes the library's table of estimators for one arithmetic from tcplearn/wrap.h, and the functions that
 * only the library has: predictions as doubles, and run() over columns. Included twice, so only its
 * macros have an include guard. */

#ifndef TCPLEARN_ESTIMATOR_REGISTRY_ARITHMETIC_H
#define TCPLEARN_ESTIMATOR_REGISTRY_ARITHMETIC_H

/* clang-format off */
#define TL_ESTIMATOR_VERBS(id, ...) \
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

#define TL_ENTRY_VERBS(id) \
	(enum tl_timer)tl_timer_of_##id, TL(wrap_update_##id), TL(query_##id), TL(run_##id)
#endif

TL_ESTIMATORS(TL_ESTIMATOR_VERBS)

TL_REGISTRY(tl_estimator, TL(estimator_registry), TL_ESTIMATORS, TL_PRESETS)
/* clang-format on */
