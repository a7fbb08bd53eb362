/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The first RTO of every connection of a cgroup, active and passive: a sock_ops program for a stock kernel (4.13 or
 * later). Each handshake that was not resent is history of its place; one that was puts the place in doubt. Hops are
 * not seen here. */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "tcplearn/first_rto.h"

#define TL_AF_INET6 10
#define PLACES 65536
#define SOL_TCP 6
#define TCP_SYNCNT 7
/* Linux's default, net.ipv4.tcp_syn_retries */
#define SYN_RETRIES 6

struct settings {
	struct tl_first_rto_model model;
	uint32_t ticks_per_second; /* CONFIG_HZ: the kernel takes the RTO in ticks */
	uint32_t reserved;
};

struct address {
	uint32_t words[4]; /* IPv6, or IPv4 mapped into it */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct settings);
} settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PLACES);
	__type(key, struct address);
	__type(value, struct tl_first_rto_place);
} places SEC(".maps"), prefixes SEC(".maps");

/* The verifier allows only loads at constant offsets of the context: that of IPv4 comes first, or compilers make
 * one load of two. */
#define LOAD(field) (*(const volatile uint32_t *)&(field))

static __always_inline void address_of(const struct bpf_sock_ops *ctx, struct address *place)
{
	const uint32_t ipv4 = LOAD(ctx->remote_ip4);

	if (ctx->family == TL_AF_INET6) {
		place->words[0] = LOAD(ctx->remote_ip6[0]);
		place->words[1] = LOAD(ctx->remote_ip6[1]);
		place->words[2] = LOAD(ctx->remote_ip6[2]);
		place->words[3] = LOAD(ctx->remote_ip6[3]);
	} else {
		place->words[0] = place->words[1] = 0;
		place->words[2] = bpf_htonl(0xffff);
		place->words[3] = ipv4;
	}
}

/* /24 of IPv4, /48 of IPv6 */
static __always_inline void prefix_of(const struct address *place, struct address *prefix)
{
	*prefix = *place;
	if (place->words[0] == 0 && place->words[1] == 0 && place->words[2] == bpf_htonl(0xffff)) {
		prefix->words[3] &= bpf_htonl(0xffffff00);
	} else {
		prefix->words[1] &= bpf_htonl(0xffff0000);
		prefix->words[2] = prefix->words[3] = 0;
	}
}

static __always_inline int64_t rto_us(const struct settings *s, const struct address *at, int64_t now_us)
{
	struct tl_first_rto_place none, *place, *prefix;
	struct address around;

	tl_first_rto_place_init(&none);
	prefix_of(at, &around);
	place = bpf_map_lookup_elem(&places, at);
	prefix = bpf_map_lookup_elem(&prefixes, &around);
	return tl_first_rto_us(&s->model, place ? place : &none, prefix ? prefix : &none,
			       TL_FIRST_RTO_HOPS_UNKNOWN, now_us);
}

/* Of the socket that the program is called for: who accepts waits an eighth longer. Where a SYN-ACK was lost both ends
 * send again; the SYN comes first then, and its answer starts the other timer anew. */
static __always_inline int64_t own_rto_us(const struct settings *s, const struct address *at, int64_t now_us,
					  int accepts)
{
	const int64_t us = rto_us(s, at, now_us);

	return accepts ? tl_clamp_us(us + (us >> 3), s->model.floor_us, s->model.cap_us) : us;
}

/* Of several handshakes at once with one place some may be lost: each is whole by itself. A resent one of the
 * prefix is history only of its place. */
static __always_inline void learn(void *map, const struct address *at, int64_t rtt_us, int64_t resent_rto_us,
				  int64_t now_us)
{
	struct tl_first_rto_place fresh, *place = bpf_map_lookup_elem(map, at);

	if (place)
		fresh = *place;
	else
		tl_first_rto_place_init(&fresh);
	if (resent_rto_us > 0)
		tl_first_rto_resent(&fresh, rtt_us, resent_rto_us, now_us);
	else if (rtt_us > 0)
		tl_first_rto_report(&fresh, rtt_us, now_us);
	bpf_map_update_elem(map, at, &fresh, BPF_ANY);
}

/* As many more SYNs as a shorter first RTO needs to go on for as long as one of a second. */
static __always_inline void keep_trying(struct bpf_sock_ops *ctx, int64_t us)
{
	int retries = SYN_RETRIES, k;

#pragma unroll
	for (k = 0; k < 7; k++) {
		retries += us < 1000000;
		us *= 2;
	}
	bpf_setsockopt(ctx, SOL_TCP, TCP_SYNCNT, &retries, sizeof(retries));
}

SEC("sockops")
int first_rto(struct bpf_sock_ops *ctx)
{
	const int64_t now_us = (int64_t)(bpf_ktime_get_ns() / 1000);
	const uint32_t zero = 0;
	const struct settings *s = bpf_map_lookup_elem(&settings, &zero);
	struct address at, around;
	uint64_t ticks;
	int64_t rtt_us, sent_again_us;

	if (!s || s->ticks_per_second == 0)
		return 1;
	address_of(ctx, &at);
	switch (ctx->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB: keep_trying(ctx, rto_us(s, &at, now_us)); break;
	case BPF_SOCK_OPS_TIMEOUT_INIT:
		/* a request is no full socket yet */
		ticks = (uint64_t)own_rto_us(s, &at, now_us, !ctx->is_fullsock) * s->ticks_per_second;
		ctx->reply = (uint32_t)((ticks + 999999) / 1000000);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		rtt_us = ctx->srtt_us >> 3;
		sent_again_us = own_rto_us(s, &at, now_us, ctx->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB);
		learn(&places, &at, rtt_us, ctx->total_retrans ? sent_again_us : 0, now_us);
		if (!ctx->total_retrans) {
			prefix_of(&at, &around);
			learn(&prefixes, &around, rtt_us, 0, now_us);
		}
		break;
	}
	return 1;
}

char _license[] SEC("license") = "GPL";
