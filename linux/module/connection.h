/* SPDX-License-Identifier: GPL-2.0-only */
/* One connection: its memory, the ACKs it receives and the segments it sends. */
#ifndef TCPLEARN_MODULE_CONNECTION_H
#define TCPLEARN_MODULE_CONNECTION_H

#include "state.h"

int tl_connection_init(void);
void tl_connection_exit(void);
/* Returns NULL if allocation fails. Writes the chosen estimator to `spec` (TL_CHOICE_TEXT_BYTES). */
struct tl_connection *tl_connection_new(struct sock *sk, char *spec);
void tl_connection_free(struct tl_connection *c);
void tl_connection_handshake(struct sock *sk, struct tl_connection *c);
void tl_connection_ack(struct sock *sk, struct tl_connection *c, const struct ack_sample *sample);
/* Called when a segment is about to leave, and to start the timer, while nothing is in flight. */
void tl_connection_tx_start(struct sock *sk, struct tl_connection *c);
/* called before any segments are sent */
void tl_connection_before_send(struct sock *sk, struct tl_connection *c);

#endif
