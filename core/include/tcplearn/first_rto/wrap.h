/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes the functions of every first-RTO policy with void pointers, in fixed point only. wrap.h includes
 * this file. For each policy ID:
 *
 *   void tl_wrap_init_ID_fix(void *state, const void *params)
 *   void tl_wrap_report_ID_fix(void *state, int64_t rtt_us, int64_t time_us)
 *   void tl_wrap_doubt_ID_fix(void *state, int64_t time_us)
 *   void tl_wrap_resent_ID_fix(void *state, int64_t rtt_us, int64_t rto_us, int64_t time_us)
 *   int64_t tl_wrap_rto_us_ID_fix(const void *state, const void *prefix, int32_t hops, uint32_t accepts,
 *                                int64_t time_us) */
#ifndef TCPLEARN_FIRST_RTO_WRAP_H
#define TCPLEARN_FIRST_RTO_WRAP_H

#define TL_WRAP_FIRST_RTO(id, label, list, learned, summary, about) \
	TL_WRAP_PARAMS(id, list) \
	TL_WRAP_STATE_BYTES(id) \
	TL_FN void TL(wrap_init_##id)(void *state, const void *params) \
	{ \
		struct TL(id) *s = (struct TL(id) *)state; \
		TL(id##_model)((const struct TL(id##_params) *)params, &s->model); \
		tl_first_rto_place_init(&s->place); \
	} \
	TL_FN void TL(wrap_report_##id)(void *state, int64_t rtt_us, int64_t time_us) \
	{ \
		tl_first_rto_report(&((struct TL(id) *)state)->place, rtt_us, time_us); \
	} \
	TL_FN void TL(wrap_doubt_##id)(void *state, int64_t time_us) \
	{ \
		tl_first_rto_doubt(&((struct TL(id) *)state)->place, time_us); \
	} \
	TL_FN void TL(wrap_resent_##id)(void *state, int64_t rtt_us, int64_t rto_us, int64_t time_us) \
	{ \
		tl_first_rto_resent(&((struct TL(id) *)state)->place, rtt_us, rto_us, time_us); \
	} \
	TL_FN int64_t TL(wrap_rto_us_##id)(const void *state, const void *prefix, int32_t hops, \
					   uint32_t accepts, int64_t time_us) \
	{ \
		const struct TL(id) *s = (const struct TL(id) *)state; \
		const int64_t us = tl_first_rto_us(&s->model, &s->place, \
						   &((const struct TL(id) *)prefix)->place, hops, time_us); \
		return accepts ? tl_first_rto_accepting_us(&s->model, us) : us; \
	}
#define TL_WRAP_FIRST_RTO_PRESET(id, preset, label, summary) TL_WRAP_PRESET(id, preset)

TL_FIRST_RTO_POLICIES(TL_WRAP_FIRST_RTO)
TL_FIRST_RTO_PRESETS(TL_WRAP_FIRST_RTO_PRESET)
#endif
