/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The key of a host or of a place. */
#ifndef TCPLEARN_BPF_LIVE_KEY_H
#define TCPLEARN_BPF_LIVE_KEY_H

#include "tcplearn/deps.h"

struct live_key {
	uint64_t netns;
	uint32_t words[4]; /* of the address, the rest is 0 */
	uint32_t bits;     /* length of the prefix */
	uint32_t zero;
};

#endif
