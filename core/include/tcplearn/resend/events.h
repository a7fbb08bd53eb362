/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The inputs and outputs of a resend policy, which decides when the retransmission timer sends again.
 * They are the same in double precision and in fixed point. There is one state for each connection; times
 * have any epoch and never decrease. The caller calls send() for the first transmission of a segment;
 * timer() when the wait has passed, after it has retransmitted; and ack() for each ACK that acknowledges
 * or SACKs a segment for the first time. */
#ifndef TCPLEARN_RESEND_EVENTS_H
#define TCPLEARN_RESEND_EVENTS_H

#include "../deps.h"

/* Which transmission of a segment an ACK answers, if the timer has retransmitted it: the first, a later
 * one, or not clear. Only timestamps (RFC 7323) or a DSACK (RFC 2883) show this (Karn's problem). */
enum tl_resend_answer { TL_RESEND_FIRST = 0, TL_RESEND_LATER = 1, TL_RESEND_UNCLEAR = 2 };

/* A segment is sent for the first time, or the timer has retransmitted one. */
struct tl_resend_event {
	int64_t time_us;
	uint32_t out_segments; /* segments sent and not acknowledged, this one included; 0 counts as 1 */
};

struct tl_resend_ack {
	int64_t time_us;
	int64_t rtt_us;        /* RTT of the answered transmission; 0 or less: no sample */
	uint32_t out_segments; /* segments still unacknowledged after the ACK */
	uint32_t answers;      /* enum tl_resend_answer; ignored unless the timer has retransmitted */
};

struct tl_resend_wait {
	int64_t wait_us; /* time from this event to the timer's expiry; 0: no timer, nothing in flight */
	uint32_t probe;  /* 1: at expiry, send a tail loss probe, which changes no window (RFC 8985, 7.3) */
};

#endif
