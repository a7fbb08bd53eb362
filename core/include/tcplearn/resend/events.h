/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The input and the answers of a resend policy, the same in both arithmetics. There is one state for each
 * connection; times have any epoch and never decrease. A host calls send() for each first transmission of
 * a segment, timer() when the wait has passed, after it has sent again, and ack() for each ACK that
 * acknowledges or SACKs a segment for the first time. */
#ifndef TCPLEARN_RESEND_EVENTS_H
#define TCPLEARN_RESEND_EVENTS_H

#include "../deps.h"

/* The transmission that an ACK answers, if the timer sent the segment again: only timestamps (RFC 7323) or
 * a DSACK (RFC 2883) show it (Karn). */
enum tl_resend_answer { TL_RESEND_FIRST = 0, TL_RESEND_LATER = 1, TL_RESEND_UNCLEAR = 2 };

/* A segment is sent for the first time, or the timer has sent one again. */
struct tl_resend_event {
	int64_t time_us;
	uint32_t out_segments; /* sent and not acknowledged, including it; 0 counts as 1 */
};

struct tl_resend_ack {
	int64_t time_us;
	int64_t rtt_us;        /* of the transmission that it answers; 0 or less: no sample */
	uint32_t out_segments; /* after it; 0: nothing is out */
	uint32_t answers;      /* enum tl_resend_answer; not used while the timer has sent nothing again */
};

struct tl_resend_wait {
	int64_t wait_us; /* from this event to the timer; 0: no timer, nothing is out */
	uint32_t probe;  /* 1: the timer then sends a probe, which changes no window (RFC 8985, 7.3) */
};

#endif
