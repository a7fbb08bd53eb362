/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The settings and counts of live.bpf.c, its connections, and what each of its steps needs. */
#ifndef TCPLEARN_BPF_LIVE_SCENE_H
#define TCPLEARN_BPF_LIVE_SCENE_H

#include "live_connection.h"
#include "live_counts.h"
#include "live_kernel.h"

struct counts {
	uint64_t n[TL_LIVE_COUNT_ALL];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

struct live_settings {
	uint32_t ticks_per_second; /* CONFIG_HZ */
	uint32_t observe;          /* 1: learn and count, set nothing */
	uint32_t bounds_backoff;   /* 1: bound the backoff, where the kernel can (live_backoff.h) */
	uint32_t reserved;
	uint64_t assignment; /* share of the new connections that get floors, and epoch: live_join() */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct live_settings);
} settings SEC(".maps");

/* What the functions that handle an event need. */
struct scene {
	struct bpf_sock_ops *ctx;
	const struct live_settings *settings;
	uint64_t *n; /* counts */
	struct bpf_sock *sk;
	const struct tcp_sock *tp;
};

#define COUNT(at, name) ((at)->n[TL_LIVE_##name]++)

static __always_inline uint32_t ticks_up(const struct scene *at, uint32_t us)
{
	return (uint32_t)(((uint64_t)us * at->settings->ticks_per_second + 999999) / 1000000);
}

static __always_inline uint32_t ticks_down(const struct scene *at, uint32_t us)
{
	return (uint32_t)((uint64_t)us * at->settings->ticks_per_second / 1000000);
}

static __always_inline uint32_t us_of(const struct scene *at, uint32_t ticks)
{
	return (uint32_t)((uint64_t)ticks * 1000000 / at->settings->ticks_per_second);
}

/* Returns whether the connection's route has an rto_min, which the kernel takes in place of the socket's
 * floor (tcp_rto_min()). */
static __always_inline int route_sets_floor(const struct tcp_sock *tp)
{
	const struct dst_entry *dst = tp->inet_conn.icsk_inet.sk.sk_dst_cache;
	uint32_t locked = 0;

	if (dst)
		bpf_probe_read_kernel(&locked, sizeof(locked), (const void *)(dst->_metrics & ~3ul));
	return locked >> TL_RTAX_RTO_MIN & 1;
}

/* Returns whether the program has anything to do at this event. A connection with one request has twenty
 * events at its two ends; for half of them the program has nothing to do. */
static __always_inline int concerns_us(const struct bpf_sock_ops *ctx)
{
	switch (ctx->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_RTT_CB:
	case BPF_SOCK_OPS_RTO_CB:
	case BPF_SOCK_OPS_RETRANS_CB: return 1;
	case BPF_SOCK_OPS_STATE_CB:
		return TL_LOAD(ctx->args[0]) == BPF_TCP_ESTABLISHED || TL_LOAD(ctx->args[1]) == BPF_TCP_CLOSE;
	}
	return 0;
}

#endif
