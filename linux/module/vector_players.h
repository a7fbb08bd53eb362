/* SPDX-License-Identifier: GPL-2.0-only */
/* The players with which the reader of golden vectors runs each kind of algorithm in the kernel. */
#ifndef TCPLEARN_VECTOR_PLAYERS_H
#define TCPLEARN_VECTOR_PLAYERS_H

#include <linux/types.h>

#include <tcplearn/vectors.h>

#define TL_VECTOR_KINDS 6

struct tl_vector_kind {
	const char *name; /* the key of the kind, or "loss/features" */
	struct tl_vector_player player;
};

extern const struct tl_vector_kind tl_vector_kinds[TL_VECTOR_KINDS];

int tl_vector_players_init(void); /* allocates their memory */
void tl_vector_players_exit(void);

#endif
