/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a network namespace, of a connection, and of a socket's private area. Every part of the
 * module includes this file; this file includes none of them. */
#ifndef TCPLEARN_MODULE_STATE_H
#define TCPLEARN_MODULE_STATE_H

#include <linux/module.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "estimators.h"
#include "kernel_versions.h"

/* Settings that a connection copies when it starts. */
struct tl_settings {
	u8 set_srtt;
	u8 log;
	u8 measure;
};

/* The log's relay buffer, which exists while the log is on; read under RCU. */
struct tl_log {
	struct rchan __rcu *channel;
	struct dentry *directory;
};

struct tl_startup_net {
	spinlock_t lock; /* protects the fields below */
	/* the chosen policy with the initial state of a prefix, or the only state without prefixes */
	struct tl_choice __rcu *choice;
	struct tl_places *places; /* exists with a policy that remembers destination prefixes */
};

struct tl_resend_net {
	spinlock_t lock; /* protects `places` and its entries */
	/* what later connections to each destination prefix inherit; NULL if nothing is kept. Whether it is
	 * NULL is also tested without taking `lock` */
	struct tl_places *places;
};

/* The state of a network namespace. */
struct tl_net {
	struct tl_settings settings;
	struct tl_log log;
	struct tl_choice __rcu *estimator, *loss, *resend;
	struct tl_own_model __rcu *loss_model;
	struct tl_startup_net startup;
	struct tl_resend_net resends;
	struct ctl_table *table;
	struct ctl_table_header *header;
};
extern unsigned int tl_net_id;

static inline struct tl_net *tl_net_of(const struct net *net)
{
	return net_generic(net, tl_net_id);
}

/* One connection. RTOs and times are in jiffies. struct tl_private has the pointer to it. */
struct tl_connection {
	/* NULL: stock. Then the module writes no RTO, and the log has the kernel's values */
	const struct tl_kernel_estimator *estimator;
	struct kmem_cache *cache; /* slab of this memory; NULL: none */
	struct tl_loss *loss; /* NULL: the base congestion control responds to losses */
	struct tl_resend *resend; /* NULL: the RTO is that of the estimator */
	u32 id;
	u32 records;        /* number of records, so that the log's reader sees a gap */
	u32 srtt_before;    /* tp->srtt_us before the kernel's estimator ran */
	u32 stock_rto;      /* the kernel's own RTO after the last sample, not backed off */
	u32 rto;            /* the estimator's RTO with the kernel's backoff; 0: none yet */
	u32 armed_rto;      /* the value of icsk_rto while this ACK arms the timer */
	u32 armed_at;
	u32 pacing_delay;   /* delay that the kernel adds for pacing */
	u32 timeout_before; /* when the timer would have fired without this ACK */
	u32 stamp;          /* the true tp->snd_cwnd_stamp, and the value that replaces it */
	u32 stamp_shown;
	s32 rtt_us;         /* RTT sample of the last ACK */
	bool stamp_held;
	bool ours;          /* icsk_rto has the estimator's value */
	bool unchecked;     /* the timer that the last ACK armed has not been checked yet */
	bool fast_open;     /* the handshake's sample may come after data */
	bool sets_srtt;
	bool logs;
	bool measures;
	bool reports; /* the connection reports to its destination prefix */
	struct tl_answer answer;
	u64 state[];
};

/* The decision at the handshake, kept in struct tl_private until the first data, when the log begins. */
struct tl_startup_decision {
	u32 took_us;
	u32 iw, ssthresh; /* in segments */
	u32 whole_iw, whole_ssthresh; /* windows after a handshake without losses; 0: no decision */
	u8 policy; /* 1 + the index in tl_kernel_startups; 0: stock */
	u8 resends, retransmitted; /* capped at 255 */
	u8 loss : 4, passive : 1;
};

/* Data segments that the connection has reported to its destination prefix, if the policy remembers any. */
struct tl_startup_reported {
	u32 sent, resent;
};

/* This module's data in a socket's private area for congestion control (104 bytes), after the data of
 * reno, cubic or vegas, which use at most 60 bytes (Linux 6.1). */
#define TL_BASE_BYTES 64
struct tl_private {
	u8 of_base[TL_BASE_BYTES];
	struct tl_startup_decision startup;
	struct tl_startup_reported reported;
	struct tl_connection *connection;
};

static inline struct tl_private *tl_private(const struct sock *sk)
{
	BUILD_BUG_ON(sizeof(struct tl_private) > ICSK_CA_PRIV_SIZE);
	return inet_csk_ca(sk);
}

/* Value of the pointer until the connection starts, at its first data. */
#define TL_LATER ((struct tl_connection *)1)

/* Returns the connection's state; NULL before `init` (the area is zeroed), before the first data, after
 * release, if nothing is set, and if memory could not be allocated. */
static inline struct tl_connection *tl_connection(const struct sock *sk)
{
	struct tl_connection *c = tl_private(sk)->connection;

	return c == TL_LATER ? NULL : c;
}

/* Returns the connection of a socket that uses this module's congestion control; otherwise NULL. */
static inline struct tl_connection *tl_connection_of(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_ops->owner == THIS_MODULE ? tl_connection(sk) : NULL;
}

#endif
