/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a connection has learned is used at the beginning of later connections. It is stored when an end
 * closes the connection, and read at connect() or when a connection is accepted.
 *
 * - A connection with a host (a peer: an IPv4 address, or a /64 of IPv6) begins with what the last connection
 *   with this host had learned. So a host can influence only connections with itself.
 * - A connection with an unknown host begins with what was learned with one of the last three *other* hosts
 *   of its place (destination prefix: /24, or /48 of IPv6). Each host has one report, however often it
 *   reconnects. Of three reports the one with the median floor is used, of two the one with the longer floor;
 *   a single report is not used. So one bad or hostile neighbour can never cause a shorter floor than was
 *   right for an honest host. It can cause a longer floor, up to the kernel's own, only if there is just one
 *   report beside its own.
 *
 * The core's `inherit` takes over at most 32 flights' worth of evidence, so that a connection's own answers
 * soon count for more. Network namespaces are kept apart: in another one, the same address may be another
 * host. */
#ifndef TCPLEARN_BPF_LIVE_PLACES_H
#define TCPLEARN_BPF_LIVE_PLACES_H

#include "live_kernel.h"
#include "live_key.h"
#include "live_policy.h"

#define TL_LIVE_HOSTS 8192
#define TL_LIVE_PLACES 4096
#define TL_LIVE_REPORTS 3
#define TL_LIVE_QUEUED_US 3600000000ull /* how long connections are stock after live_note_queued() */

/* The reports of the last three hosts of a place. */
struct live_place {
	struct live_key hosts[TL_LIVE_REPORTS]; /* `bits` is 0 if there is no such report */
	uint32_t ranks[TL_LIVE_REPORTS]; /* live_rank(): the longer the floor, the larger */
	uint32_t next; /* the report that the next host without one replaces */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TL_LIVE_HOSTS);
	__type(key, struct live_key);
	__type(value, tl_live_policy);
} hosts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TL_LIVE_PLACES);
	__type(key, struct live_key);
	__type(value, struct live_place);
} places SEC(".maps");

/* By host (peer): when a queue of this machine last caused a timeout, in us of the monotonic clock. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TL_LIVE_HOSTS);
	__type(key, struct live_key);
	__type(value, uint64_t);
} queued SEC(".maps");

static __always_inline int live_is_ipv4(const uint32_t *words)
{
	return words[0] == 0 && words[1] == 0 && words[2] == bpf_htonl(0xffff);
}

static __always_inline void live_host_of(struct bpf_sock_ops *ctx, struct live_key *host)
{
	const uint32_t ipv4 = TL_LOAD(ctx->remote_ip4);
	const uint32_t ipv6[4] = { TL_LOAD(ctx->remote_ip6[0]), TL_LOAD(ctx->remote_ip6[1]),
				   TL_LOAD(ctx->remote_ip6[2]), TL_LOAD(ctx->remote_ip6[3]) };
	const int plain = ctx->family != TL_AF_INET6;

	host->netns = bpf_get_netns_cookie(ctx);
	host->words[0] = plain ? 0 : ipv6[0];
	host->words[1] = plain ? 0 : ipv6[1];
	host->words[2] = plain ? bpf_htonl(0xffff) : ipv6[2];
	host->words[3] = plain ? ipv4 : ipv6[3];
	host->bits = 128;
	host->zero = 0;
	if (!live_is_ipv4(host->words)) {
		host->words[2] = host->words[3] = 0;
		host->bits = 64;
	}
}

static __always_inline void live_place_of(const struct live_key *host, struct live_key *place)
{
	*place = *host;
	if (host->bits == 128) {
		place->words[3] &= bpf_htonl(0xffffff00);
		place->bits = 120;
	} else {
		place->words[1] &= bpf_htonl(0xffff0000);
		place->bits = 48;
	}
}

static __always_inline int live_same(const struct live_key *a, const struct live_key *b)
{
	return a->bits == b->bits && a->words[0] == b->words[0] && a->words[1] == b->words[1] &&
	       a->words[2] == b->words[2] && a->words[3] == b->words[3];
}

/* Returns the number of the candidate floor with which the next connection would begin; TL_RESEND_FLOORS
 * stands for the kernel's own floor. */
static __always_inline uint32_t live_rank(const tl_live_policy *p)
{
	const uint32_t chosen = p->scores.chosen;

	return chosen < TL_RESEND_FLOORS && !tl_resend_priced_careful_fix(p) ? chosen : TL_RESEND_FLOORS;
}

/* Stores what a connection with `host` has learned. It is not a global function, because in one Linux 6.1
 * does not take an argument as the value of a map. */
static __attribute__((noinline)) int live_remember(const struct live_key *host, const tl_live_policy *p)
{
	struct live_key around;
	struct live_place none = { 0 }, *place;
	uint32_t rank, at;
	uint64_t slot;

	if (!host || !p)
		return 0;
	live_place_of(host, &around);
	bpf_map_update_elem(&hosts, host, p, BPF_ANY);
	place = bpf_map_lookup_elem(&places, &around);
	if (!place) {
		bpf_map_update_elem(&places, &around, &none, BPF_NOEXIST);
		place = bpf_map_lookup_elem(&places, &around);
		if (!place)
			return 0;
	}
	rank = live_rank(p);
	at = place->next;
	if (live_same(&place->hosts[0], host)) {
		at = 0;
	} else if (live_same(&place->hosts[1], host)) {
		at = 1;
	} else if (live_same(&place->hosts[2], host)) {
		at = 2;
	} else {
		place->next = at < TL_LIVE_REPORTS - 1 ? at + 1 : 0;
	}
	slot = at;
	barrier_var(slot); /* the verifier of Linux 6.1 forgets bounds if a copy of the number was compared */
	if (slot >= TL_LIVE_REPORTS)
		return 0;
	place->hosts[slot] = *host;
	place->ranks[slot] = rank;
	return 0;
}

/* Returns the index of the report of `place` that is used for an unknown host, or TL_LIVE_REPORTS if none
 * is. */
static __always_inline uint32_t live_report_of(const struct live_place *place)
{
	const uint32_t a = place->ranks[0], b = place->ranks[1], c = place->ranks[2];

	if (place->hosts[1].bits == 0)
		return TL_LIVE_REPORTS;
	if (place->hosts[2].bits == 0)
		return a > b ? 0 : 1;
	if ((b <= a && a <= c) || (c <= a && a <= b))
		return 0;
	if ((a <= b && b <= c) || (c <= b && b <= a))
		return 1;
	return 2;
}

/* Returns what a new connection with `host` begins with, or NULL if nothing is known. */
static __always_inline const tl_live_policy *live_recall(const struct live_key *host)
{
	const tl_live_policy *known;
	const struct live_place *place;
	struct live_key around;
	uint64_t slot;

	known = bpf_map_lookup_elem(&hosts, host);
	if (known)
		return known;
	live_place_of(host, &around);
	place = bpf_map_lookup_elem(&places, &around);
	if (!place)
		return NULL;
	slot = live_report_of(place);
	barrier_var(slot);
	if (slot >= TL_LIVE_REPORTS)
		return NULL;
	around = place->hosts[slot];
	return bpf_map_lookup_elem(&hosts, &around);
}

/* Notes that a queue of this machine has caused a timeout towards `host`. */
static __attribute__((noinline)) int live_note_queued(const struct live_key *host)
{
	const uint64_t now_us = bpf_ktime_get_ns() / 1000;

	if (host)
		bpf_map_update_elem(&queued, host, &now_us, BPF_ANY);
	return 0;
}

/* Returns whether a queue of this machine has caused a timeout towards `host` in the last hour. */
static __attribute__((noinline)) int live_was_queued(const struct live_key *host)
{
	const uint64_t *at_us = host ? bpf_map_lookup_elem(&queued, host) : NULL;

	return at_us && bpf_ktime_get_ns() / 1000 - *at_us < TL_LIVE_QUEUED_US;
}

#endif
