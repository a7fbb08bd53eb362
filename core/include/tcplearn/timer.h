/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TCPLEARN_TIMER_H
#define TCPLEARN_TIMER_H

/* The time from which the retransmission timer counts when an ACK restarts it. */
enum tl_timer {
	TL_TIMER_FROM_ACK = 0, /* RFC 6298, 5.3: RTO from now */
	TL_TIMER_FROM_HEAD = 1 /* Eifel: RTO less the age of the oldest segment out */
};

#endif
