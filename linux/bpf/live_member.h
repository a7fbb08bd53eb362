/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The group (arm) to which a connection belongs, and what was counted on it (live_arms.h). */
#ifndef TCPLEARN_BPF_LIVE_MEMBER_H
#define TCPLEARN_BPF_LIVE_MEMBER_H

#include "tcplearn/deps.h"

/* The arms: the control group, connections with learned floors, and connections to destination prefixes
 * (places) for which the guard has stopped floors. The last are in no comparison. */
enum live_arm { LIVE_CONTROL, LIVE_OURS, LIVE_STOPPED, LIVE_ARMS };

/* What is counted for a place, once for its connections with the kernel's own timer (stock) and once for
 * those with learned floors. Each entry is X(name). */
#define TL_LIVE_SIDE_COUNTS(X) X(connections) X(rounds) X(resent) X(needed) X(spurious) X(wait)
#define TL_LIVE_SIDE_FIELD(name) uint64_t name;
struct live_side {
	TL_LIVE_SIDE_COUNTS(TL_LIVE_SIDE_FIELD)
};

/* The arm of a connection, and what was counted on it. */
struct live_member {
	uint32_t epoch, arm;
	uint32_t needed, spurious, resent;
	uint64_t wait;
	struct live_side fresh; /* what has not been added to the counts of its place yet */
};

#endif
