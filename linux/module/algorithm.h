/* SPDX-License-Identifier: GPL-2.0-only */
/* What the core's algorithms of every kind have in common: a name, parameters, a state. */
#ifndef TCPLEARN_MODULE_ALGORITHM_H
#define TCPLEARN_MODULE_ALGORITHM_H

#include <linux/errno.h>
#include <linux/types.h>

#include <tcplearn/params.h>

struct tl_algorithm {
	const char *name;
	const char *const *keys; /* of the parameters, in the order of their indices */
	u32 key_count;
	void (*defaults)(void *params);
	int (*set)(void *params, u32 index, s64 q30); /* any type, with 30 fractional bits */
	u32 (*state_bytes)(const void *params);
	void (*init)(void *state, const void *params);
};

/* -EINVAL: no such key, or out of range. */
static inline int tl_algorithm_set(const struct tl_algorithm *a, void *params, const char *key, s64 q30)
{
	return a->set(params, tl_param_index(a->keys, a->key_count, key), q30) ? -EINVAL : 0;
}

/* Of the core's ID; `defaults`: its own, or a preset's. */
#define TL_ALGORITHM(id, label, defaults) \
	{ label, id##_keys, ARRAY_SIZE(id##_keys), defaults, tl_wrap_set_##id##_fix, tl_wrap_state_bytes_##id##_fix, \
	  tl_wrap_init_##id##_fix }

#endif
