/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a resend policy is given and what it answers, the same in both arithmetics. One state a connection; times are
 * of any epoch, never falling. A host calls send() for each first sending of a segment, timer() when the wait has
 * passed and once it has sent again, ack() for each ACK that acknowledges or SACKs a segment for the first time. */
#ifndef TCPLEARN_RESEND_EVENTS_H
#define TCPLEARN_RESEND_EVENTS_H

#include "../deps.h"

/* Which sending of a segment an ACK answers, where the timer sent it again: timestamps (RFC 7323) or a DSACK
 * (RFC 2883) tell, nothing else does (Karn). */
enum tl_resend_answer { TL_RESEND_FIRST = 0, TL_RESEND_LATER = 1, TL_RESEND_UNCLEAR = 2 };

/* A segment is sent for the first time, or the timer has sent one again. */
struct tl_resend_event {
	int64_t time_us;
	uint32_t out_segments; /* sent and not acknowledged, with it; 0 is taken as 1 */
};

struct tl_resend_ack {
	int64_t time_us;
	int64_t rtt_us;        /* of the sending that it answers; 0 or less: no sample */
	uint32_t out_segments; /* after it; 0: nothing is out */
	uint32_t answers; /* enum tl_resend_answer; of no matter while the timer has sent nothing again */
};

struct tl_resend_wait {
	int64_t wait_us; /* from this event to the timer; 0: no timer, nothing is out */
	uint32_t probe;  /* 1: what it then sends is a probe, which changes no window (RFC 8985, 7.3) */
};

#endif
