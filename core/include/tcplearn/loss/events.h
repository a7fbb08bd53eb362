/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The inputs of a loss classifier: each ACK, the moment of a fast retransmit, and the beginning and end
 * of the recovery. They are the same in double precision and in fixed point. A segment is one MSS; times
 * have any epoch and never decrease. */
#ifndef TCPLEARN_LOSS_EVENTS_H
#define TCPLEARN_LOSS_EVENTS_H

#include "../deps.h"

enum tl_loss_cause { TL_LOSS_CONGESTION = 0, TL_LOSS_RANDOM = 1, TL_LOSS_UNKNOWN = 2 };

struct tl_loss_ack {
	int64_t time_us;
	int64_t rtt_us; /* RTT sample of this ACK; 0 or less: none (the caller applies Karn's rule) */
	/* newly acknowledged or SACKed; without SACK a duplicate ACK counts as 1 */
	uint32_t delivered_segments;
	uint32_t duplicate; /* 1: the cumulative acknowledgment did not move although data is in flight */
};

/* The state of the sender when it is about to retransmit, before it changes cwnd or ssthresh. */
struct tl_loss_moment {
	int64_t time_us;
	uint32_t flight_segments;   /* P: segments sent and not cumulatively acknowledged; 0 counts as 1 */
	uint32_t cwnd_segments;     /* 0 counts as 1 */
	uint32_t ssthresh_segments; /* any large value if it is not set yet */
	uint32_t truth;             /* enum tl_loss_cause: for `oracle` in simulation; else TL_LOSS_UNKNOWN */
};

enum tl_loss_change {
	/* fast recovery began after the decision; `cause` is what the sender acted on */
	TL_LOSS_BEGUN = 0,
	TL_LOSS_ENDED = 1,  /* all data that was in flight when the recovery began is acknowledged */
	TL_LOSS_UNDONE = 2, /* the sender found that nothing was lost (DSACK, Eifel, F-RTO) */
	TL_LOSS_TIMEOUT = 3 /* the retransmission timer expired */
};

#endif
