/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The key of a host (a peer: an IPv4 address, or a /64 of IPv6), or of a place (a destination prefix: /24, or
 * /48 of IPv6), in the maps of live.bpf.c. */
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
