/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The share of rounds that lost a segment, over all connections with a host (a peer: an IPv4 address, or a
 * /64 of IPv6). A round is a request and its answer, or a flight of segments and its ACK.
 *
 * A floor (the least time that the RTO adds to SRTT) that was lowered cannot be raised again on an open
 * connection. So over a queue that many connections overload, a connection must not lower its floor because
 * it has, by chance, lost little itself. The share that it sees alone is an average over some 64 rounds:
 * where nine rounds in a hundred lose a segment, every eighth connection sees less than six in a hundred. The
 * share of the host is an average over some hundreds of rounds of all its connections, and varies less.
 *
 * The losses of a host count only for connections with this host, not for those with its neighbours. They are
 * forgotten if ten minutes pass without a round. A connection adds its rounds four at a time, with a loss or
 * without: if rounds with a loss were added sooner than others, the share would begin too high. */
#ifndef TCPLEARN_BPF_LIVE_LOSSES_H
#define TCPLEARN_BPF_LIVE_LOSSES_H

#include "live_connection.h"
#include "live_places.h"

#define TL_LIVE_LOSS_BATCH 4    /* rounds of a connection that are added at once */
#define TL_LIVE_LOSS_LEAST 256  /* with fewer rounds of a host its share is not used */
#define TL_LIVE_LOSS_WINDOW 512 /* when a host has so many rounds, its counts are halved */
#define TL_LIVE_LOSS_AGE_US 600000000
#define TL_LIVE_LOSS_BITS 30 /* of the share's fraction, as in the core's fixed point */

struct live_losses {
	uint64_t sums;   /* rounds (high half) and rounds with a loss (low half), read and written at once */
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

/* Reads the share of lost rounds of the host `key`, for a connection that begins. */
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

/* Adds the rounds of a connection to those of its host `key`, and reads the host's share of lost rounds. */
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

/* Returns whether the connections with the host lose more than random losses explain: whether their share of
 * lost rounds is above the limit that the policy's own guard has for the share of this connection. */
static __always_inline int live_host_loses(const struct live_loss *own, const tl_live_policy *p)
{
	const int64_t limit = tl_resend_priced_queued_fix(p) ? tl_resend_priced_lower_limit_fix(p)
							     : p->params.most_loss;

	return (int64_t)own->share > limit;
}

#endif
