/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A sock_ops program that is called for the same events as linux/bpf/live.bpf.c and makes as much socket storage for
 * each connection, but does nothing else. For bench/live_load.py. */
#include "../linux/bpf/live_kernel.h"
#include "../linux/bpf/live_scene.h"

SEC("sockops")
int storage(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;

	if (!sk ||
	    (ctx->op != BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB && ctx->op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB))
		return 1;
	bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags | TL_LIVE_EVENTS);
	bpf_sk_storage_get(&connections, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	return 1;
}

char _license[] SEC("license") = "GPL";
