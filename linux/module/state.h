/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a network namespace, of a connection, and in a socket's private area. Every part of the
 * module includes it, and it includes none of them. */
#ifndef TCPLEARN_MODULE_STATE_H
#define TCPLEARN_MODULE_STATE_H

#include <linux/module.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "estimators.h"
#include "kernel_versions.h"

/* Copied when a connection starts. */
struct tl_settings {
	u8 set_srtt;
	u8 log;
	u8 measure;
};

/* A relay while it is on: readers under RCU. */
struct tl_log {
	struct rchan __rcu *channel;
	struct dentry *directory;
};

struct tl_startup_net {
	spinlock_t lock; /* protects the fields below */
	struct tl_choice __rcu *choice; /* its state is that of a new place, or of all places if none are remembered */
	struct tl_places *places; /* with a policy that remembers */
};

struct tl_resend_net {
	spinlock_t lock; /* protects `places` and its entries */
	struct tl_places *places; /* NULL: off; also looked at without the lock */
};

/* The state of a network namespace. */
struct tl_net {
	struct tl_settings settings;
	struct tl_log log;
	struct tl_choice __rcu *estimator, *loss, *resend;
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

/* One connection: behind the pointer at the tail of the congestion control's private area. RTOs and
 * moments are in jiffies. */
struct tl_connection {
	const struct tl_kernel_estimator *estimator; /* NULL: stock, which writes nothing and logs the kernel's values */
	struct kmem_cache *cache; /* from which this is allocated; NULL: none */
	struct tl_loss *loss; /* NULL: the base responds to losses */
	struct tl_resend *resend; /* NULL: the RTO is the estimator's */
	u32 id;
	u32 records;        /* written to the log, so that its reader sees a gap */
	u32 srtt_before;    /* tp->srtt_us before the kernel's estimator ran */
	u32 stock_rto;      /* the kernel's own RTO after the last sample, not backed off */
	u32 rto;            /* the estimator's RTO, with the kernel's backoff; 0: none yet */
	u32 armed_rto;      /* the value of icsk_rto while this ACK arms the timer */
	u32 armed_at;
	u32 pacing_delay;   /* which the kernel adds */
	u32 timeout_before; /* when the timer would have fired without this ACK */
	u32 stamp;          /* tp->snd_cwnd_stamp, and the value that is shown instead of it */
	u32 stamp_shown;
	s32 rtt_us;         /* the last ACK's sample */
	bool stamp_held;
	bool ours;          /* icsk_rto is the estimator's */
	bool unchecked;     /* the arming of the last ACK has not been looked at */
	bool fast_open;     /* the handshake's sample may come after data */
	bool sets_srtt;
	bool logs;
	bool measures;
	bool reports; /* whether it reports to its place */
	struct tl_answer answer;
	u64 state[];
};

/* In the private area, from `init` to the connection's first data: the log begins then. */
struct tl_startup_decision {
	u32 took_us;
	u32 iw, ssthresh; /* segments */
	u32 whole_iw, whole_ssthresh; /* the windows without losses in the handshake; 0: no decision */
	u8 policy; /* 1 + the index in tl_kernel_startups; 0: stock */
	u8 resends, retransmitted; /* up to 255 */
	u8 loss : 4, passive : 1;
};

/* Data segments that the place knows of, if it remembers any. */
struct tl_startup_reported {
	u32 sent, resent;
};

/* The tail of the private area: the three bases use at most 60 of its 104 bytes (Linux 6.1). */
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

/* The pointer's value until the connection's first data, at which it starts. */
#define TL_LATER ((struct tl_connection *)1)

/* NULL before init (the area is zeroed), before the first data, after release, where nothing is set
 * and where there was no memory. */
static inline struct tl_connection *tl_connection(const struct sock *sk)
{
	struct tl_connection *c = tl_private(sk)->connection;

	return c == TL_LATER ? NULL : c;
}

/* Returns the connection of a socket that uses us; else NULL. */
static inline struct tl_connection *tl_connection_of(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_ops->owner == THIS_MODULE ? tl_connection(sk) : NULL;
}

#endif
