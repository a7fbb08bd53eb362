// SPDX-License-Identifier: GPL-2.0-only
/* Made of the registry's lists alone: no line here names an estimator. */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>

#ifndef CONFIG_64BIT
#error "the core divides 64-bit numbers: a 64-bit kernel is needed"
#endif

#include <tcplearn/wrap.h>

#include "estimators.h"

#define TL_LAYER(id, label, list, state, timer, origin, summary, about) \
	static_assert(sizeof(struct tl_##id##_params_fix) <= TL_PARAMS_BYTES_MAX); \
	static const char *const id##_keys[] = { list(TL_KEY) }; \
	static void id##_query(const void *s, struct tl_answer *answer) \
	{ \
		struct tl_prediction_fix p; \
		tl_wrap_query_##id##_fix(s, &p); \
		answer->rtt_q8 = p.rtt; \
		answer->rto_q8 = p.rto; \
	} \
	static void id##_update(void *s, const struct tl_sample *sample, struct tl_answer *answer) \
	{ \
		tl_wrap_update_##id##_fix(s, sample); \
		id##_query(s, answer); \
	}
TL_ESTIMATORS(TL_LAYER)

#define TL_ENTRY(id, label, defaults) \
	{ label, (int)tl_timer_of_##id == TL_TIMER_FROM_HEAD, id##_keys, ARRAY_SIZE(id##_keys), defaults, \
	  tl_wrap_set_##id##_fix, tl_wrap_state_bytes_##id##_fix, tl_wrap_init_##id##_fix, \
	  id##_update, id##_query },
#define TL_ESTIMATOR_ENTRY(id, label, list, state, timer, origin, summary, about) \
	TL_ENTRY(id, label, tl_wrap_defaults_##id##_fix)
#define TL_PRESET_ENTRY(id, preset, label, summary) \
	TL_ENTRY(id, label, tl_wrap_defaults_##id##_##preset##_fix)

const struct tl_kernel_estimator tl_kernel_estimators[] = {
	TL_ESTIMATORS(TL_ESTIMATOR_ENTRY)
	TL_PRESETS(TL_PRESET_ENTRY)
};
const u32 tl_kernel_estimator_count = ARRAY_SIZE(tl_kernel_estimators);

int tl_kernel_set(const struct tl_kernel_estimator *e, void *params, const char *key, s64 q30)
{
	return e->set(params, tl_param_index(e->keys, e->key_count, key), q30) ? -EINVAL : 0;
}
