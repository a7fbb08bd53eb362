/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Computes how long Linux continues an unanswered handshake, and how many retries keep that time when the
 * first RTO is shorter. Linux gives up after a number of timeouts, not after a time: with a first RTO of
 * 100 ms instead of 1 s, the same number of timeouts takes a tenth of the time. Times are in ticks of the
 * kernel's clock (CONFIG_HZ), at most 2^28. */
#ifndef TCPLEARN_GIVE_UP_H
#define TCPLEARN_GIVE_UP_H

#include "deps.h"

/* MAX_TCP_SYNCNT: the maximum of TCP_SYNCNT and of the sysctls tcp_syn_retries and tcp_synack_retries. */
#define TL_RETRIES_MAX 127
/* The most SYNs to an unreachable host that tl_plan_syn() adds to those of an unmodified kernel. */
#define TL_MORE_SYNS 7
/* The shortest first RTO. From a first RTO of 1 tick to one of 2 ticks, the time until Linux gives up may
 * jump from below the allowed range (tl_allowed_ticks) to above it. */
#define TL_FIRST_TICKS_MIN 2

/* The kernel settings that apply to a handshake. */
struct tl_retry_limits {
	uint32_t second_ticks; /* first RTO of an unmodified kernel, one second: CONFIG_HZ, 24 to 1,200 */
	uint32_t max_ticks;    /* longest RTO, 1 s to 120 s */
	uint32_t linear; /* net.ipv4.tcp_syn_linear_timeouts, 0 to 127; 0 before Linux 6.5 and for SYN-ACKs */
	uint32_t retries; /* 1 to 127 */
};

/* The outcome of a handshake that is never answered. */
struct tl_vain_handshake {
	uint32_t ticks;   /* time until the kernel gives up */
	uint32_t packets; /* SYNs or SYN-ACKs sent */
};

struct tl_syn_plan {
	uint32_t first_ticks, retries;
};

/* A range in ticks, of the first RTO or of the time until Linux gives up. */
struct tl_first_ticks {
	uint32_t low, high;
};

/* Returns floor(log2 x) for x from 1 to 2^31 - 1. The code has no branches, since the BPF verifier would
 * follow both sides of each; clang has no __builtin_clz for BPF. */
TL_FN uint32_t tl_log2(uint32_t x)
{
	uint32_t out = 0, bits;

	bits = ((0xffffu - x) >> 31) << 4;
	x >>= bits;
	out += bits;
	bits = ((0xffu - x) >> 31) << 3;
	x >>= bits;
	out += bits;
	bits = ((0xfu - x) >> 31) << 2;
	x >>= bits;
	out += bits;
	bits = ((3u - x) >> 31) << 1;
	x >>= bits;
	return out + bits + (x >> 1);
}

/* Returns the total time of a first timeout of `first` ticks and `more` further timeouts. Each timeout is
 * twice the one before, up to the longest RTO (the kernel's tcp_model_timeout). */
TL_FN uint32_t tl_doubled_ticks(const struct tl_retry_limits *h, uint32_t first, uint32_t more)
{
	const uint32_t below = tl_log2(h->max_ticks / first);

	if (more <= below)
		return ((2u << more) - 1) * first;
	return ((2u << below) - 1) * first + (more - below) * h->max_ticks;
}

/* Returns the smallest number of further timeouts for which tl_doubled_ticks() is at least `ticks`. */
TL_FN uint32_t tl_doublings(const struct tl_retry_limits *h, uint32_t first, uint32_t ticks)
{
	const uint32_t below = tl_log2(h->max_ticks / first), doubled = ((2u << below) - 1) * first;

	if (ticks <= doubled)
		return tl_log2((ticks + first - 1) / first);
	return below + (ticks - doubled + h->max_ticks - 1) / h->max_ticks;
}

/* Computes when Linux gives up a SYN (the kernel's tcp_write_timeout). Linux gives up at the first
 * timeout after the time that `retries` doubled timeouts would take. The first `linear` timeouts are not
 * doubled (tcp_retransmit_timer), so more timeouts fit in that time. */
TL_FN void tl_unanswered(const struct tl_retry_limits *h, uint32_t first, uint32_t retries,
			 struct tl_vain_handshake *out)
{
	const uint32_t goal = tl_doubled_ticks(h, first, retries), linear = h->linear * first;

	if (linear + first >= goal) {
		out->packets = (goal + first - 1) / first;
		out->ticks = out->packets * first;
	} else {
		const uint32_t doublings = tl_doublings(h, first, goal - linear);

		out->packets = h->linear + 1 + doublings;
		out->ticks = linear + tl_doubled_ticks(h, first, doublings);
	}
}

/* Computes the allowed range of the time until giving up, from `stock`, the time that an unmodified
 * kernel takes. The aim is at least this time and at most twice this time. Any timer may be late by up to
 * an eighth (the steps of the kernel's timer wheel), so the range is 9/8 of `stock` to 8/9 of twice
 * `stock`. */
TL_FN void tl_allowed_ticks(uint32_t stock, struct tl_first_ticks *out)
{
	out->low = stock + (stock + 7) / 8;
	out->high = 16 * stock / 9;
}

/* Returns the shortest first RTO, between `from` and one second, with which a handshake is not given up
 * before `ticks`; one second if there is no such RTO. */
TL_FN uint32_t tl_least_first(const struct tl_retry_limits *h, uint32_t from, uint32_t retries,
			      uint32_t ticks)
{
	uint32_t low = from, high = h->second_ticks;
	struct tl_vain_handshake lasts;
	int k;

	for (k = 0; k < 11 && low < high; k++) { /* 2^11 > 1200 */
		const uint32_t middle = (low + high) / 2;

		tl_unanswered(h, middle, retries, &lasts);
		if (lasts.ticks >= ticks)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Chooses the first RTO and the number of retries of a SYN. The first RTO is the learned RTO, or the
 * shortest longer one, that meets two conditions: the time until giving up is between that of an
 * unmodified kernel and twice that time, and at most TL_MORE_SYNS more SYNs are sent. If no first RTO
 * meets them, the plan is one second and the unmodified number of retries. */
TL_FN void tl_plan_syn(const struct tl_retry_limits *h, uint32_t learned_ticks, struct tl_syn_plan *plan)
{
	struct tl_vain_handshake stock, lasts;
	struct tl_first_ticks allowed;
	uint32_t first = learned_ticks < TL_FIRST_TICKS_MIN ? TL_FIRST_TICKS_MIN : learned_ticks;
	uint32_t most, retries = h->retries;
	int k;

	plan->first_ticks = h->second_ticks;
	plan->retries = h->retries;
	if (first >= h->second_ticks)
		return;
	tl_unanswered(h, h->second_ticks, h->retries, &stock);
	tl_allowed_ticks(stock.ticks, &allowed);
	most = stock.packets + TL_MORE_SYNS;
	for (k = 0; k <= TL_MORE_SYNS && h->retries + (uint32_t)k <= TL_RETRIES_MAX; k++) {
		tl_unanswered(h, first, h->retries + (uint32_t)k, &lasts);
		if (lasts.ticks > allowed.high || lasts.packets > most)
			break;
		retries = h->retries + (uint32_t)k;
		if (lasts.ticks >= allowed.low)
			break;
	}
	first = tl_least_first(h, first, retries, allowed.low);
	tl_unanswered(h, first, retries, &lasts);
	if (lasts.ticks >= allowed.low && lasts.ticks <= allowed.high && lasts.packets <= most) {
		plan->first_ticks = first;
		plan->retries = retries;
	}
}

/* Computes the range of first RTOs that a listener's SYN-ACKs may have with one retry more than
 * `h->retries` (`h->linear` is 0). The range spans less than a factor of two, because all requests of a
 * listener have the same number of retries. Returns 0 if there is no such range; the listener is then
 * left unchanged. */
TL_FN int tl_plan_listener(const struct tl_retry_limits *h, struct tl_first_ticks *out)
{
	struct tl_vain_handshake stock, lasts;
	struct tl_first_ticks allowed;

	if (h->retries == 0 || h->retries >= TL_RETRIES_MAX)
		return 0;
	tl_unanswered(h, h->second_ticks, h->retries, &stock);
	tl_allowed_ticks(stock.ticks, &allowed);
	out->low = tl_least_first(h, TL_FIRST_TICKS_MIN, h->retries + 1, allowed.low);
	out->high = tl_least_first(h, out->low, h->retries + 1, allowed.high + 1) - 1;
	tl_unanswered(h, out->low, h->retries + 1, &lasts);
	return lasts.ticks >= allowed.low && out->low <= out->high;
}

#endif
