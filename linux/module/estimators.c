// SPDX-License-Identifier: GPL-2.0-only
/* Made of the registry's lists alone: no line here names an estimator. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#ifndef CONFIG_64BIT
#error "the core divides 64-bit numbers: a 64-bit kernel is needed"
#endif

#include <tcplearn/estimators.h>
#include <tcplearn/estimators/list.h>

#include "estimators.h"

/* as enum tl_timer in tcplearn.h, which needs a C library */
enum { TL_TIMER_FROM_ACK, TL_TIMER_FROM_HEAD };

#define TL_SET(type, name, value, low, high, text) TL_SET_##type(#name, name)
#define TL_SET_us(key, name) TL_SET_ONE(key "_us", name##_us, tl_fix_shr(q30, 30))
#define TL_SET_ratio(key, name) TL_SET_ONE(key, name, q30)
#define TL_SET_count(key, name) TL_SET_ONE(key, name, tl_fix_shr(q30, 30))
#define TL_SET_choice(key, name) TL_SET_ONE(key, name, tl_fix_shr(q30, 30))
#define TL_SET_ONE(text, member, value) \
	if (!strcmp(key, text)) { \
		p->member = (value); \
		return 0; \
	}

#define TL_STATE_FIXED(id) sizeof(struct TL(id))
#define TL_STATE_BY_PARAMS(id) TL(id##_bytes)(params)

#include <tcplearn/arithmetic/fixed.h>

#define TL_WRAP(id, label, list, state, timer, summary) \
	static void id##_wrap_defaults(void *params) \
	{ \
		BUILD_BUG_ON(sizeof(struct TL(id##_params)) > TL_PARAMS_BYTES); \
		TL(id##_defaults)(params); \
	} \
	static int id##_wrap_set(void *params, const char *key, s64 q30) \
	{ \
		struct TL(id##_params) *p __maybe_unused = params; \
		list(TL_SET) \
		return -ENOENT; \
	} \
	static u32 id##_wrap_bytes(const void *params) \
	{ \
		return state(id); \
	} \
	static void id##_wrap_init(void *s, const void *params) \
	{ \
		TL(id##_init)(s, params); \
	} \
	static void id##_wrap_update(void *s, const struct tl_sample *in) \
	{ \
		TL(id##_update)(s, in); \
	} \
	static void id##_wrap_query(const void *s, struct tl_answer *answer) \
	{ \
		struct TL(answer) a; \
		TL(id##_query)(s, &a); \
		answer->rtt_q8 = a.rtt; \
		answer->rto_q8 = a.rto; \
	} \
	enum { id##_from_head = (timer) == TL_TIMER_FROM_HEAD };
TL_ESTIMATORS(TL_WRAP)

#define TL_WRAP_PRESET(id, preset, label, summary) \
	static void id##_##preset##_wrap_defaults(void *params) \
	{ \
		TL(id##_defaults)(params); \
		TL(id##_##preset)(params); \
	}
TL_PRESETS(TL_WRAP_PRESET)

#define TL_ENTRY(id, label, defaults) \
	{ label, id##_from_head, defaults, id##_wrap_set, id##_wrap_bytes, id##_wrap_init, \
	  id##_wrap_update, id##_wrap_query },
#define TL_ESTIMATOR_ENTRY(id, label, list, state, timer, summary) TL_ENTRY(id, label, id##_wrap_defaults)
#define TL_PRESET_ENTRY(id, preset, label, summary) TL_ENTRY(id, label, id##_##preset##_wrap_defaults)

const struct tl_kernel_estimator tl_kernel_estimators[] = {
	TL_ESTIMATORS(TL_ESTIMATOR_ENTRY)
	TL_PRESETS(TL_PRESET_ENTRY)
};
const u32 tl_kernel_estimator_count = ARRAY_SIZE(tl_kernel_estimators);
