/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The share of rounds with a lost segment, over all connections with a host (an IPv4 address, a /64 of IPv6).
 *
 * A floor that was lowered cannot be lifted on an open connection, so a connection must not take a queue that many
 * connections overload for a calm path, however lucky it was itself. Its own share is an average over some 64
 * rounds: where nine rounds in a hundred lose a segment, every eighth connection has seen fewer than six. The
 * share of the host is that of some hundreds of rounds of all its connections.
 *
 * A host can make only its own connections careful, never those of its neighbours. It is forgotten if ten minutes
 * pass without a round. Rounds count as soon as a connection has had four, with or without a loss: if lossy rounds
 * counted sooner than others, the share would begin too high. */
#ifndef TCPLEARN_BPF_LIVE_LOSSES_H
#define TCPLEARN_BPF_LIVE_LOSSES_H

#include "live_connection.h"
#include "live_places.h"

#define TL_LIVE_LOSS_BATCH 4    /* rounds of a connection that are added at once */
#define TL_LIVE_LOSS_LEAST 256  /* rounds below which nothing is said of a host */
#define TL_LIVE_LOSS_WINDOW 512 /* rounds at which those so far are halved */
#define TL_LIVE_LOSS_AGE_US 600000000
#define TL_LIVE_LOSS_BITS 30 /* of the share's fraction, as in the core's fixed point */

struct live_losses {
	uint64_t sums;   /* rounds in the high half, of them lost in the low half: one number, read and written at once */
	int64_t last_us; /* of the last addition, by the monotonic clock */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TL_LIVE_HOSTS);
	__type(key, struct live_key);
	__type(value, struct live_losses);
} losses SEC(".maps");

static __always_inline uint64_t live_share_of(uint64_t sums)
{
	const uint64_t rounds = sums >> 32;

	return rounds < TL_LIVE_LOSS_LEAST ? 0 : ((sums & 0xffffffffu) << TL_LIVE_LOSS_BITS) / rounds;
}

/* Reads the share of the host `key`, for a connection that begins. */
static __attribute__((noinline)) int live_read_losses(const struct live_key *key, struct live_loss *own)
{
	const int64_t now_us = (int64_t)(bpf_ktime_get_ns() / 1000);
	const struct live_losses *host;

	if (!key || !own)
		return 0;
	host = bpf_map_lookup_elem(&losses, key);
	own->rounds = own->lost = own->share = 0;
	if (host && now_us - host->last_us <= TL_LIVE_LOSS_AGE_US)
		own->share = live_share_of(host->sums);
	return 0;
}

/* Adds the rounds of a connection to those of its host `key`, and reads the share of the host. */
static __attribute__((noinline)) int live_add_losses(const struct live_key *key, struct live_loss *own)
{
	const int64_t now_us = (int64_t)(bpf_ktime_get_ns() / 1000);
	const struct live_losses none = { .last_us = now_us };
	struct live_losses *host;
	uint64_t sums;

	if (!key || !own)
		return 0;
	host = bpf_map_lookup_elem(&losses, key);
	if (!host || now_us - host->last_us > TL_LIVE_LOSS_AGE_US) {
		bpf_map_update_elem(&losses, key, &none, BPF_ANY);
		host = bpf_map_lookup_elem(&losses, key);
		if (!host)
			return 0;
	}
	__sync_fetch_and_add(&host->sums, (uint64_t)own->rounds << 32 | own->lost);
	host->last_us = now_us;
	own->rounds = own->lost = 0;
	sums = *(volatile uint64_t *)&host->sums;
	own->share = live_share_of(sums);
	/* if another processor has added meanwhile, one of the next additions halves */
	if (sums >> 32 >= TL_LIVE_LOSS_WINDOW)
		__sync_val_compare_and_swap(&host->sums, sums, sums >> 33 << 32 | (sums & 0xffffffffu) >> 1);
	return 0;
}

/* Returns whether the connections with this host lose more than random losses explain: by the limits of the
 * policy's own guard. */
static __always_inline int live_host_loses(const struct live_loss *own, const tl_live_policy *p)
{
	const int64_t limit = tl_resend_priced_queued_fix(p) ? tl_resend_priced_lower_limit_fix(p)
							     : p->params.most_loss;

	return (int64_t)own->share > limit;
}

#endif
