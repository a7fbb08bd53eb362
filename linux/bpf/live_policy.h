/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The core's resend policy `priced` in fixed point, for BPF. Each function that is not inlined is global, so
 * that the verifier checks it once by itself, and not again at each call. resend_vectors.bpf.c runs the
 * golden vectors (inputs with expected outputs) through these functions. */
#ifndef TCPLEARN_BPF_LIVE_POLICY_H
#define TCPLEARN_BPF_LIVE_POLICY_H

#define TL_RESEND_NO_SPACING

#include "tcplearn/resend.h"

#include "tcplearn/arithmetic/fixed.h"
#include "tcplearn/resend/wrap.h"
#include "tcplearn/arithmetic/end.h"

typedef struct tl_resend_priced_fix tl_live_policy;

/* Begins a connection. The parameters must have been set before. */
__attribute__((noinline)) int live_policy_start(tl_live_policy *p)
{
	if (!p)
		return 0;
	tl_resend_flight_init(&p->flight);
	tl_resend_priced_start_fix(p);
	return 0;
}

__attribute__((noinline)) int live_policy_inherit(tl_live_policy *p, const tl_live_policy *earlier)
{
	if (!p || !earlier)
		return 0;
	tl_resend_priced_inherit_fix(p, earlier);
	return 0;
}

/* live_policy_send(p, in, out), and so on: tells the policy of an event, and writes its wait to `out`. */
#define TL_LIVE_EVENT(event, type) \
	__attribute__((noinline)) int live_policy_##event(tl_live_policy *p, const struct type *in, \
							  struct tl_resend_wait *out) \
	{ \
		if (!p || !in || !out) \
			return 0; \
		tl_wrap_##event##_resend_priced_fix(p, in, out); \
		return 0; \
	}
TL_LIVE_EVENT(send, tl_resend_event)
TL_LIVE_EVENT(timer, tl_resend_event)
TL_LIVE_EVENT(ack, tl_resend_ack)

/* Takes back a lost flight from the averages of lost flights. */
__attribute__((noinline)) int live_policy_retract(tl_live_policy *p)
{
	const int64_t one = 1 << 30;
	int64_t recent, loss;

	if (!p)
		return 0;
	recent = p->recent - one / TL_RESEND_RECENT;
	loss = p->scores.loss - one / (int64_t)(p->scores.flights + TL_RESEND_LOSS_PRIOR);
	p->recent = recent > 0 ? recent : 0;
	p->scores.loss = loss > 0 ? loss : 0;
	return 0;
}

/* Returns the number of the candidate floor that the policy has chosen. TL_RESEND_FLOORS stands for the
 * kernel's own floor, which is used while the policy lengthens first waits after an ambiguous ACK
 * (hold_us). */
static __always_inline uint32_t live_chosen(const tl_live_policy *p)
{
	return p->hold_us > 0 ? TL_RESEND_FLOORS : p->scores.chosen;
}

/* Returns candidate floor number `rank` in us. Range: rank < TL_RESEND_FLOORS. The core's table is not used,
 * because a load at a variable offset takes the verifier more steps. */
static __always_inline uint32_t live_floor_us(uint32_t rank)
{
	return (uint32_t)(rank == 0   ? tl_resend_floor_us(0)
			  : rank == 1 ? tl_resend_floor_us(1)
			  : rank == 2 ? tl_resend_floor_us(2)
			  : rank == 3 ? tl_resend_floor_us(3)
			  : rank == 4 ? tl_resend_floor_us(4)
				      : tl_resend_floor_us(5));
}

#endif
