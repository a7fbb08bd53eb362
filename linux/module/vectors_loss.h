/* SPDX-License-Identifier: GPL-2.0-only */
/* The classifiers' part of vectors.c: its lines that begin with l, and what is shown of them. */
#ifndef TCPLEARN_VECTORS_LOSS_H
#define TCPLEARN_VECTORS_LOSS_H

#include <linux/seq_file.h>

int tl_loss_vectors_init(void);
void tl_loss_vectors_exit(void);
int tl_loss_line(char *text);
void tl_loss_show(struct seq_file *out);

#endif
