/* SPDX-License-Identifier: GPL-2.0-only */
/* Controls the value of icsk_rto over time: the functions that run at every ACK, inlined in the caller. */
#ifndef TCPLEARN_TIMER_H
#define TCPLEARN_TIMER_H

#include <net/dst.h>

#include "counters.h"
#include "state.h"

#define TL_JIFFIES_MIN 2 /* the first jiffy may end at once */

/* The occasion at which the timer that an ACK armed is checked. */
enum tl_when {
	TL_SAME_ACK, /* after tcp_set_xmit_timer for this ACK, and before anything else */
	TL_NEXT_EVENT, /* the timer fired, segments are sent, or an ACK without a sample arrived */
	TL_NEXT_SAMPLE, /* an ACK with a sample arrived, so tcp_set_rto has run again */
};
void tl_timer_start(struct sock *sk, struct tl_connection *c);
void tl_timer_before_send(struct sock *sk, struct tl_connection *c);
void tl_timer_hold_stamp(struct sock *sk, struct tl_connection *c);
void tl_timer_release(struct sock *sk, struct tl_connection *c);
void tl_timer_look(struct sock *sk, struct tl_connection *c, enum tl_when when);
void tl_timer_backoff(struct sock *sk, const struct tl_connection *c, u32 rto);
void tl_timer_fired(struct sock *sk, const struct tl_connection *c);

/* Returns `rto` doubled `times` times, at most the maximum RTO. */
static inline u32 tl_doubled(const struct sock *sk, u32 rto, u8 times)
{
	return min_t(u64, (u64)rto << min_t(u8, times, 31), tl_rto_max(sk));
}

/* Returns the kernel's own RTO with the connection's backoff. */
static inline u32 tl_stock_rto(const struct sock *sk, const struct tl_connection *c)
{
	return tl_doubled(sk, c->stock_rto, inet_csk(sk)->icsk_backoff);
}

/* Returns a configured rto_min in us; 0 for the kernel's default, which is no floor for the module. */
static inline u32 tl_floor_us(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	u32 rto_min = inet_csk(sk)->icsk_rto_min;

	if (dst && dst_metric_locked(dst, RTAX_RTO_MIN))
		return jiffies_to_usecs(dst_metric_rtt(dst, RTAX_RTO_MIN));
	return rto_min == TCP_RTO_MIN ? 0 : jiffies_to_usecs(rto_min);
}

/* Sets the RTO to the estimator's answer, in jiffies. */
static inline void tl_timer_answer(struct sock *sk, struct tl_connection *c)
{
	const u64 second_q8 = (u64)USEC_PER_SEC << 8;
	u64 rto_q8 = max_t(s64, c->answer.rto_q8, 0);
	u32 floor_us = tl_floor_us(sk), rto;

	if (unlikely(floor_us)) /* the least RTO that the kernel's formula gives with this rto_min */
		rto_q8 = max_t(u64, rto_q8, ((u64)(tcp_sk(sk)->srtt_us >> 3) + floor_us) << 8);
	rto_q8 = min_t(u64, rto_q8, TCP_RTO_MAX / HZ * second_q8);
	/* round up, because a timer must not be early */
	rto = (rto_q8 * HZ + second_q8 - 1) / second_q8;
	c->rto = c->armed_rto = clamp_t(u32, rto, TL_JIFFIES_MIN, tl_rto_max(sk));
}

/* Called after a sample, when tcp_set_rto has just written the kernel's own RTO. */
static inline void tl_timer_sampled(struct sock *sk, struct tl_connection *c)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct sk_buff *head;

	c->ours = false;
	if (unlikely(!c->rto)) {
		c->armed_rto = icsk->icsk_rto;
		return;
	}
	if (!tcp_sk(sk)->packets_out)
		return;
	head = c->estimator->timer_from_head ? tcp_rtx_queue_head(sk) : NULL;
	if (head) {
		/* the kernel counts from the ACK, so the segment's age is subtracted; tl_timer_settle()
		 * restores the whole RTO */
		u32 age = usecs_to_jiffies(tcp_stamp_us_delta(tcp_sk(sk)->tcp_mstamp, tcp_skb_timestamp_us(head)));

		c->armed_rto = c->rto > age + TL_JIFFIES_MIN ? c->rto - age : TL_JIFFIES_MIN;
	}
	icsk->icsk_rto = c->armed_rto;
	c->ours = true;
}

static inline void tl_withdraw(struct sock *sk, struct tl_connection *c)
{
	c->rto = inet_csk(sk)->icsk_rto; /* includes the backoff */
	inet_csk(sk)->icsk_rto = tl_stock_rto(sk, c);
	c->ours = false;
}

/* Called after an ACK without a sample: tcp_set_rto did not run; a backed-off RTO stays (Karn's rule). */
static inline void tl_timer_not_sampled(struct sock *sk, struct tl_connection *c)
{
	c->armed_rto = inet_csk(sk)->icsk_rto;
	if (!c->ours)
		return;
	c->rto = c->armed_rto;
	if (!tcp_sk(sk)->packets_out)
		tl_withdraw(sk, c);
}

/* Records the values to compare after this ACK has armed the timer. */
static inline void tl_timer_expect(const struct sock *sk, struct tl_connection *c)
{
	c->armed_at = tcp_jiffies32;
	c->pacing_delay = tcp_pacing_delay(sk);
	c->timeout_before = tl_timeout(sk);
	c->unchecked = true;
}

static inline void tl_timer_settle(struct sock *sk, struct tl_connection *c, enum tl_when when)
{
	if (c->unchecked)
		tl_timer_look(sk, c, when);
}

#endif
