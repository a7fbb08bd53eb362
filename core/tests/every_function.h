/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Calls every estimator's three verbs: compiled as C++, for the kernel and for BPF. */
#ifndef TCPLEARN_TESTS_EVERY_FUNCTION_H
#define TCPLEARN_TESTS_EVERY_FUNCTION_H

#include "tcplearn/estimators.h"
#include "tcplearn/estimators/list.h"

#define TOUCH(model, id) \
	int64_t touch_##id##_##model(void *state, void *params, const struct tl_sample *in, void *answer); \
	int64_t touch_##id##_##model(void *state, void *params, const struct tl_sample *in, void *answer) \
	{ \
		struct tl_##id##_params_##model *p = (struct tl_##id##_params_##model *)params; \
		struct tl_##id##_##model *s = (struct tl_##id##_##model *)state; \
		struct tl_answer_##model *a = (struct tl_answer_##model *)answer; \
		tl_##id##_defaults_##model(p); \
		tl_##id##_init_##model(s, p); \
		tl_##id##_update_##model(s, in); \
		tl_##id##_query_##model(s, a); \
		return a->rtt < a->rto; \
	}
#define TOUCH_PRESET(model, id, preset) \
	void touch_##id##_##preset##_##model(void *params); \
	void touch_##id##_##preset##_##model(void *params) \
	{ \
		tl_##id##_##preset##_##model((struct tl_##id##_params_##model *)params); \
	}
#define TOUCH_FIX(id, label, list, state, timer, summary) TOUCH(fix, id)
#define TOUCH_FIX_PRESET(id, preset, label, summary) TOUCH_PRESET(fix, id, preset)
#define TOUCH_F64(id, label, list, state, timer, summary) TOUCH(f64, id)
#define TOUCH_F64_PRESET(id, preset, label, summary) TOUCH_PRESET(f64, id, preset)

TL_ESTIMATORS(TOUCH_FIX)
TL_PRESETS(TOUCH_FIX_PRESET)
#ifndef TL_NO_F64
TL_ESTIMATORS(TOUCH_F64)
TL_PRESETS(TOUCH_F64_PRESET)
#endif

#endif
