/* SPDX-License-Identifier: GPL-2.0-only */
/* All allocations of the module, so that a test can make each of them fail in turn (make FAIL_ALLOC=y,
 * and the parameter fail_alloc). In other builds the macros have no effect. */
#ifndef TCPLEARN_ALLOCATION_H
#define TCPLEARN_ALLOCATION_H

#include <linux/err.h>
#include <linux/types.h>

#ifdef TL_FAIL_ALLOC
bool tl_alloc_fails(void);
#else
static inline bool tl_alloc_fails(void)
{
	return false;
}
#endif

struct kmem_cache;
struct sock;

/* Allocates zeroed memory and charges it to the socket's cgroup, whatever the current context is. If
 * `cache` is NULL, allocates `bytes` bytes. */
void *tl_alloc(const struct sock *sk, struct kmem_cache *cache, size_t bytes);

#define TL_ALLOC(pointer) (tl_alloc_fails() ? NULL : (pointer))
#define TL_ALLOC_ERR_PTR(pointer) (tl_alloc_fails() ? ERR_PTR(-ENOMEM) : (pointer))
#define TL_ALLOC_ERROR(error) (tl_alloc_fails() ? -ENOMEM : (error))

#endif
