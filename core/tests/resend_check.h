/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A resend policy with its state in guarded memory, for the tests. */
#ifndef TCPLEARN_TESTS_RESEND_CHECK_H
#define TCPLEARN_TESTS_RESEND_CHECK_H

#include "check.h"

FENCED(resender, tl_resend_policy, p)

/* Returns the policy's answer `w`, after checks that hold for every answer. */
static inline struct tl_resend_wait resender_checked(const struct resender *s, struct tl_resend_wait w,
						     uint32_t out_segments, int fired)
{
	const double most = resender_get(s, "rto_max_us");

	CHECK(w.probe <= 1, "%s: probe %u", s->p->algorithm.name, w.probe);
	if (out_segments == 0) {
		CHECK(w.wait_us == 0 && w.probe == 0, "%s: a timer of nothing", s->p->algorithm.name);
		return w;
	}
	CHECK(w.wait_us >= 1 && (double)w.wait_us <= most, "%s: waits %lld us", s->p->algorithm.name,
	      (long long)w.wait_us);
	CHECK(!fired || w.probe == 0, "%s: a second probe", s->p->algorithm.name);
	return w;
}

/* Ends the connection and begins another one to the same destination, which inherits what the policy
 * learned. */
static inline void resender_next(struct resender *s)
{
	struct resender earlier = *s;

	resender_start(s);
	s->p->inherit(s->state, earlier.state);
	resender_stop(&earlier);
}

static inline struct tl_resend_wait resender_send(struct resender *s, int64_t time_us, uint32_t out)
{
	struct tl_resend_event in;
	struct tl_resend_wait w;

	in.time_us = time_us;
	in.out_segments = out;
	s->p->send(s->state, &in, &w);
	return resender_checked(s, w, 1, 0);
}

static inline struct tl_resend_wait resender_timer(struct resender *s, int64_t time_us, uint32_t out)
{
	struct tl_resend_event in;
	struct tl_resend_wait w;

	in.time_us = time_us;
	in.out_segments = out;
	s->p->timer(s->state, &in, &w);
	return resender_checked(s, w, 1, 1);
}

static inline struct tl_resend_wait resender_ack(struct resender *s, int64_t time_us, int64_t rtt_us,
						 uint32_t out, uint32_t answers)
{
	struct tl_resend_ack in;
	struct tl_resend_wait w;

	in.time_us = time_us;
	in.rtt_us = rtt_us;
	in.out_segments = out;
	in.answers = answers;
	s->p->ack(s->state, &in, &w);
	return resender_checked(s, w, out, 0);
}

static inline int is_learned(const struct tl_resend_policy *p)
{
	return strncmp(p->algorithm.name, "priced", 6) == 0;
}

#endif
