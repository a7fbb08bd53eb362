/* SPDX-License-Identifier: GPL-2.0-only */
/* What a trial of the assumptions about the kernel's TCP (assumptions.c) tries, and what it remembers. */
#ifndef TCPLEARN_MODULE_ASSUMPTIONS_TRIAL_H
#define TCPLEARN_MODULE_ASSUMPTIONS_TRIAL_H

#include <net/tcp.h>

#include "timer.h"

#define TL_TRIES 3 /* on a busy machine, a jiffy may last long */
#define TL_SHORT (HZ / 16)
#define TL_AFTER_ACK (HZ / 32)
#define TL_LONG (2 * HZ) /* so that there is time to look */
#define TL_LATE (HZ / 16) /* between a write and the arming of the timer */
#define TL_LIMIT (2 * HZ) /* of waiting for anything */
#define TL_BACKOFF 2 /* what is written to icsk_backoff */

/* Each line is X(name, "what the kernel does") */
#define TL_ASSUMPTIONS(X) \
	X(FIRST, "arm its timer with the RTO that is set before the first segment") \
	X(SRTT, "keep eight times SRTT, and move it by an eighth") \
	X(COMPUTED, "compute its RTO before it calls pkts_acked") \
	X(ACK, "arm its timer between pkts_acked and cong_avoid") \
	X(NEW_DATA, "send a probe of new data after its timer has ended, and nothing else then") \
	X(NEW_DATA_ARMS, "arm its timer with the RTO that is set while it sends a probe of new data") \
	X(PROBE, "send a tail loss probe at the RTO, or call the tracepoint tcp_retransmit_skb for it") \
	X(PROBE_ARMS, "arm its timer with the RTO that is set at the tracepoint of a probe") \
	X(TIMEOUT, "change the state to TCP_CA_Loss while no timer is pending") \
	X(DOUBLES, "double the RTO after it has changed the state, and arm its timer with it") \
	X(BACKOFF, "count a timeout in icsk_backoff after it has changed the state")

#define TL_ASSUMPTION_ID(name, text) TL_ASSUMES_##name,
enum tl_assumption { TL_ASSUMPTIONS(TL_ASSUMPTION_ID) TL_ASSUMPTION_COUNT };
#define TL_ASSUMPTION_TEXT(name, text) text,
static const char *const texts[] = { TL_ASSUMPTIONS(TL_ASSUMPTION_TEXT) };

enum tl_step { TL_IDLE, TL_ACKED, TL_NEW_DATA, TL_LOST };

/* A trial; the private area of the client's socket has the pointer to it. */
struct tl_trial {
	struct socket *listener, *client, *server;
	const struct tcp_congestion_ops *before; /* of the client's socket */
	enum tl_step step;
	u32 wrote, wrote_at; /* the last RTO written, and when, in jiffies */
	u32 srtt_before;
	bool two_out; /* an ACK of the first of two segments has been seen */
	bool probed, timed_out;
	unsigned long tried, wrong; /* bits: enum tl_assumption */
};

static inline struct tl_trial **tl_trial_at(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

static inline void tl_set_rto(struct sock *sk, struct tl_trial *t, u32 rto)
{
	inet_csk(sk)->icsk_rto = t->wrote = rto;
	t->wrote_at = tcp_jiffies32;
}

/* The kernel counts from the segment's time, in us, so its timer may be a jiffy short. */
static inline bool tl_armed(const struct sock *sk, const struct tl_trial *t)
{
	const s32 late = tl_timeout(sk) - t->wrote_at - t->wrote;

	return inet_csk(sk)->icsk_pending && late >= -1 && late <= TL_LATE;
}

#endif
