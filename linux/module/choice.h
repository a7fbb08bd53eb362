/* SPDX-License-Identifier: GPL-2.0-only */
/* An algorithm with its parameters, chosen for a network namespace. */
#ifndef TCPLEARN_MODULE_CHOICE_H
#define TCPLEARN_MODULE_CHOICE_H

#include <linux/rcupdate.h>

#include "algorithm.h"
#include "kernel_versions.h"

/* What such a setting says, in longer than the longest name with all of its parameters. */
#define TL_CHOICE_TEXT_BYTES 256

/* Of a network namespace, replaced as a whole. */
struct tl_choice {
	struct rcu_head rcu;
	const struct tl_algorithm *algorithm;
	u32 bytes;
	char text[TL_CHOICE_TEXT_BYTES]; /* as it was written */
	u64 blank[]; /* a state as init leaves it */
};

/* What can be chosen, beside "none". */
struct tl_kind_of {
	u32 (*count)(void);
	const struct tl_algorithm *(*at)(u32 i);
};

/* Of a sysctl whose `data` is the choice and whose `extra2` is the kind. */
int tl_do_choice(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position);
int tl_do_available_choices(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position);
/* A new connection's memory from that slab, the state of what is chosen behind its first `state_at` bytes. NULL:
 * nothing is chosen, or there is no memory, which is counted. */
struct tl_choice_start {
	const struct tl_algorithm *algorithm;
	void *memory;
};
struct tl_choice_start tl_choice_start(const struct sock *sk, struct tl_choice __rcu **of, struct kmem_cache *cache,
				       size_t state_at);
void tl_choice_free(struct tl_choice __rcu **choice); /* nobody reads it any more */

#endif
