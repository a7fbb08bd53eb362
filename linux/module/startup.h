/* SPDX-License-Identifier: GPL-2.0-only */
/* The windows that a connection begins with, by what its handshake lost: decided in `init`. */
#ifndef TCPLEARN_MODULE_STARTUP_H
#define TCPLEARN_MODULE_STARTUP_H

#include <net/tcp.h>

#include "kernel_versions.h"
#include "startups.h"

/* Of one network namespace. */
struct tl_startup_net {
	spinlock_t lock; /* of what follows */
	struct tl_choice __rcu *choice; /* its state is that of a new place, or of all where none are kept */
	struct tl_places *places; /* of a policy that remembers */
};

/* In the private area, from `init` to the connection's first data: the log begins then. */
struct tl_startup_decision {
	u32 took_us;
	u32 iw, ssthresh; /* segments */
	u32 whole_iw, whole_ssthresh; /* what a whole handshake would have begun with; 0: nothing was decided */
	u8 policy; /* 1 + the index in tl_kernel_startups; 0: stock */
	u8 resends, retransmitted; /* up to 255 */
	u8 loss : 4, passive : 1;
};

/* Data segments that the place knows of, if it remembers any. */
struct tl_startup_reported {
	u32 sent, resent;
};

void tl_startup_net_init(struct tl_startup_net *of);
void tl_startup_net_exit(struct tl_startup_net *of);
int tl_do_startup(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position);

struct tl_connection;
bool tl_startup_remembers(const struct net *net);
void tl_startup_begin(struct sock *sk, struct tl_startup_decision *out);
void tl_startup_report(const struct sock *sk, struct tl_startup_reported *so_far, bool last);
void tl_log_startup(const struct sock *sk, struct tl_connection *c, const struct tl_startup_decision *d);

#endif
