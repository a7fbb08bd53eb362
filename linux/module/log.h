/* SPDX-License-Identifier: GPL-2.0-only */
/* The log of a network namespace: a relay buffer in debugfs that exists while the log is on. */
#ifndef TCPLEARN_MODULE_LOG_H
#define TCPLEARN_MODULE_LOG_H

#include "log_format.h"
#include "state.h"

void tl_log_init(void);
void tl_log_exit(void);
int tl_log_switch(const struct net *net, bool on);
void tl_log(const struct sock *sk, struct tl_connection *c, void *record, u16 size, u8 type, u8 flags);
void tl_log_open(const struct sock *sk, struct tl_connection *c, const char *spec);
void tl_log_ack(const struct sock *sk, struct tl_connection *c, const struct ack_sample *sample, u8 flags);
void tl_log_close(const struct sock *sk, struct tl_connection *c);

#endif
