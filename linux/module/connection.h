/* SPDX-License-Identifier: GPL-2.0-only */
/* One connection: its memory, its ACKs and its sendings. */
#ifndef TCPLEARN_MODULE_CONNECTION_H
#define TCPLEARN_MODULE_CONNECTION_H

#include "state.h"

int tl_connection_init(void);
void tl_connection_exit(void);
/* NULL: no memory. `spec` (TL_CHOICE_TEXT_BYTES): the estimator as it was chosen. */
struct tl_connection *tl_connection_new(struct sock *sk, char *spec);
void tl_connection_free(struct tl_connection *c);
void tl_connection_handshake(struct sock *sk, struct tl_connection *c);
void tl_connection_ack(struct sock *sk, struct tl_connection *c, const struct ack_sample *sample);
/* The first segment after nothing was out is about to leave and to arm the timer. */
void tl_connection_tx_start(struct sock *sk, struct tl_connection *c);
void tl_connection_before_send(struct sock *sk, struct tl_connection *c); /* before any segments are sent */

#endif
