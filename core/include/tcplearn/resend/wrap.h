/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes the functions of every resend policy with void pointers, in the arithmetic (double precision or
 * fixed point) that was included last. tcplearn/wrap.h includes this file. For each policy ID:
 *
 *   void tl_wrap_init_ID(void *state, const void *params)
 *   void tl_wrap_inherit_ID(void *state, const void *earlier)
 *   void tl_wrap_send_ID(void *state, const struct tl_resend_event *, struct tl_resend_wait *)
 *   void tl_wrap_timer_ID(void *state, const struct tl_resend_event *, struct tl_resend_wait *)
 *   void tl_wrap_ack_ID(void *state, const struct tl_resend_ack *, struct tl_resend_wait *) */

#ifndef TCPLEARN_RESEND_WRAP_H
#define TCPLEARN_RESEND_WRAP_H

#define TL_WRAP_RESEND(id, label, list, learned, summary, about) \
	TL_WRAP_PARAMS(id, list) \
	TL_WRAP_STATE_BYTES(id) \
	TL_FN void TL(wrap_init_##id)(void *state, const void *params) \
	{ \
		struct TL(id) *s = (struct TL(id) *)state; \
		s->params = *(const struct TL(id##_params) *)params; \
		tl_resend_flight_init(&s->flight); \
		TL(id##_start)(s); \
	} \
	TL_FN void TL(wrap_inherit_##id)(void *state, const void *earlier) \
	{ \
		TL(id##_inherit)((struct TL(id) *)state, (const struct TL(id) *)earlier); \
	} \
	TL_FN void TL(wrap_send_##id)(void *state, const struct tl_resend_event *in, \
				      struct tl_resend_wait *out) \
	{ \
		struct TL(id) *s = (struct TL(id) *)state; \
		const uint32_t begins = tl_resend_begins(&s->flight, in->time_us, 0); \
		s->flight.segments = tl_resend_more(s->flight.segments); \
		if (begins) \
			TL(id##_open)(s, in->out_segments); \
		if (tl_resend_moves(&s->flight, s->params.probe)) \
			tl_resend_arm(&s->flight, in->time_us, TL(id##_first)(s, in->out_segments)); \
		tl_resend_left(&s->flight, in->time_us, s->params.probe, out); \
	} \
	TL_FN void TL(wrap_timer_##id)(void *state, const struct tl_resend_event *in, \
				       struct tl_resend_wait *out) \
	{ \
		struct TL(id) *s = (struct TL(id) *)state; \
		int64_t waited_us; \
		if (tl_resend_begins(&s->flight, in->time_us, in->out_segments)) \
			TL(id##_open)(s, in->out_segments); \
		waited_us = tl_resend_fired(&s->flight, in->time_us); \
		s->flight.wait_us = tl_clamp_us(TL(id##_next)(s, waited_us, in->out_segments), 1, \
						TL_RESEND_WAIT_MAX_US); \
		tl_resend_left(&s->flight, in->time_us, s->params.probe, out); \
	} \
	TL_FN void TL(wrap_ack_##id)(void *state, const struct tl_resend_ack *in, \
				     struct tl_resend_wait *out) \
	{ \
		struct TL(id) *s = (struct TL(id) *)state; \
		struct tl_resend_outcome outcome; \
		tl_resend_read(&s->flight, in, TL(id##_early_us)(s), &outcome); \
		if (outcome.rtt_us > 0) \
			TL(id##_sample)(s, outcome.rtt_us, in->time_us); \
		if (outcome.ended) \
			TL(id##_end)(s, &outcome); \
		out->wait_us = 0; \
		out->probe = 0; \
		if (in->out_segments == 0) \
			return; \
		if (tl_resend_begins(&s->flight, in->time_us, in->out_segments)) \
			TL(id##_open)(s, in->out_segments); \
		tl_resend_arm(&s->flight, in->time_us, TL(id##_first)(s, in->out_segments)); \
		tl_resend_left(&s->flight, in->time_us, s->params.probe, out); \
	}
#define TL_WRAP_RESEND_PRESET(id, preset, label, summary) TL_WRAP_PRESET(id, preset)
#endif

TL_RESEND_POLICIES(TL_WRAP_RESEND)
TL_RESEND_PRESETS(TL_WRAP_RESEND_PRESET)
