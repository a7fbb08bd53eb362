/* SPDX-License-Identifier: GPL-2.0-only */
/* net.tcplearn.resend_places: what resend policies learned, kept by place for the connections to come. */
#ifndef TCPLEARN_RESEND_PLACES_H
#define TCPLEARN_RESEND_PLACES_H

#include "resend_policies.h"
#include "state.h"

void tl_resend_net_init(struct tl_resend_net *of);
void tl_resend_net_exit(struct tl_resend_net *of);
/* In both cases the earlier state is forgotten. */
int tl_resend_places_switch(struct tl_resend_net *of, bool on);
/* A connection begins, and ends. */
void tl_resend_inherit(const struct sock *sk, const struct tl_kernel_resend *policy, void *state);
void tl_resend_remember(const struct sock *sk, const struct tl_kernel_resend *policy, const void *state);

#endif
