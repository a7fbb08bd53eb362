// SPDX-License-Identifier: GPL-2.0-only
/* Finds the operations of a base congestion control. They are not exported, so they are taken from a socket
 * of the kernel that uses the base. */
#include <linux/bpf.h>
#include <linux/net.h>

#include "allocation.h"
#include "base.h"
#include "state.h"

#define TL_MARK 0xa5 /* fills a private area to see what is written to it */

/* Returns whether a base may be used. A BPF program can have registered the name of a congestion control that
 * this kernel lacks: its owner is no module, and cannot be pinned. And the base must keep within its part of
 * the private area; no header has its size, so its `init` is run over a marked area. */
static bool tl_base_fits(struct sock *sk, const struct tcp_congestion_ops *base)
{
	u8 *area = inet_csk_ca(sk);

#ifdef BPF_MODULE_OWNER
	if (base->owner == BPF_MODULE_OWNER)
		return false;
#endif
	lock_sock(sk);
	memset(area, TL_MARK, ICSK_CA_PRIV_SIZE);
	if (base->init)
		base->init(sk);
	release_sock(sk);
	return !memchr_inv(area + TL_BASE_BYTES, TL_MARK, ICSK_CA_PRIV_SIZE - TL_BASE_BYTES);
}

const struct tcp_congestion_ops *tl_base_find(const char *name)
{
	const struct tcp_congestion_ops *base = NULL;
	struct socket *socket;

	if (TL_ALLOC_ERROR(sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &socket)))
		return NULL;
	if (!socket->ops->setsockopt(socket, SOL_TCP, TCP_CONGESTION, KERNEL_SOCKPTR((void *)name), strlen(name))) {
		base = inet_csk(socket->sk)->icsk_ca_ops;
		if (!tl_base_fits(socket->sk, base) || !try_module_get(base->owner))
			base = NULL;
	}
	sock_release(socket);
	return base;
}
