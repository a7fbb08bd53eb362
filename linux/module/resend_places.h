/* SPDX-License-Identifier: GPL-2.0-only */
/* net.tcplearn.resend_places: what resend policies learned, kept by place for the connections to come. */
#ifndef TCPLEARN_RESEND_PLACES_H
#define TCPLEARN_RESEND_PLACES_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct net;
struct sock;
struct tl_places;
struct tl_resend;

/* Of one network namespace. */
struct tl_resend_net {
	spinlock_t lock; /* of `places` and what is in it */
	struct tl_places *places; /* NULL: off; also looked at without the lock */
};

void tl_resend_net_init(struct tl_resend_net *of);
void tl_resend_net_exit(struct tl_resend_net *of);
/* What was known is forgotten either way. */
int tl_resend_places_switch(struct tl_resend_net *of, bool on);
/* A connection begins, and ends. */
void tl_resend_inherit(const struct sock *sk, struct tl_resend *r);
void tl_resend_remember(const struct sock *sk, const struct tl_resend *r);

#endif
