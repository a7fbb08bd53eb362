/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks when the learned resend policies use learned waits and when those of `stock`: with few and many
 * segments in flight, and with a standing queue. */
#include "resend_check.h"

/* Returns the wait in steady state with at most `out` segments in flight. A flight's candidate waits are
 * fixed when it begins, and its samples change their scores only at its end. After the last ACK of a flight,
 * one more segment is sent. */
static int64_t steady_wait_us(const struct tl_resend_policy *policy, uint32_t out, int64_t rtt_us)
{
	const int64_t each_us = rtt_us / out;
	struct resender s;
	int64_t now_us = 0, wait_us;
	uint32_t k;

	resender_defaults(&s, policy);
	resender_start(&s);
	for (k = 0; k < out; k++)
		resender_send(&s, 0, 1);
	for (k = 0; k < 5000; k++) {
		now_us += each_us;
		resender_ack(&s, now_us + rtt_us - each_us, rtt_us, out - 1, TL_RESEND_FIRST);
		wait_us = resender_send(&s, now_us + rtt_us - each_us, out).wait_us;
	}
	resender_stop(&s);
	return wait_us;
}

/* Checks that with three segments in flight the wait is the learned one. */
static void check_thin(const struct tl_resend_policy *policy)
{
	CHECK(steady_wait_us(policy, 3, 21000) < 31000, "%s: the wait does not follow the RTT",
	      policy->algorithm.name);
}

/* Returns the longest first wait of the last 12 of `count` requests. One request in `every` is lost once; 0:
 * none. */
static int64_t longest_wait_us(struct resender *s, int64_t *now_us, int64_t rtt_us, int count, int every)
{
	int64_t longest_us = 0;
	int k;

	for (k = 0; k < count; k++) {
		const int lost = every > 0 && k % every == 0;
		const int64_t wait_us = resender_send(s, *now_us += 100000, 1).wait_us;

		if (lost)
			resender_timer(s, *now_us += wait_us, 1);
		resender_ack(s, *now_us += rtt_us, rtt_us, 0, lost ? TL_RESEND_LATER : TL_RESEND_FIRST);
		if (count - k <= 12 && wait_us > longest_us)
			longest_us = wait_us;
	}
	return longest_us;
}

/* Checks the guard against overload. If one flight of 12 is lost, the first wait is that of `stock` while
 * SRTT is 1.5 times the minimum RTT (a standing queue), but not at 1 and 1.15 times. One of 7 is too many in
 * any case. A connection has a short wait only after 22 flights without a loss. */
static void check_standing_queue(const struct tl_resend_policy *policy)
{
	const int64_t rtt_us = 40000, stock_us = 240000, short_us = 100000;
	struct resender s;
	int64_t now_us = 0, wait_us;

	resender_defaults(&s, policy);
	resender_start(&s);
	longest_wait_us(&s, &now_us, rtt_us, 1, 0);
	wait_us = longest_wait_us(&s, &now_us, rtt_us, 20, 0);
	CHECK(wait_us >= stock_us, "%s: %lld us among the first flights", policy->algorithm.name,
	      (long long)wait_us);
	wait_us = longest_wait_us(&s, &now_us, rtt_us, 60, 0);
	CHECK(wait_us < short_us, "%s: %lld us where nothing is lost", policy->algorithm.name,
	      (long long)wait_us);
	wait_us = longest_wait_us(&s, &now_us, rtt_us, 600, 12);
	CHECK(wait_us < short_us, "%s: %lld us without a queue", policy->algorithm.name, (long long)wait_us);
	wait_us = longest_wait_us(&s, &now_us, rtt_us + rtt_us / 2, 600, 12);
	CHECK(wait_us >= stock_us, "%s: %lld us with a standing queue", policy->algorithm.name,
	      (long long)wait_us);
	wait_us = longest_wait_us(&s, &now_us, rtt_us + rtt_us * 15 / 100, 600, 12);
	CHECK(wait_us < short_us, "%s: %lld us when the queue has gone", policy->algorithm.name,
	      (long long)wait_us);
	wait_us = longest_wait_us(&s, &now_us, rtt_us, 600, 7);
	CHECK(wait_us >= stock_us, "%s: %lld us where every seventh is lost", policy->algorithm.name,
	      (long long)wait_us);
	resender_stop(&s);
}

/* Checks that with four segments in flight on a path of 20 ms the waits are those of `stock`: a probe two
 * round trips and `probe_min` after the last ACK, then an RTO of 220 ms that doubles. With `late`, the first
 * retransmission comes with the RTO, as while losses are repaired, and is no probe. After an ambiguous
 * answer, the next waits are at least the time waited (Karn's rule). */
static void check_bulk_is_stock(const struct tl_resend_policy *policy, int late)
{
	const int64_t rtt_us = 20000, each_us = rtt_us / 4;
	struct resender s;
	int64_t now_us = 0, wait_us = 0, waited_us;
	uint32_t k;

	resender_defaults(&s, policy);
	resender_start(&s);
	for (k = 1; k <= 4; k++)
		resender_send(&s, 0, k);
	for (k = 0; k < 500; k++) {
		now_us = rtt_us + k * each_us;
		resender_ack(&s, now_us, rtt_us, 3, TL_RESEND_FIRST);
		wait_us = resender_send(&s, now_us, 4).wait_us;
	}
	CHECK(wait_us == 48000, "%s: with 4 out the first wait is %lld us", policy->algorithm.name,
	      (long long)wait_us);
	waited_us = late ? 220000 : wait_us;
	for (k = 0; k < 6; k++) {
		const int64_t expected_us = (late ? 440000 : 220000) << k;

		wait_us = resender_timer(&s, now_us + waited_us, 4).wait_us;
		CHECK(wait_us == expected_us, "%s: with 4 out the wait after resend %u is %lld us",
		      policy->algorithm.name, k + 1, (long long)wait_us);
		waited_us += wait_us;
	}
	now_us += waited_us;
	wait_us = resender_ack(&s, now_us, 0, 4, TL_RESEND_UNCLEAR).wait_us;
	CHECK(wait_us == waited_us, "%s: %lld us after an unclear answer", policy->algorithm.name,
	      (long long)wait_us);
	wait_us = resender_timer(&s, now_us + wait_us, 4).wait_us;
	CHECK(wait_us >= waited_us, "%s: %lld us after an unclear answer's resend", policy->algorithm.name,
	      (long long)wait_us);
	resender_stop(&s);
}

int main(void)
{
	int arithmetic;
	size_t i;

	for (arithmetic = 0; arithmetic < 2; arithmetic++) {
		for (i = 0; i < COUNT(RESEND); i++) {
			const struct tl_resend_policy *p = tl_resend_at(i, arithmetic ? TL_FIX : TL_F64);

			if (!is_learned(p))
				continue;
			check_thin(p);
			check_standing_queue(p);
			check_bulk_is_stock(p, 0);
			check_bulk_is_stock(p, 1);
		}
	}
	return finish();
}
