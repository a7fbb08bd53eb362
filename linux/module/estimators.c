// SPDX-License-Identifier: GPL-2.0-only
/* Makes the module's table of estimators from the core's list; no line here names an estimator. */
#ifndef CONFIG_64BIT
#error "the core divides 64-bit numbers: a 64-bit kernel is needed"
#endif

#include <tcplearn/registry.h>
#include <tcplearn/wrap.h>

#include "estimators.h"

#include <tcplearn/arithmetic/fixed.h>

TL_ESTIMATORS(TL_TABLE_OF)
TL_ESTIMATORS(TL_VERBS_OF)

#define TL_ESTIMATOR_ANSWERS(id, ...) \
	static void id##_query(const void *s, struct tl_answer *answer) \
	{ \
		struct TL(prediction) p; \
		TL(wrap_query_##id)(s, &p); \
		answer->rtt_q8 = p.rtt; \
		answer->rto_q8 = p.rto; \
	} \
	static void id##_update(void *s, const struct tl_sample *sample, struct tl_answer *answer) \
	{ \
		TL(wrap_update_##id)(s, sample); \
		id##_query(s, answer); \
	}
TL_ESTIMATORS(TL_ESTIMATOR_ANSWERS)

#define TL_ENTRY_VERBS(id) (int)tl_timer_of_##id == TL_TIMER_FROM_HEAD, id##_update, id##_query
const struct tl_kernel_estimator tl_kernel_estimators[] = { TL_ESTIMATORS(TL_ENTRY_OF) TL_PRESETS(TL_PRESET_OF) };
TL_CHOOSABLE(tl_estimators, tl_kernel_estimators, "estimator", "estimator", "stock");
