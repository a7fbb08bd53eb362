/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets when a connection retransmits by one of the core's resend policies, instead of by an RTO. */
#ifndef TCPLEARN_RESEND_MODULE_H
#define TCPLEARN_RESEND_MODULE_H

#include "resend_policies.h"
#include "state.h"

struct tl_resend {
	const struct tl_kernel_resend *policy;
	u64 resent_us; /* time of the timer's first retransmission since the last ACK of new data */
	u32 delivered; /* tp->delivered after the last ACK */
	bool resent;
	u64 state[];
};

int tl_resend_init(void);
void tl_resend_exit(void);
void tl_resend_start(struct sock *sk, struct tl_connection *c);
void tl_resend_free(struct tl_connection *c);

/* Called when segments are about to leave, before the kernel arms its timer. */
void tl_resend_send(struct sock *sk, struct tl_connection *c);
/* Takes the RTT sample of the handshake, before any data. */
void tl_resend_handshake(const struct sock *sk, struct tl_connection *c, s32 rtt_us);
/* Takes an ACK, after the kernel's estimator has; rtt_us < 0: no sample. */
void tl_resend_ack(struct sock *sk, struct tl_connection *c, s32 rtt_us);
/* Called when the retransmission timer has fired; the kernel doubles icsk_rto after this call. */
void tl_resend_timeout(struct sock *sk, struct tl_connection *c);

#endif
