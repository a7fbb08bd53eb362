/* SPDX-License-Identifier: GPL-2.0-only */
/* The resend policies' part of vectors.c: its lines that begin with w, and what is shown of them. */
#ifndef TCPLEARN_VECTORS_RESEND_H
#define TCPLEARN_VECTORS_RESEND_H

#include <linux/seq_file.h>

int tl_resend_vectors_init(void);
void tl_resend_vectors_exit(void);
int tl_resend_line(char *text);
void tl_resend_show(struct seq_file *out);

#endif
