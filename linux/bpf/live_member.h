/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* To which arm a connection belongs, and what it has had (live_arms.h). */
#ifndef TCPLEARN_BPF_LIVE_MEMBER_H
#define TCPLEARN_BPF_LIVE_MEMBER_H

#include "tcplearn/deps.h"

/* LIVE_STOPPED: the place is stock by the guard's decision, and its connections are in no comparison. */
enum live_arm { LIVE_CONTROL, LIVE_OURS, LIVE_STOPPED, LIVE_ARMS };

/* Each line is X(name). One side of a place: its stock connections, or those with learned floors. */
#define TL_LIVE_SIDE_COUNTS(X) X(connections) X(rounds) X(resent) X(needed) X(spurious) X(wait)
#define TL_LIVE_SIDE_FIELD(name) uint64_t name;
struct live_side {
	TL_LIVE_SIDE_COUNTS(TL_LIVE_SIDE_FIELD)
};

/* What a connection has had. */
struct live_member {
	uint32_t epoch, arm;
	uint32_t needed, spurious, resent;
	uint64_t wait;
	struct live_side fresh; /* that its place does not have yet */
};

#endif
