/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Bounds the backoff of the RTO, where the kernel can (TCP_RTO_MAX_MS, Linux 6.15). Linux doubles each wait,
 * so after an outage the last wait may go on for as long as the outage lasted. A bounded wait is at most a
 * sixth of the time since the timer was first armed. But the bound is at least a second (the kernel takes no
 * shorter one) and at least the wait before it. So waits still grow exponentially (RFC 8961, 4), by a sixth
 * instead of doubling (RFC 6298, 5.5).
 *
 * The kernel gives a peer up after the time that tcp_retries2 waits would take with the bound in force.
 * Therefore waits are bounded in the first 16 s only, and only if tcp_retries2 is 10 or more (Linux has 15,
 * and RFC 1122, 4.2.3.5, asks for some 8): then a peer is not given up earlier than without a bound. */
#ifndef TCPLEARN_BPF_LIVE_BACKOFF_H
#define TCPLEARN_BPF_LIVE_BACKOFF_H

#include "live_scene.h"

#define TL_BOUND_LEAST_MS 1000
#define TL_BOUND_PART 6
#define TL_BOUND_UNTIL_MS 16000
#define TL_BOUND_RETRIES 10

static __always_inline void set_bound(const struct scene *at, struct connection *c, uint32_t ms)
{
	int value = (int)ms;

	if (bpf_setsockopt(at->ctx, TL_SOL_TCP, TL_TCP_RTO_MAX_MS, &value, sizeof(value)))
		COUNT(at, bounds_refused);
	else
		c->bound_ms = ms;
}

/* Bounds the wait that follows a timeout. `before` is the number of timeouts in a row before this one. */
static __always_inline void bound_backoff(const struct scene *at, struct connection *c, uint32_t before)
{
	const struct inet_connection_sock *icsk = &at->tp->inet_conn;
	const uint64_t now_us = at->tp->tcp_mstamp;
	const uint32_t rto_ms = us_of(at, icsk->icsk_rto) / 1000 + 1;
	uint32_t silent_ms, ms;

	if (!at->settings->bounds_backoff || !bpf_core_field_exists(icsk->icsk_rto_max) ||
	    icsk->icsk_inet.sk.__sk_common.skc_net.net->ipv4.sysctl_tcp_retries2 < TL_BOUND_RETRIES)
		return;
	if (before == 0 || c->silent_us == 0) {
		c->silent_us = now_us - us_of(at, icsk->icsk_rto);
		if (c->bound_ms == 0)
			c->own_bound_ms = us_of(at, icsk->icsk_rto_max) / 1000;
	}
	silent_ms = (uint32_t)((now_us - c->silent_us) / 1000);
	ms = silent_ms / TL_BOUND_PART;
	ms = ms > TL_BOUND_LEAST_MS ? ms : TL_BOUND_LEAST_MS;
	ms = ms > rto_ms ? ms : rto_ms;
	if (silent_ms > TL_BOUND_UNTIL_MS || ms > c->own_bound_ms)
		ms = c->own_bound_ms;
	if (ms != (c->bound_ms ? c->bound_ms : c->own_bound_ms))
		set_bound(at, c, ms);
	COUNT(at, waits_bounded);
}

/* Restores the kernel's own bound after an answer. */
static __always_inline void end_backoff(const struct scene *at, struct connection *c)
{
	c->silent_us = 0;
	if (c->bound_ms && c->bound_ms != c->own_bound_ms)
		set_bound(at, c, c->own_bound_ms);
}

#endif
