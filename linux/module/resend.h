/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets when a connection retransmits by one of the core's resend policies, instead of by an RTO. */
#ifndef TCPLEARN_RESEND_MODULE_H
#define TCPLEARN_RESEND_MODULE_H

#include "resend_policies.h"
#include "state.h"

/* With the largest state it has 576 bytes, whole cache lines. */
struct tl_resend {
	u32 resent_at; /* first retransmission by the timer since the last ACK of new data, as a timestamp (RFC 7323) */
	u32 answer_us; /* the policy's last answer that began a wait */
	u32 floor_us; /* a configured rto_min when the first wait began; 0: none */
	u32 delivered; /* tp->delivered after the last ACK */
	u8 policy; /* index in tl_kernel_resends */
	u8 timeouts; /* since the last RTT sample: how often the stock kernel would have doubled its RTO */
	bool resent;
	u64 state[];
};

static inline const struct tl_kernel_resend *tl_resend_policy(const struct tl_resend *r)
{
	return &tl_kernel_resends[r->policy];
}

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
/* Called when the retransmission timer has fired, or an ICMP error takes its place; the kernel doubles
 * icsk_rto after this call. */
void tl_resend_timeout(struct sock *sk, struct tl_connection *c);

/* Returns whether the kernel sends tail loss probes, by the conditions of tcp_schedule_loss_probe: SACK
 * and the sysctl. Its condition on the connection's state is left out: during loss recovery, the kernel's
 * RTO should apply. */
bool tl_resend_kernel_probes(const struct sock *sk);
/* Returns whether a probe's timer has fired and is being served, and the probe will be new data. There is
 * no second probe while one is outstanding. */
bool tl_resend_probes_with_new_data(const struct sock *sk);
/* Begins or ends the calls of a probe of the tracepoint tcp_retransmit_skb. */
int tl_resend_watch(void *probe, bool on);

#endif
