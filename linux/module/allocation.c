// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "allocation.h"

#ifdef TL_FAIL_ALLOC
static int fail_alloc;
module_param(fail_alloc, int, 0644);
MODULE_PARM_DESC(fail_alloc, "which allocation from now on fails, once; it counts down to 0");

bool tl_alloc_fails(void)
{
	return fail_alloc > 0 && --fail_alloc == 0;
}
#endif

void *tl_alloc(const struct sock *sk, struct kmem_cache *cache, size_t bytes)
{
	/* the socket's lock is held, sometimes in softirq */
	const gfp_t how = GFP_ATOMIC | __GFP_NOWARN;
#ifdef CONFIG_MEMCG
	struct mem_cgroup *before = set_active_memcg(sk->sk_memcg);
#endif
	void *c = TL_ALLOC(cache ? kmem_cache_zalloc(cache, how) : kzalloc(bytes, how | __GFP_ACCOUNT));

#ifdef CONFIG_MEMCG
	set_active_memcg(before);
#endif
	return c;
}
