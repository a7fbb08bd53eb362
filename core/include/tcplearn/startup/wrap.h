/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes the functions of every startup policy with void pointers, in fixed point only. wrap.h includes
 * this file. For each policy ID:
 *
 *   void tl_wrap_init_ID_fix(void *state, const void *params)
 *   void tl_wrap_report_ID_fix(void *state, const struct tl_startup_report *)
 *                                          a connection to the destination reports
 *   void tl_wrap_decide_ID_fix(const void *state, const struct tl_handshake *, struct tl_startup_window *)
 *   void tl_wrap_note_ID_fix(void *state, const struct tl_handshake *)
 *                                          called for every handshake, after decide */
#ifndef TCPLEARN_STARTUP_WRAP_H
#define TCPLEARN_STARTUP_WRAP_H

#define TL_STARTUP_STATIC_start(id, s) (void)(s)
#define TL_STARTUP_STATIC_report(id, s, in) (void)(s), (void)(in)
#define TL_STARTUP_STATIC_note(id, s, in) (void)(s), (void)(in)
#define TL_STARTUP_REMEMBERING_start(id, s) TL(id##_start)(s)
#define TL_STARTUP_REMEMBERING_report(id, s, in) TL(id##_report)(s, in)
#define TL_STARTUP_REMEMBERING_note(id, s, in) TL(id##_note)(s, in)

TL_FN uint32_t TL(startup_at_least_one)(uint32_t window)
{
	return window < 1 ? 1 : window > TL_WINDOW_MAX ? TL_WINDOW_MAX : window;
}

#define TL_WRAP_STARTUP(id, label, list, learned, summary, about, history) \
	TL_WRAP_PARAMS(id, list) \
	TL_WRAP_STATE_BYTES(id) \
	TL_FN void TL(wrap_init_##id)(void *state, const void *params) \
	{ \
		struct TL(id) *s = (struct TL(id) *)state; \
		s->params = *(const struct TL(id##_params) *)params; \
		history##_start(id, s); \
	} \
	TL_FN void TL(wrap_report_##id)(void *state, const struct tl_startup_report *in) \
	{ \
		history##_report(id, (struct TL(id) *)state, in); \
	} \
	TL_FN void TL(wrap_note_##id)(void *state, const struct tl_handshake *in) \
	{ \
		history##_note(id, (struct TL(id) *)state, in); \
	} \
	TL_FN void TL(wrap_decide_##id)(const void *state, const struct tl_handshake *in, \
					struct tl_startup_window *out) \
	{ \
		out->iw_segments = TL(startup_at_least_one)(in->iw_segments); \
		out->ssthresh_segments = TL(startup_at_least_one)(in->ssthresh_segments); \
		TL(id##_decide)((const struct TL(id) *)state, in, out); \
		out->iw_segments = TL(startup_at_least_one)(out->iw_segments); \
		out->ssthresh_segments = TL(startup_at_least_one)(out->ssthresh_segments); \
	}
#define TL_WRAP_STARTUP_PRESET(id, preset, label, summary) TL_WRAP_PRESET(id, preset)

TL_STARTUP_POLICIES(TL_WRAP_STARTUP)
TL_STARTUP_PRESETS(TL_WRAP_STARTUP_PRESET)
#endif
