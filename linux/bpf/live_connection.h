/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The state of a connection in live.bpf.c, which is in socket storage; live_connections.bpf.c reads it. */
#ifndef TCPLEARN_BPF_LIVE_CONNECTION_H
#define TCPLEARN_BPF_LIVE_CONNECTION_H

#include "live_key.h"
#include "live_member.h"
#include "live_policy.h"

/* The rounds of a connection that have not been added to those of its host (peer) yet, and the share of
 * rounds with a loss over all connections with the host (live_losses.h). */
struct live_loss {
	uint32_t rounds, lost;
	uint64_t share; /* in units of 2^-30; 0 while the host has had too few rounds */
};

/* A round whose retransmission was answered. Until DSACKs have had time to show that the first copy arrived
 * too, the round counts neither as needed nor as spurious (live_answers.h). */
struct live_uncounted {
	uint64_t until_us;  /* the end of that time; 0: there is no such round */
	uint64_t waited_us; /* from the start of the timer to the answer */
	uint32_t dsacks;    /* duplicates reported on the connection before the retransmissions */
	uint32_t resends;   /* retransmissions by timer in this round */
	uint32_t less_us;   /* how much lower the floor was than the kernel's */
	struct tl_resend_flight running; /* current flight in learn_late(): too large for the stack */
};

struct connection {
	tl_live_policy policy;
	struct live_key host; /* the peer */
	uint64_t resent_us; /* time of the first retransmission by timer since the last round */
	uint32_t resent; /* number of retransmissions by timer since the last round */
	uint32_t dsacks; /* duplicates reported on the connection before the first of them */
	uint32_t timeout;    /* RTO_CB was called, and the retransmission follows */
	uint32_t base_ticks; /* the kernel's own floor; 0: nothing is learned from this connection */
	uint32_t ticks;      /* the floor in force, or the chosen one if floors are not set */
	uint32_t rounds;
	uint32_t kept_rounds; /* `rounds` when what was learned was last stored */
	uint32_t learned;     /* there was a retransmission since then */
	uint32_t queued; /* a timer expired while a segment was in a queue of this machine: stock since */
	uint64_t silent_us; /* in an outage: when the timer was armed that expired first; otherwise 0 */
	uint32_t bound_ms, own_bound_ms; /* of the backoff: as set here (0: none), and the kernel's before */
	uint64_t saved_us; /* waiting that its learned floors saved: its part of the count saved_us */
	struct live_uncounted uncounted;
	struct live_member member;
	struct live_loss loss;
};

#endif
