/* SPDX-License-Identifier: GPL-2.0-only */
/* The loss classifier of a connection: it observes each ACK, decides at a fast retransmit, and its
 * decision changes the congestion window. */
#ifndef TCPLEARN_LOSS_MODULE_H
#define TCPLEARN_LOSS_MODULE_H

#include "loss_classifiers.h"
#include "state.h"

struct tl_loss {
	const struct tl_kernel_loss *classifier;
	struct tl_own_model *own; /* the state points to its weights; NULL: none */
	u32 cwnd, ssthresh; /* values in segments before the current recovery, while the window is kept */
	u32 acked; /* snd_una after the last ACK */
	bool begun; /* the cause for the recovery that is about to begin was decided */
	bool keeps; /* the current recovery keeps the window */
	bool undoable; /* it is not known yet whether the last recovery was for a real loss */
	u8 flags; /* flags of the last ACK, for its record */
	u64 state[];
};

static inline u8 tl_loss_ack_flags(const struct tl_connection *c)
{
	return c->loss ? c->loss->flags : 0;
}

/* loss.c */
int tl_loss_init(void);
void tl_loss_exit(void);
void tl_loss_start(struct sock *sk, struct tl_connection *c);
void tl_loss_free(struct tl_connection *c);
void tl_loss_ack(const struct sock *sk, struct tl_connection *c, const struct ack_sample *sample);
u32 tl_loss_ssthresh(struct sock *sk, struct tl_connection *c, const struct tcp_congestion_ops *base);
/* called before the base's own set_state, and before the state changes */
void tl_loss_set_state(struct sock *sk, struct tl_connection *c, const struct tcp_congestion_ops *base, u8 state);
void tl_loss_recovery_over(struct sock *sk, struct tl_connection *c); /* called at CA_EVENT_COMPLETE_CWR */

#endif
