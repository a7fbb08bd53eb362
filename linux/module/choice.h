/* SPDX-License-Identifier: GPL-2.0-only */
/* An algorithm with its parameters, chosen for a network namespace: "conformal:miss=0.001". */
#ifndef TCPLEARN_MODULE_CHOICE_H
#define TCPLEARN_MODULE_CHOICE_H

#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>

#include <tcplearn/algorithm.h>

#include "kernel_versions.h"

/* The value of such a setting, and its text in the log. */
#define TL_CHOICE_TEXT_BYTES 256

/* The choice of a network namespace, replaced as a whole. */
struct tl_choice {
	struct rcu_head rcu;
	const struct tl_algorithm *algorithm;
	u32 bytes;
	char text[TL_CHOICE_TEXT_BYTES]; /* as it was written */
	u64 blank[]; /* a state after init */
};

/* The values of a setting: an algorithm of a kind, or this word for none of them. */
struct tl_choosable {
	const struct tl_kind kind;
	const char *nothing;
};

/* From a table of a kind's entries. */
#define TL_CHOOSABLE(name, table, title, key, nothing) \
	static const struct tl_algorithm *name##_at(u32 i) \
	{ \
		return &table[i].algorithm; \
	} \
	const struct tl_choosable name = { { title, key, ARRAY_SIZE(table), name##_at }, nothing }

int tl_may_write(void); /* a setting: -EPERM */
/* The handler of a sysctl whose `data` is the choice and whose `extra2` has its possible values. */
int tl_do_choice(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position);
int tl_do_available_choices(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position);
/* The same with another action on a new choice: `put` replaces the earlier choice, and frees it. */
int tl_do_choice_by(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position,
		    struct tl_choice __rcu **place, int (*put)(void *of, struct tl_choice *choice), void *of);
/* A new connection's memory from that slab, with the state of the choice after its first `state_at` bytes. NULL:
 * nothing is chosen, or there is no memory, which is counted. */
struct tl_choice_start {
	const struct tl_algorithm *algorithm;
	void *memory;
};
struct tl_choice_start tl_choice_start(const struct sock *sk, struct tl_choice __rcu **of, struct kmem_cache *cache,
				       size_t state_at);
void tl_choice_free(struct tl_choice __rcu **choice); /* it has no readers any more */

#endif
