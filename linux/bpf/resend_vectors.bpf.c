/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Runs golden vectors (inputs with expected outputs) of the resend policy `priced` through the functions of
 * live_policy.h, compiled for BPF and in the kernel. Each run of the program (BPF_PROG_TEST_RUN) is one
 * event, and the program writes the policy's answer to its context. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "live_policy.h"

enum { DEFAULTS, SET, START, NEXT, SEND, TIMER, ACK };

struct event {
	uint32_t kind;
	uint32_t probe;  /* of the answer */
	int64_t wait_us; /* of the answer */
	int64_t time_us; /* SET: the parameter's value, with 30 fractional bits */
	int64_t rtt_us;
	uint32_t out_segments; /* SET: the parameter's index */
	uint32_t answers;
};

/* Element 0 is the current connection, element 1 the connection before it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, uint32_t);
	__type(value, tl_live_policy);
} connections SEC(".maps");

SEC("syscall")
int play(struct event *e)
{
	const uint32_t zero = 0, one = 1;
	tl_live_policy *now = bpf_map_lookup_elem(&connections, &zero);
	tl_live_policy *earlier = bpf_map_lookup_elem(&connections, &one);
	struct tl_resend_event in = { .time_us = e->time_us, .out_segments = e->out_segments };
	struct tl_resend_ack ack = { .time_us = e->time_us,
				     .rtt_us = e->rtt_us,
				     .out_segments = e->out_segments,
				     .answers = e->answers };
	struct tl_resend_wait out = { 0 };

	if (!now || !earlier)
		return 1;
	switch (e->kind) {
	case DEFAULTS: tl_resend_priced_defaults_fix(&now->params); break;
	case SET: return tl_wrap_set_resend_priced_fix(&now->params, e->out_segments, e->time_us) ? 1 : 0;
	case START: live_policy_start(now); break;
	case NEXT:
		*earlier = *now;
		live_policy_start(now);
		live_policy_inherit(now, earlier);
		break;
	case SEND: live_policy_send(now, &in, &out); break;
	case TIMER: live_policy_timer(now, &in, &out); break;
	default: live_policy_ack(now, &ack, &out); break;
	}
	e->wait_us = out.wait_us;
	e->probe = out.probe;
	return 0;
}

char _license[] SEC("license") = "GPL";
