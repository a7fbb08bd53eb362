/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Defines the functions of every estimator with void pointers in place of its state's type, in the
 * arithmetic (double precision or fixed point) that was included last. tcplearn/wrap.h includes this file. */

#ifndef TCPLEARN_ESTIMATORS_WRAP_H
#define TCPLEARN_ESTIMATORS_WRAP_H
/* Makes tl_timer_of_ID, the timer of an estimator and of its presets. */
#define TL_TIMER_OF(id, label, list, learned, summary, about, state, timer) enum { tl_timer_of_##id = timer };
TL_ESTIMATORS(TL_TIMER_OF)

#define TL_STATE_FIXED(id) (uint32_t)sizeof(struct TL(id))
#define TL_STATE_BY_PARAMS(id) TL(id##_bytes)((const struct TL(id##_params) *)params)

#define TL_WRAP_ESTIMATOR(id, label, list, learned, summary, about, state, timer) \
	TL_WRAP_PARAMS(id, list) \
	TL_FN uint32_t TL(wrap_state_bytes_##id)(const void *params) \
	{ \
		(void)params; \
		return state(id); \
	} \
	TL_FN void TL(wrap_init_##id)(void *s, const void *params) \
	{ \
		TL(id##_init)((struct TL(id) *)s, (const struct TL(id##_params) *)params); \
	} \
	TL_FN void TL(wrap_update_##id)(void *s, const struct tl_sample *in) \
	{ \
		TL(id##_update)((struct TL(id) *)s, in); \
	} \
	TL_FN void TL(wrap_query_##id)(const void *s, struct TL(prediction) *out) \
	{ \
		TL(id##_query)((const struct TL(id) *)s, out); \
	}
#define TL_WRAP_ESTIMATOR_PRESET(id, preset, label, summary) TL_WRAP_PRESET(id, preset)
#endif

TL_ESTIMATORS(TL_WRAP_ESTIMATOR)
TL_PRESETS(TL_WRAP_ESTIMATOR_PRESET)
