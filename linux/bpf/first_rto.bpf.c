/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sets the first RTO of every connection of a cgroup, active and passive. This is a sock_ops program for an
 * unmodified kernel with BTF, 6.1 or later. A handshake without retransmission adds its RTT to the history of
 * its destination; one with retransmissions makes the next first RTO longer (first_rto.h). The model's input
 * "hop count" is not known here. With a shorter first RTO, an unanswered handshake is still given up about
 * when the configured number of retries says (give_up.h). */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "tcplearn/first_rto.h"
#include "tcplearn/give_up.h"

#define TL_AF_INET6 10
#define PLACES 65536
#define LISTENERS 16384
#define SOL_TCP 6
#define TCP_SYNCNT 7
#define RTO_MAX_S 120

/* The fields of kernel types that this program reads. The loader finds their offsets. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct netns_ipv4 {
	uint8_t sysctl_tcp_syn_retries, sysctl_tcp_synack_retries;
	uint8_t sysctl_tcp_syn_linear_timeouts; /* since Linux 6.5 */
};

struct net {
	struct netns_ipv4 ipv4;
};

struct sock_common {
	struct {
		struct net *net;
	} skc_net;
	struct {
		int64_t counter;
	} skc_cookie;
	struct sock *skc_listener;
};

struct sock {
	struct sock_common __sk_common;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	uint8_t icsk_syn_retries;
	uint32_t icsk_rto_max; /* since 6.15 */
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
};

struct request_sock {
	struct sock_common __req_common;
};

struct bpf_sock_ops_kern {
	struct sock *sk;
};
#pragma clang attribute pop

struct settings {
	struct tl_first_rto_model model;
	uint32_t ticks_per_second; /* CONFIG_HZ; the kernel takes the RTO in ticks */
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

/* This program's state of a socket. */
struct handshakes {
	uint32_t set;  /* TCP_SYNCNT as the application set it; 0: not set, the sysctl applies */
	uint32_t ours; /* TCP_SYNCNT as this program set it; 0: not changed */
	struct tl_first_ticks
		first; /* first RTO: low and high are equal for a connection, a range for a listener */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	/* an accepted socket gets a copy of the listener's */
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct handshakes);
} sockets SEC(".maps");

/* State of listeners by socket cookie. A request socket has no storage and cannot reach its listener's. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, LISTENERS);
	__type(key, uint64_t);
	__type(value, struct handshakes);
} listeners SEC(".maps");

/* Loads a field once. The verifier allows only loads at constant offsets of the context, and compilers
 * would otherwise merge the loads of the IPv4 and the IPv6 address. */
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

/* Computes the prefix of an address: /24 of IPv4, /48 of IPv6. */
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

static __always_inline uint32_t ticks_of(const struct settings *s, int64_t us)
{
	return (uint32_t)(((uint64_t)us * s->ticks_per_second + 999999) / 1000000);
}

/* Returns the first RTO of the accepting end in ticks, an eighth longer than that of the opening end.
 * After a lost SYN-ACK both ends would retransmit; with this RTO the client's SYN comes first, and the
 * answer to that SYN restarts the accepting end's timer. */
static __always_inline uint32_t accepting_ticks(const struct settings *s, const struct handshakes *h,
						const struct address *at, int64_t now_us)
{
	const int64_t us = rto_us(s, at, now_us);
	const uint32_t ticks = ticks_of(s, tl_first_rto_accepting_us(&s->model, us));

	return ticks < h->first.low ? h->first.low : ticks > h->first.high ? h->first.high : ticks;
}

/* Adds a handshake to the history of a destination or prefix in `map`. `resent_rto_us` is 0, or the first
 * RTO of a handshake with retransmissions, which counts only for its destination. If handshakes end
 * concurrently, some may be missing from the history, but each entry stays consistent. */
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

static __always_inline const struct net *net_of(const struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net;
}

static __always_inline void in_force(const struct settings *s, const struct tcp_sock *tp,
				     struct tl_retry_limits *h)
{
	h->second_ticks = s->ticks_per_second;
	h->max_ticks = RTO_MAX_S * s->ticks_per_second;
	if (bpf_core_field_exists(tp->inet_conn.icsk_rto_max))
		h->max_ticks = tp->inet_conn.icsk_rto_max;
	if (h->max_ticks < h->second_ticks)
		h->max_ticks = h->second_ticks;
}

/* Returns the application's own TCP_SYNCNT, or 0. A value that this program set does not count. */
static __always_inline uint32_t own_retries(const struct handshakes *of, const struct tcp_sock *tp)
{
	const uint32_t now = tp->inet_conn.icsk_syn_retries;

	return now != 0 && now == of->ours ? of->set : now;
}

static __always_inline int set_retries(struct bpf_sock_ops *ctx, uint32_t retries)
{
	return bpf_setsockopt(ctx, SOL_TCP, TCP_SYNCNT, &retries, sizeof(retries));
}

/* Runs before the first SYN: sets the first RTO and the number of retries. */
static __always_inline void on_connect(struct bpf_sock_ops *ctx, const struct settings *s,
				       uint32_t learned_ticks)
{
	struct bpf_sock *sk = ctx->sk;
	const struct tcp_sock *tp = sk ? bpf_skc_to_tcp_sock(sk) : NULL;
	struct handshakes *of = tp ? bpf_sk_storage_get(&sockets, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE)
				   : NULL;
	struct tl_syn_plan plan;
	struct tl_retry_limits h;

	if (!of)
		return;
	of->set = own_retries(of, tp);
	in_force(s, tp, &h);
	h.retries = of->set ? of->set : net_of(tp)->ipv4.sysctl_tcp_syn_retries;
	h.linear = 0;
	if (bpf_core_field_exists(net_of(tp)->ipv4.sysctl_tcp_syn_linear_timeouts))
		h.linear = net_of(tp)->ipv4.sysctl_tcp_syn_linear_timeouts;
	tl_plan_syn(&h, learned_ticks, &plan);
	of->first.low = of->first.high = h.second_ticks;
	if (plan.retries != h.retries || tp->inet_conn.icsk_syn_retries != of->set) {
		if (set_retries(ctx, plan.retries))
			return;
		of->ours = plan.retries;
		bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_STATE_CB_FLAG);
	}
	of->first.low = of->first.high = plan.first_ticks;
}

/* Runs when the SYN is answered or given up: restores the number of retries. TCP_SYNCNT cannot be unset:
 * if the application had not set it, it keeps the sysctl's value, and `ours` shows a later connect() that
 * the value is not the application's. */
static __always_inline void after_connect(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	const struct tcp_sock *tp = sk ? bpf_skc_to_tcp_sock(sk) : NULL;
	struct handshakes *of = tp ? bpf_sk_storage_get(&sockets, sk, NULL, 0) : NULL;
	uint32_t retries;

	if (!of || of->ours == 0 || of->ours != tp->inet_conn.icsk_syn_retries)
		return;
	retries = of->set ? of->set : net_of(tp)->ipv4.sysctl_tcp_syn_retries;
	if (set_retries(ctx, retries) == 0)
		of->ours = retries;
}

/* Runs at listen(). All requests of a listener have the listener's number of retries. The program sets
 * one retry more than configured, and a range of first RTOs that fits this number. */
static __always_inline void on_listen(struct bpf_sock_ops *ctx, const struct settings *s)
{
	const uint64_t cookie = bpf_get_socket_cookie(ctx);
	struct bpf_sock *sk = ctx->sk;
	const struct tcp_sock *tp = sk ? bpf_skc_to_tcp_sock(sk) : NULL;
	struct handshakes *of = tp ? bpf_sk_storage_get(&sockets, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE)
				   : NULL;
	struct tl_first_ticks first;
	struct tl_retry_limits h;
	int more;

	if (!of)
		return;
	of->set = own_retries(of, tp);
	in_force(s, tp, &h);
	h.linear = 0;
	h.retries = of->set ? of->set : net_of(tp)->ipv4.sysctl_tcp_synack_retries;
	more = tl_plan_listener(&h, &first);
	if (!more && tp->inet_conn.icsk_syn_retries == of->set)
		return;
	if (set_retries(ctx, h.retries + more))
		return;
	of->ours = h.retries + more;
	of->first.low = more ? first.low : h.second_ticks;
	of->first.high = more ? first.high : h.second_ticks;
	bpf_map_update_elem(&listeners, &cookie, of, BPF_ANY);
}

/* Returns the first RTO of a request socket in ticks: the kernel's default unless this program set the
 * retries of its listener. The context is a struct bpf_sock_ops_kern, whose socket is not accessible to
 * programs unless it is a full socket. */
static __always_inline uint32_t request_ticks(const struct bpf_sock_ops *ctx, const struct settings *s,
					      const struct address *at, int64_t now_us)
{
	const struct bpf_sock_ops_kern *kernel = (const void *)ctx;
	const struct request_sock *request = (const void *)BPF_CORE_READ(kernel, sk);
	const struct sock *listener = BPF_CORE_READ(request, __req_common.skc_listener);
	const uint64_t cookie = (uint64_t)BPF_CORE_READ(listener, __sk_common.skc_cookie.counter);
	const uint32_t retries = BPF_CORE_READ((const struct inet_connection_sock *)listener,
					       icsk_syn_retries);
	const struct handshakes *of = bpf_map_lookup_elem(&listeners, &cookie);

	return of && of->ours == retries ? accepting_ticks(s, of, at, now_us) : s->ticks_per_second;
}

/* Returns a full socket's first RTO in ticks; the default if it, or its listener, is older than this
 * program. */
static __always_inline uint32_t socket_ticks(struct bpf_sock_ops *ctx, const struct settings *s,
					     const struct address *at, int64_t now_us, int accepts)
{
	struct bpf_sock *sk = ctx->sk;
	const struct tcp_sock *tp = sk ? bpf_skc_to_tcp_sock(sk) : NULL;
	const struct handshakes *of = tp ? bpf_sk_storage_get(&sockets, sk, NULL, 0) : NULL;

	if (!of)
		return s->ticks_per_second;
	if (!accepts || of->first.low == of->first.high)
		return of->first.low;
	/* Without TCP_SYNCNT, the kernel itself uses one retry more for Fast Open than the sysctl says. */
	if (of->ours != tp->inet_conn.icsk_syn_retries ||
	    (ctx->op == BPF_SOCK_OPS_TIMEOUT_INIT && of->set == 0))
		return s->ticks_per_second;
	return accepting_ticks(s, of, at, now_us);
}

SEC("sockops")
int first_rto(struct bpf_sock_ops *ctx)
{
	const int64_t now_us = (int64_t)(bpf_ktime_get_ns() / 1000);
	const uint32_t zero = 0;
	const struct settings *s = bpf_map_lookup_elem(&settings, &zero);
	struct address at, around;
	int64_t rtt_us, first_us;

	if (!s || s->ticks_per_second == 0)
		return 1;
	address_of(ctx, &at);
	switch (ctx->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB: on_connect(ctx, s, ticks_of(s, rto_us(s, &at, now_us))); break;
	case BPF_SOCK_OPS_TCP_LISTEN_CB: on_listen(ctx, s); break;
	case BPF_SOCK_OPS_STATE_CB:
		if (ctx->args[0] == BPF_TCP_SYN_SENT)
			after_connect(ctx);
		break;
	case BPF_SOCK_OPS_TIMEOUT_INIT: /* the kernel also calls this operation at each timeout of a SYN */
		ctx->reply = ctx->is_fullsock
				     ? socket_ticks(ctx, s, &at, now_us, ctx->state == BPF_TCP_SYN_RECV)
				     : request_ticks(ctx, s, &at, now_us);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		rtt_us = ctx->srtt_us >> 3;
		first_us = socket_ticks(ctx, s, &at, now_us, ctx->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB);
		first_us = (int64_t)((uint64_t)first_us * 1000000 / s->ticks_per_second);
		learn(&places, &at, rtt_us, ctx->total_retrans ? first_us : 0, now_us);
		if (!ctx->total_retrans) {
			prefix_of(&at, &around);
			learn(&prefixes, &around, rtt_us, 0, now_us);
		}
		break;
	}
	return 1;
}

char _license[] SEC("license") = "GPL";
