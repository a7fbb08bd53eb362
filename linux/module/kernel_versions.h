/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between the supported kernels: 6.1 to 6.12, and 7.2 or later. */
#ifndef TCPLEARN_KERNEL_VERSIONS_H
#define TCPLEARN_KERNEL_VERSIONS_H

#include <linux/net.h>
#include <linux/relay.h>
#include <linux/sysctl.h>
#include <linux/version.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define register_net_sysctl_sz(net, path, table, count) register_net_sysctl(net, path, table)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
typedef struct ctl_table tl_ctl_table;
#else
typedef const struct ctl_table tl_ctl_table;
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
typedef struct sockaddr tl_sockaddr;
#else
typedef struct sockaddr_unsized tl_sockaddr;
#endif

static inline int tl_bind(struct socket *of, struct sockaddr_in *at)
{
	return kernel_bind(of, (tl_sockaddr *)at, sizeof(*at));
}

static inline int tl_connect(struct socket *of, struct sockaddr_in *at)
{
	return kernel_connect(of, (tl_sockaddr *)at, sizeof(*at), 0);
}

/* Returns the age in us of the segment whose timestamp the peer has echoed. */
static inline s64 tl_echo_us(const struct tcp_sock *tp)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	if (tp->tcp_usec_ts)
		return max_t(s32, (u32)tp->tcp_mstamp - tp->rx_opt.rcv_tsecr, 0);
#endif
	return max_t(s32, (u32)div_u64(tp->tcp_mstamp, USEC_PER_MSEC) - tp->rx_opt.rcv_tsecr, 0) * (s64)USEC_PER_MSEC;
}

/* Returns the timestamp (RFC 7323) that a segment sent at `us` has. */
static inline u32 tl_timestamp(const struct tcp_sock *tp, u64 us)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	if (tp->tcp_usec_ts)
		return (u32)us;
#endif
	return (u32)div_u64(us, USEC_PER_MSEC);
}

/* Returns the number of timeouts of a SYN after the first that are not doubled. */
static inline u32 tl_syn_linear_timeouts(const struct net *net)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	return READ_ONCE(net->ipv4.sysctl_tcp_syn_linear_timeouts);
#else
	return 0;
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
/* Returns when the timer of icsk_pending fires, in jiffies. */
static inline u32 tl_timeout(const struct sock *sk)
{
	return inet_csk(sk)->icsk_timeout;
}

static inline const struct timer_list *tl_timer_of(const struct sock *sk)
{
	return &inet_csk(sk)->icsk_retransmit_timer;
}

/* Returns the cap of the RTO, in jiffies. */
static inline u32 tl_rto_max(const struct sock *sk)
{
	return TCP_RTO_MAX;
}

/* Defines a probe of the tracepoint tcp_retransmit_skb that calls then(sk) if the segment was sent. */
#define TL_RETRANSMIT_PROBE(name, then) \
	static void name(void *unused, const struct sock *sk, const struct sk_buff *skb) \
	{ \
		then(sk); \
	}

#define TL_SUBBUF_START(name, buf) \
	static int name(struct rchan_buf *buf, void *next, void *last, size_t padding)
#else
static inline u32 tl_timeout(const struct sock *sk)
{
	return tcp_timeout_expires(sk);
}

static inline const struct timer_list *tl_timer_of(const struct sock *sk)
{
	return &sk->tcp_retransmit_timer;
}

static inline u32 tl_rto_max(const struct sock *sk)
{
	return tcp_rto_max(sk);
}

#define TL_RETRANSMIT_PROBE(name, then) \
	static void name(void *unused, const struct sock *sk, const struct sk_buff *skb, int error) \
	{ \
		if (!error) \
			then(sk); \
	}

#define TL_SUBBUF_START(name, buf) static int name(struct rchan_buf *buf, void *next, void *last)
#define TL_TX_START_APART /* CA_EVENT_TX_START has its own operation in this kernel */
#endif

#endif
