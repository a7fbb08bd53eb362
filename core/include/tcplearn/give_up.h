/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How long Linux continues an unanswered handshake, and the number of retries with which a handshake with
 * a shorter first RTO continues as long. Linux gives up after a number of timeouts, not after a time: with
 * a first RTO of 100 ms the same number takes a tenth of the time. Times are ticks of the kernel's clock
 * (CONFIG_HZ), at most 2^28 of them. */
#ifndef TCPLEARN_GIVE_UP_H
#define TCPLEARN_GIVE_UP_H

#include "deps.h"

/* MAX_TCP_SYNCNT: the largest value of TCP_SYNCNT and both sysctls. */
#define TL_RETRIES_MAX 127
/* SYNs to a host that never answers, in addition to those of stock. */
#define TL_MORE_SYNS 7
/* From one tick to the next the time until giving up may jump over the whole allowed range. */
#define TL_FIRST_TICKS_MIN 2

/* The settings in force for a handshake. */
struct tl_retry_limits {
	uint32_t second_ticks; /* stock's first RTO: CONFIG_HZ, 24 to 1,200 */
	uint32_t max_ticks;    /* the longest RTO: a second to 120 s */
	uint32_t linear; /* net.ipv4.tcp_syn_linear_timeouts, 0 to 127; 0 before Linux 6.5, and of SYN-ACKs */
	uint32_t retries; /* 1 to 127 */
};

/* A handshake that is never answered. */
struct tl_vain_handshake {
	uint32_t ticks;   /* until it is given up */
	uint32_t packets; /* SYNs or SYN-ACKs */
};

struct tl_syn_plan {
	uint32_t first_ticks, retries;
};

/* The bounds of the first RTO. */
struct tl_first_ticks {
	uint32_t low, high;
};

/* Rounded down, of 1 to 2^31 - 1: clang has no __builtin_clz for BPF, and its verifier goes both ways at a
 * branch. */
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

/* The time of a first timeout and a number of further ones, each twice the one before, up to the longest
 * (tcp_model_timeout). */
TL_FN uint32_t tl_doubled_ticks(const struct tl_retry_limits *h, uint32_t first, uint32_t more)
{
	const uint32_t below = tl_log2(h->max_ticks / first);

	if (more <= below)
		return ((2u << more) - 1) * first;
	return ((2u << below) - 1) * first + (more - below) * h->max_ticks;
}

/* The fewest further timeouts with which that time is at least a number of ticks. */
TL_FN uint32_t tl_doublings(const struct tl_retry_limits *h, uint32_t first, uint32_t ticks)
{
	const uint32_t below = tl_log2(h->max_ticks / first), doubled = ((2u << below) - 1) * first;

	if (ticks <= doubled)
		return tl_log2((ticks + first - 1) / first);
	return below + (ticks - doubled + h->max_ticks - 1) / h->max_ticks;
}

/* tcp_write_timeout: a SYN is given up at the first timeout at which the time has passed that its retries
 * would take if each were doubled. The first `linear` timeouts are not doubled (tcp_retransmit_timer), so
 * there are more of them. */
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

/* From stock's time to double that. The timers of both are late by up to an eighth (the steps of the
 * kernel's wheel), so the range is from 9/8 of stock's time to 8/9 of double that. */
TL_FN void tl_allowed_ticks(uint32_t stock, struct tl_first_ticks *out)
{
	out->low = stock + (stock + 7) / 8;
	out->high = 16 * stock / 9;
}

/* The shortest first RTO, up to a second, that is not given up before a number of ticks; a second if there
 * is none. */
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

/* First RTO and retries of a SYN: the learned RTO, or the shortest longer one, with which the time until
 * giving up is between stock's and double that and no more than TL_MORE_SYNS further SYNs are sent; else
 * stock's second and retries. */
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

/* The bounds of the first RTOs of a listener's SYN-ACKs with one retry more than is set (h: linear is 0).
 * All its requests have the same retries, so these are less than a factor of two apart. 0: there are none,
 * leave the listener unchanged. */
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
