/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TCPLEARN_TIMER_H
#define TCPLEARN_TIMER_H

/* The time from which the RTO counts when an ACK restarts the retransmission timer. */
enum tl_timer {
	TL_TIMER_FROM_ACK = 0, /* RFC 6298, 5.3: the timer expires one RTO after the ACK */
	TL_TIMER_FROM_HEAD = 1 /* Eifel: RTO minus the age of the oldest unacknowledged segment */
};

#endif
