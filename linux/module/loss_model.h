/* SPDX-License-Identifier: GPL-2.0-only */
/* The administrator's own weights for loss classifiers with `model=own`: the sysctl net.tcplearn.loss_model of
 * a network namespace. A connection keeps the weights with which it began. */
#ifndef TCPLEARN_MODULE_LOSS_MODEL_H
#define TCPLEARN_MODULE_LOSS_MODEL_H

#include "state.h"

/* Gives the state of a loss classifier, after init, the weights of the namespace. Returns a reference to them,
 * or NULL if there are none. */
struct tl_own_model *tl_own_model_get(const struct net *net, void *state);
void tl_own_model_put(struct tl_own_model *model); /* `model` may be NULL */

int tl_do_loss_model(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position);
void tl_loss_model_net_exit(struct tl_net *tl);

#endif
