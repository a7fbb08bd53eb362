/* SPDX-License-Identifier: GPL-2.0-only */
/* The algorithm that a setting of a network namespace chooses, for example "conformal:miss=0.001". */
#ifndef TCPLEARN_MODULE_CHOICE_H
#define TCPLEARN_MODULE_CHOICE_H

#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>

#include <tcplearn/algorithm.h>

#include "kernel_versions.h"

/* Size of a setting's value, and of its text in the log. */
#define TL_CHOICE_TEXT_BYTES 256

/* The algorithm that a setting has chosen. A new choice replaces the whole struct. */
struct tl_choice {
	struct rcu_head rcu;
	const struct tl_algorithm *algorithm;
	u32 bytes;
	char text[TL_CHOICE_TEXT_BYTES]; /* the text that was written to the setting */
	u64 blank[]; /* the algorithm's state after init */
};

/* The possible values of a setting: the algorithms of a kind, or the word `nothing` for none. */
struct tl_choosable {
	const struct tl_kind kind;
	const char *nothing;
};

/* Defines a tl_choosable from a table of the kind's entries. */
#define TL_CHOOSABLE(name, table, title, key, nothing) \
	static const struct tl_algorithm *name##_at(u32 i) \
	{ \
		return &table[i].algorithm; \
	} \
	const struct tl_choosable name = { { title, key, ARRAY_SIZE(table), name##_at }, nothing }

int tl_may_write(void); /* returns 0, or -EPERM */
/* Handlers of the sysctls that choose an algorithm. For tl_do_choice, `data` is the choice and `extra2` its
 * tl_choosable. */
int tl_do_choice(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position);
int tl_do_available_choices(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position);
/* Handler like tl_do_choice, but it passes a new choice to `put`, which replaces the earlier choice and frees
 * it. */
int tl_do_choice_by(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position,
		    struct tl_choice __rcu **place, int (*put)(void *of, struct tl_choice *choice), void *of);
/* The start of a connection: memory from a slab, with a copy of the chosen algorithm's state after the
 * first `state_at` bytes. The memory is NULL if nothing is chosen, or if the allocation failed, which is
 * counted. */
struct tl_choice_start {
	const struct tl_algorithm *algorithm;
	void *memory;
};
struct tl_choice_start tl_choice_start(const struct sock *sk, struct tl_choice __rcu **of, struct kmem_cache *cache,
				       size_t state_at);
/* Frees a choice that nobody replaces any more. There may be readers: sockets of the kernel hold no reference
 * to their namespace. */
void tl_choice_free(struct tl_choice __rcu **choice);

#endif
