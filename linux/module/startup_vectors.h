/* SPDX-License-Identifier: GPL-2.0-only */
/* The golden vectors of startup policies, of the test module. */
#ifndef TCPLEARN_MODULE_STARTUP_VECTORS_H
#define TCPLEARN_MODULE_STARTUP_VECTORS_H

struct seq_file;
int tl_startup_vectors_line(char *text); /* -EINVAL: not understood */
void tl_startup_vectors_show(struct seq_file *out);

#endif
