/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes a record of each connection that live.bpf.c knows, for `tcplearn live top`: an iterator over the
 * socket storage, which user space reads as a file. It changes nothing. */
#include "live_kernel.h"

#include "live_connection.h"

/* Fields of kernel types beside those of live_kernel.h. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct sock *sk;
	void *value;
};
#pragma clang attribute pop

/* Read by tcplearn.live.connections. */
struct record {
	uint32_t address[4]; /* of the peer: IPv6, or IPv4 mapped into it */
	uint16_t port, own_port;
	uint32_t arm;
	uint32_t srtt_us, min_rtt_us, rttvar_us;
	uint32_t rto_ticks, floor_ticks, chosen_ticks, base_ticks;
	uint32_t rounds, needed, spurious;
	uint64_t saved_us;
};

SEC("iter/bpf_sk_storage_map")
int live_connections(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	const struct connection *c = ctx->value;
	struct sock *sk = ctx->sk;
	const struct tcp_sock *tp = sk ? bpf_skc_to_tcp_sock(sk) : NULL;
	struct record r = { 0 };

	if (!c || !tp || c->base_ticks == 0)
		return 0;
	r.port = bpf_ntohs(sk->__sk_common.skc_dport);
	r.own_port = sk->__sk_common.skc_num;
	r.address[2] = bpf_htonl(0xffff);
	r.address[3] = sk->__sk_common.skc_daddr;
	if (sk->__sk_common.skc_family == TL_AF_INET6) {
		r.address[0] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[0];
		r.address[1] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[1];
		r.address[2] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[2];
		r.address[3] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[3];
	}
	r.arm = c->member.arm;
	r.srtt_us = tp->srtt_us >> 3;
	r.rttvar_us = tp->rttvar_us;
	r.min_rtt_us = (uint32_t)c->policy.min_rtt_us;
	r.rto_ticks = tp->inet_conn.icsk_rto;
	r.floor_ticks = tp->inet_conn.icsk_rto_min;
	r.chosen_ticks = c->ticks;
	r.base_ticks = c->base_ticks;
	r.rounds = c->rounds;
	r.needed = c->member.needed;
	r.spurious = c->member.spurious;
	r.saved_us = c->saved_us;
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}

char _license[] SEC("license") = "GPL";
