/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The fields of kernel types that live.bpf.c and live_connections.bpf.c read. The loader finds their offsets
 * (CO-RE), so one object works on each kernel with BTF from 6.1 on. */
#ifndef TCPLEARN_BPF_LIVE_KERNEL_H
#define TCPLEARN_BPF_LIVE_KERNEL_H

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "tcplearn/deps.h"

#define TL_AF_INET6 10
#define TL_SOL_TCP 6
#define TL_TCP_RTO_MAX_MS 44 /* since Linux 6.15 */
#define TL_CA_RECOVERY 3
#define TL_QUEUED_BYTES 512 /* with less in sk_wmem_alloc no data is queued: a pure ACK counts as 2 bytes */
#define TL_RTAX_RTO_MIN 13  /* of linux/rtnetlink.h: number of the metric, and its bit in the first metric */
/* The events for which live.bpf.c is called, besides the beginning of a connection. */
#define TL_LIVE_EVENTS \
	(BPF_SOCK_OPS_RTT_CB_FLAG | BPF_SOCK_OPS_RTO_CB_FLAG | BPF_SOCK_OPS_RETRANS_CB_FLAG | \
	 BPF_SOCK_OPS_STATE_CB_FLAG)
#define TL_TICKS_LEAST 2 /* the shortest floor that TCP_BPF_RTO_MIN takes (TCP_TIMEOUT_MIN) */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
typedef struct {
	int counter;
} atomic_t;

typedef struct refcount_struct {
	atomic_t refs;
} refcount_t;

struct in6_addr {
	union {
		uint32_t u6_addr32[4];
	} in6_u;
};

struct netns_ipv4 {
	uint8_t sysctl_tcp_retries2;
};

struct net {
	struct netns_ipv4 ipv4;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	uint32_t skc_daddr;
	uint16_t skc_dport, skc_num, skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
};

struct dst_entry {
	unsigned long _metrics; /* address of the route's metrics, with flags in its two low bits */
};

struct sock {
	struct sock_common __sk_common;
	struct dst_entry *sk_dst_cache;
	refcount_t sk_wmem_alloc; /* bytes of what is still in a queue of this machine, plus 1 */
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	uint32_t icsk_rto;
	uint32_t icsk_rto_min;
	uint32_t icsk_rto_max; /* since 6.15 */
	uint8_t icsk_ca_state : 5;
};

struct tcp_options_received {
	uint16_t saw_tstamp : 1;
	uint32_t rcv_tsecr;
};

struct tcp_rack {
	uint32_t rtt_us;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	uint64_t tcp_mstamp;
	uint32_t srtt_us; /* eight times SRTT */
	uint32_t rttvar_us;
	uint32_t packets_out;
	uint32_t total_retrans;
	uint32_t dsack_dups; /* segments that DSACKs have reported (RFC 2883) */
	struct tcp_rack rack;
	struct tcp_options_received rx_opt;
	uint8_t tcp_usec_ts : 1; /* since 6.7: timestamps in microseconds */
};
#pragma clang attribute pop

/* Loads a field of the context once. The verifier allows only loads at constant offsets of the context, and
 * compilers would otherwise merge the loads of the IPv4 and the IPv6 address. */
#define TL_LOAD(field) (*(const volatile uint32_t *)&(field))

#endif
