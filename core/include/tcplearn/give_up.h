/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How long Linux goes on with a handshake that nobody answers, and how many retries let one with a shorter first RTO
 * go on for as long. It gives up after a number of timeouts, not after a time: from a first RTO of 100 ms the same
 * number is over in a tenth. Times are ticks of the kernel's clock (CONFIG_HZ), at most 2^28 of them. */
#ifndef TCPLEARN_GIVE_UP_H
#define TCPLEARN_GIVE_UP_H

#include "deps.h"

/* MAX_TCP_SYNCNT: the most that TCP_SYNCNT and both sysctls take. */
#define TL_RETRIES_MAX 127
/* SYNs to a host that never answers, beyond those that stock sends it. */
#define TL_MORE_SYNS 7
/* From one tick on to two the time to give up may jump over all that is allowed. */
#define TL_FIRST_TICKS_MIN 2

/* What is in force for a handshake. */
struct tl_retry_limits {
	uint32_t second_ticks; /* stock's first RTO: CONFIG_HZ, 24 to 1,200 */
	uint32_t max_ticks;    /* the longest RTO: a second to 120 s */
	uint32_t linear; /* net.ipv4.tcp_syn_linear_timeouts, 0 to 127; 0 before Linux 6.5, and of SYN-ACKs */
	uint32_t retries; /* 1 to 127 */
};

/* One that is never answered. */
struct tl_vain_handshake {
	uint32_t ticks;   /* until it is given up */
	uint32_t packets; /* SYNs or SYN-ACKs */
};

struct tl_syn_plan {
	uint32_t first_ticks, retries;
};

/* Whose first RTO lies between them. */
struct tl_first_ticks {
	uint32_t low, high;
};

/* Rounded down, of 1 to 2^31 - 1: clang has no __builtin_clz for BPF, and its verifier goes both ways at a branch. */
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

/* Of a first timeout and so many more, each twice the one before, up to the longest (tcp_model_timeout). */
TL_FN uint32_t tl_doubled_ticks(const struct tl_retry_limits *h, uint32_t first, uint32_t more)
{
	const uint32_t below = tl_log2(h->max_ticks / first);

	if (more <= below)
		return ((2u << more) - 1) * first;
	return ((2u << below) - 1) * first + (more - below) * h->max_ticks;
}

/* With how few more that lasts for so many ticks. */
TL_FN uint32_t tl_doublings(const struct tl_retry_limits *h, uint32_t first, uint32_t ticks)
{
	const uint32_t below = tl_log2(h->max_ticks / first), doubled = ((2u << below) - 1) * first;

	if (ticks <= doubled)
		return tl_log2((ticks + first - 1) / first);
	return below + (ticks - doubled + h->max_ticks - 1) / h->max_ticks;
}

/* tcp_write_timeout: a SYN is given up at the first timeout at which so much time is over as its retries would take
 * if each were doubled. The first `linear` of them are not (tcp_retransmit_timer), so that there are more. */
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

/* Stock's time to double that. The timers of both are late by up to an eighth (the steps of the kernel's wheel): so
 * from 9/8 of it to 8/9 of the double. */
TL_FN void tl_allowed_ticks(uint32_t stock, struct tl_first_ticks *out)
{
	out->low = stock + (stock + 7) / 8;
	out->high = 16 * stock / 9;
}

/* The shortest first RTO, from one to a second, that is not given up before so many ticks; a second where none is. */
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

/* First RTO and retries of a SYN: the learned RTO, or the shortest one above it, with which the time to give up is from
 * stock's to its double and no more than TL_MORE_SYNS are sent in vain; else stock's second and retries. */
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

/* First RTOs of the SYN-ACKs of a listener with one retry more than is set (h: linear is 0). All its requests have the
 * same retries, so their first RTOs lie within less than a factor of two. 0: there are none, leave it alone. */
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
