/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The input of a loss classifier, the same in both arithmetics: each ACK, the moment of a fast retransmit,
 * and the course of the recovery. A segment is an MSS; times have any epoch and never decrease. */
#ifndef TCPLEARN_LOSS_EVENTS_H
#define TCPLEARN_LOSS_EVENTS_H

#include "../deps.h"

enum tl_loss_cause { TL_LOSS_CONGESTION = 0, TL_LOSS_RANDOM = 1, TL_LOSS_UNKNOWN = 2 };

struct tl_loss_ack {
	int64_t time_us;
	int64_t rtt_us;              /* this ACK's sample; 0 or less: none (the caller applies Karn's rule) */
	uint32_t delivered_segments; /* newly acknowledged or SACKed; without SACK a duplicate ACK is one */
	uint32_t duplicate;          /* 1: the cumulative acknowledgment did not move while data is out */
};

/* The sender when it is about to retransmit: before it changes cwnd or ssthresh. */
struct tl_loss_moment {
	int64_t time_us;
	uint32_t flight_segments;   /* P: sent and not cumulatively acknowledged; 0 counts as 1 */
	uint32_t cwnd_segments;     /* 0 counts as 1 */
	uint32_t ssthresh_segments; /* any large value: none yet */
	uint32_t truth;             /* enum tl_loss_cause: for `oracle` in simulation; else TL_LOSS_UNKNOWN */
};

enum tl_loss_change {
	TL_LOSS_BEGUN = 0,  /* fast recovery, after the decision; its cause is what the host acted on */
	TL_LOSS_ENDED = 1,  /* all data that was out when it began is acknowledged */
	TL_LOSS_UNDONE = 2, /* nothing was lost (DSACK, Eifel, F-RTO) */
	TL_LOSS_TIMEOUT = 3 /* the retransmission timer expired */
};

#endif
