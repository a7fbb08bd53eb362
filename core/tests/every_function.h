/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Calls every function of wrap.h. This file is compiled as C++, for the kernel and for BPF. */
#ifndef TCPLEARN_TESTS_EVERY_FUNCTION_H
#define TCPLEARN_TESTS_EVERY_FUNCTION_H

#include "tcplearn/first_rto_models.h"
#include "tcplearn/give_up.h"
#ifndef __bpf__ /* its table is larger than a BPF program's stack, and its loops are longer than a verifier follows */
#include "tcplearn/retry/timer.h"
#endif
#include "tcplearn/spec.h"
#include "tcplearn/wrap.h"

int64_t touch_first_rto(struct tl_first_rto_model *m, struct tl_first_rto_place *p, int64_t rtt_us);
int64_t touch_first_rto(struct tl_first_rto_model *m, struct tl_first_rto_place *p, int64_t rtt_us)
{
	tl_first_rto_shipped(p->doubts, m);
	tl_first_rto_place_init(p);
	tl_first_rto_report(p, rtt_us, 0);
	tl_first_rto_doubt(p, 1);
	tl_first_rto_resent(p, rtt_us, 1000, 1);
	return tl_first_rto_us(m, p, p, TL_FIRST_RTO_HOPS_UNKNOWN, 2);
}

uint32_t touch_give_up(const struct tl_retry_limits *h, struct tl_syn_plan *plan,
		       struct tl_first_ticks *first);
uint32_t touch_give_up(const struct tl_retry_limits *h, struct tl_syn_plan *plan,
		       struct tl_first_ticks *first)
{
	tl_plan_syn(h, 50, plan);
	return (uint32_t)tl_plan_listener(h, first);
}

#ifndef __bpf__
int64_t touch_retry(struct tl_retry *t, const struct tl_retry *earlier, struct tl_retry_again *again);
int64_t touch_retry(struct tl_retry *t, const struct tl_retry *earlier, struct tl_retry_again *again)
{
	struct tl_retry_settings how;

	tl_retry_defaults_fix(&how);
	if (tl_retry_init_fix(t, &how) || tl_retry_inherit_fix(t, earlier) || tl_retry_sent_fix(t, 1, 2))
		return 0;
	if (tl_retry_fired_fix(t, tl_retry_deadline_fix(t), again) == TL_RETRY_DUE)
		tl_retry_answered_fix(t, again->id, again->copy, tl_retry_deadline_of_fix(t, again->id));
	return tl_retry_cancelled_fix(t, 1);
}
#endif

#define TOUCH(arithmetic, id) \
	int64_t touch_##id##_##arithmetic(void *state, void *params, const struct tl_sample *in); \
	int64_t touch_##id##_##arithmetic(void *state, void *params, const struct tl_sample *in) \
	{ \
		struct tl_prediction_##arithmetic out; \
		tl_wrap_defaults_##id##_##arithmetic(params); \
		if (tl_wrap_set_##id##_##arithmetic(params, 0, \
						    tl_wrap_get_##id##_##arithmetic(params, in->ttl))) \
			return tl_wrap_state_bytes_##id##_##arithmetic(params); \
		tl_wrap_init_##id##_##arithmetic(state, params); \
		tl_wrap_update_##id##_##arithmetic(state, in); \
		tl_wrap_query_##id##_##arithmetic(state, &out); \
		return out.rtt < out.rto; \
	}
#define TOUCH_PRESET(arithmetic, id, preset) \
	void touch_##id##_##preset##_##arithmetic(void *params); \
	void touch_##id##_##preset##_##arithmetic(void *params) \
	{ \
		tl_wrap_defaults_##id##_##preset##_##arithmetic(params); \
	}
#define TOUCH_FIX(id, label, list, learned, summary, about, state, timer) TOUCH(fix, id)
#define TOUCH_FIX_PRESET(id, preset, label, summary) TOUCH_PRESET(fix, id, preset)
#define TOUCH_F64(id, label, list, learned, summary, about, state, timer) TOUCH(f64, id)
#define TOUCH_F64_PRESET(id, preset, label, summary) TOUCH_PRESET(f64, id, preset)

/* A BPF program has 512 bytes of stack. So the caller has memory for the features, and features() and judge()
 * are called one after the other. */
#ifdef __bpf__
#define DECIDE(arithmetic, id) \
	tl_wrap_features_##id##_##arithmetic(state, at, features); \
	tl_wrap_judge_##id##_##arithmetic(state, features, at, &out)
#else
#define DECIDE(arithmetic, id) \
	tl_wrap_decide_##id##_##arithmetic(state, at, &out); \
	(void)features
#endif
#define TOUCH_LOSS(arithmetic, id, ratio) \
	uint32_t touch_##id##_##arithmetic(void *state, void *params, const struct tl_loss_ack *ack, \
					   const struct tl_loss_moment *at, ratio *features); \
	uint32_t touch_##id##_##arithmetic(void *state, void *params, const struct tl_loss_ack *ack, \
					   const struct tl_loss_moment *at, ratio *features) \
	{ \
		struct tl_loss_decision_##arithmetic out; \
		tl_wrap_defaults_##id##_##arithmetic(params); \
		if (tl_wrap_set_##id##_##arithmetic(params, 0, \
						    tl_wrap_get_##id##_##arithmetic(params, at->truth))) \
			return tl_wrap_state_bytes_##id##_##arithmetic(params); \
		tl_wrap_init_##id##_##arithmetic(state, params); \
		tl_wrap_observe_##id##_##arithmetic(state, ack); \
		DECIDE(arithmetic, id); \
		tl_wrap_change_##id##_##arithmetic(state, at, TL_LOSS_BEGUN, out.cause); \
		return out.cause; \
	}
#define TOUCH_LOSS_FIX(id, label, list, learned, summary, about, learns) TOUCH_LOSS(fix, id, int64_t)
#define TOUCH_LOSS_F64(id, label, list, learned, summary, about, learns) TOUCH_LOSS(f64, id, double)

#define TOUCH_RESEND(arithmetic, id) \
	int64_t touch_##id##_##arithmetic(void *state, void *params, const struct tl_resend_event *event, \
					  const struct tl_resend_ack *ack); \
	int64_t touch_##id##_##arithmetic(void *state, void *params, const struct tl_resend_event *event, \
					  const struct tl_resend_ack *ack) \
	{ \
		struct tl_resend_wait out; \
		tl_wrap_defaults_##id##_##arithmetic(params); \
		if (tl_wrap_set_##id##_##arithmetic(params, 0, \
						    tl_wrap_get_##id##_##arithmetic(params, ack->answers))) \
			return tl_wrap_state_bytes_##id##_##arithmetic(params); \
		tl_wrap_init_##id##_##arithmetic(state, params); \
		tl_wrap_inherit_##id##_##arithmetic(state, (const char *)state + 1024); \
		tl_wrap_send_##id##_##arithmetic(state, event, &out); \
		tl_wrap_timer_##id##_##arithmetic(state, event, &out); \
		tl_wrap_ack_##id##_##arithmetic(state, ack, &out); \
		return out.wait_us; \
	}
#define TOUCH_RESEND_FIX(id, label, list, learned, summary, about) TOUCH_RESEND(fix, id)
#define TOUCH_RESEND_F64(id, label, list, learned, summary, about) TOUCH_RESEND(f64, id)

TL_ESTIMATORS(TOUCH_FIX)
TL_PRESETS(TOUCH_FIX_PRESET)
TL_LOSS_CLASSIFIERS(TOUCH_LOSS_FIX)
TL_LOSS_PRESETS(TOUCH_FIX_PRESET)
TL_RESEND_POLICIES(TOUCH_RESEND_FIX)
TL_RESEND_PRESETS(TOUCH_FIX_PRESET)
#ifndef TL_NO_F64
TL_ESTIMATORS(TOUCH_F64)
TL_PRESETS(TOUCH_F64_PRESET)
TL_LOSS_CLASSIFIERS(TOUCH_LOSS_F64)
TL_LOSS_PRESETS(TOUCH_F64_PRESET)
TL_RESEND_POLICIES(TOUCH_RESEND_F64)
TL_RESEND_PRESETS(TOUCH_F64_PRESET)
#endif

#define TOUCH_STARTUP(id, label, list, learned, summary, about, history) \
	uint32_t touch_##id(void *state, void *params, const struct tl_handshake *in, \
			    const struct tl_startup_report *report); \
	uint32_t touch_##id(void *state, void *params, const struct tl_handshake *in, \
			    const struct tl_startup_report *report) \
	{ \
		struct tl_startup_window out; \
		tl_wrap_defaults_##id##_fix(params); \
		if (tl_wrap_set_##id##_fix(params, 0, tl_wrap_get_##id##_fix(params, in->loss))) \
			return tl_wrap_state_bytes_##id##_fix(params); \
		tl_wrap_init_##id##_fix(state, params); \
		tl_wrap_report_##id##_fix(state, report); \
		tl_wrap_note_##id##_fix(state, in); \
		tl_wrap_decide_##id##_fix(state, in, &out); \
		return out.iw_segments + out.ssthresh_segments; \
	}

TL_STARTUP_POLICIES(TOUCH_STARTUP)
TL_STARTUP_PRESETS(TOUCH_FIX_PRESET)

#define TOUCH_FIRST_RTO(id, label, list, learned, summary, about) \
	int64_t touch_##id(void *state, void *params, int64_t rtt_us); \
	int64_t touch_##id(void *state, void *params, int64_t rtt_us) \
	{ \
		tl_wrap_defaults_##id##_fix(params); \
		if (tl_wrap_set_##id##_fix(params, 0, tl_wrap_get_##id##_fix(params, 1))) \
			return tl_wrap_state_bytes_##id##_fix(params); \
		tl_wrap_init_##id##_fix(state, params); \
		tl_wrap_report_##id##_fix(state, rtt_us, 1); \
		tl_wrap_doubt_##id##_fix(state, 2); \
		tl_wrap_resent_##id##_fix(state, rtt_us, 1000, 3); \
		return tl_wrap_rto_us_##id##_fix(state, state, TL_FIRST_RTO_HOPS_UNKNOWN, 1, 4); \
	}

TL_FIRST_RTO_POLICIES(TOUCH_FIRST_RTO)
TL_FIRST_RTO_PRESETS(TOUCH_FIX_PRESET)

#if defined(TL_NO_F64) && !defined(__bpf__) /* a kernel module reads specs */
int touch_spec(const struct tl_kind *kind, void *params, char *error);
int touch_spec(const struct tl_kind *kind, void *params, char *error)
{
	struct tl_spec spec;

	return tl_spec_read(kind, error, 8, &spec, params, error, 100);
}
#endif

#endif
