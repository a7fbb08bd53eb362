/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A sock_ops program that does nothing, but is called for the same events as linux/bpf/live.bpf.c: what the kernel
 * counts as its run time is mostly that of its own readings of the clock. For bench/live_load.py. */
#include "../linux/bpf/live_kernel.h"

SEC("sockops")
int empty(struct bpf_sock_ops *ctx)
{
	if (ctx->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB || ctx->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags | TL_LIVE_EVENTS);
	return 1;
}

char _license[] SEC("license") = "GPL";
