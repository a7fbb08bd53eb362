/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What live.bpf.c keeps of a connection, in socket storage; live_connections.bpf.c reads it. */
#ifndef TCPLEARN_BPF_LIVE_CONNECTION_H
#define TCPLEARN_BPF_LIVE_CONNECTION_H

#include "live_key.h"
#include "live_member.h"
#include "live_policy.h"

/* The rounds of a connection that its host does not have yet, and what is known of all its host's (live_losses.h). */
struct live_loss {
	uint32_t rounds, lost;
	uint64_t share; /* of the host's rounds that lost a segment, in 2^-30; 0 while little is known */
};

/* A round whose retransmission was answered. Until DSACK has had time to show that the first copy arrived too, it
 * counts neither as needed nor as spurious. */
struct live_uncounted {
	uint64_t until_us;  /* the end of that time; 0: there is no such round */
	uint64_t waited_us; /* from the start of the timer to the answer */
	uint32_t dsacks;    /* of the connection, before the retransmissions */
	uint32_t resends;   /* by the timer, in this round */
	uint32_t less_us;   /* by which the floor was below the kernel's */
	struct tl_resend_flight running; /* for learn_late(): there is no room for it on the stack */
};

struct connection {
	tl_live_policy policy;
	struct live_key host; /* the peer */
	uint64_t resent_us; /* of the timer's first retransmission since the last round */
	uint32_t resent; /* number of the timer's retransmissions since the last round */
	uint32_t dsacks; /* of the connection, before the first of these */
	uint32_t timeout;    /* RTO_CB was called, and the retransmission follows */
	uint32_t base_ticks; /* the kernel's own floor; 0: this connection is not learned from */
	uint32_t ticks;      /* the floor in force, or where nothing is set, the one chosen */
	uint32_t rounds;
	uint32_t kept_rounds; /* the rounds when it was remembered */
	uint32_t learned;     /* there was a retransmission since then */
	uint32_t queued; /* a queue of this host has let a timer end: stock floors from then on */
	uint64_t silent_us; /* when the timer was armed whose timeouts go on; 0: none do */
	uint32_t bound_ms, own_bound_ms; /* of the backoff: as set here (0: not set), and the kernel's before */
	uint64_t saved_us; /* by its learned floors, as it is counted in all */
	struct live_uncounted uncounted;
	struct live_member member;
	struct live_loss loss;
};

#endif
