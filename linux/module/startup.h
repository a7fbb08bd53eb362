/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets a connection's first windows by what its handshake lost, in the congestion control's `init`. */
#ifndef TCPLEARN_MODULE_STARTUP_H
#define TCPLEARN_MODULE_STARTUP_H

#include "state.h"

void tl_startup_net_init(struct tl_startup_net *of);
void tl_startup_net_exit(struct tl_startup_net *of);
int tl_do_startup(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position);

bool tl_startup_remembers(const struct net *net);
/* With `wanted`, the handshake is recorded even if no startup policy is set. */
void tl_startup_begin(struct sock *sk, struct tl_startup_decision *out, bool wanted);
void tl_startup_report(const struct sock *sk, struct tl_startup_reported *so_far, bool last);
void tl_log_startup(const struct sock *sk, struct tl_connection *c, const struct tl_startup_decision *d);

#endif
