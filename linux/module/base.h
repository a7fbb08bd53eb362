/* SPDX-License-Identifier: GPL-2.0-only */
/* The congestion controls of the kernel over which the module's run. */
#ifndef TCPLEARN_MODULE_BASE_H
#define TCPLEARN_MODULE_BASE_H

struct tcp_congestion_ops;

/* Returns the operations of the base congestion control (reno, cubic or vegas) and pins its module; NULL
 * if this kernel does not have the base, or if it may not be used. */
const struct tcp_congestion_ops *tl_base_find(const char *name);

#endif
