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

/* Both policies with the same events; `now_us` and `wait_us` are those of the last event. */
struct pair {
	struct resender learned, stock;
	int64_t now_us, wait_us;
};

static void pair_check(struct pair *p, const struct tl_resend_policy *policy, int64_t learned_us,
		       int64_t stock_us, const char *event)
{
	p->wait_us = stock_us;
	CHECK(learned_us == stock_us, "%s: %s at %lld us: wait %lld us, stock's %lld us",
	      policy->algorithm.name, event, (long long)p->now_us, (long long)learned_us,
	      (long long)stock_us);
}

static void pair_send(struct pair *p, const struct tl_resend_policy *policy, uint32_t out)
{
	pair_check(p, policy, resender_send(&p->learned, p->now_us, out).wait_us,
		   resender_send(&p->stock, p->now_us, out).wait_us, "sent");
}

static void pair_timer(struct pair *p, const struct tl_resend_policy *policy, uint32_t out)
{
	pair_check(p, policy, resender_timer(&p->learned, p->now_us, out).wait_us,
		   resender_timer(&p->stock, p->now_us, out).wait_us, "retransmitted");
}

static void pair_ack(struct pair *p, const struct tl_resend_policy *policy, int64_t rtt_us, uint32_t out,
		     uint32_t answers)
{
	pair_check(p, policy, resender_ack(&p->learned, p->now_us, rtt_us, out, answers).wait_us,
		   resender_ack(&p->stock, p->now_us, rtt_us, out, answers).wait_us, "acknowledged");
}

/* Checks that with four segments in flight on a path of 20 ms each wait is that of the policy `stock` after
 * the same events: a probe, RTOs that double, and after ambiguous answers the RTO kept by Karn's rule, even
 * if one outage follows another. */
static void check_bulk_is_stock(const struct tl_resend_policy *policy, enum tl_arithmetic arithmetic)
{
	const int64_t rtt_us = 20000, each_us = rtt_us / 4;
	struct pair p = { .now_us = 0 };
	uint32_t k, outage;

	resender_defaults(&p.learned, policy);
	resender_defaults(&p.stock, tl_resend_find("stock", arithmetic));
	resender_start(&p.learned);
	resender_start(&p.stock);
	for (k = 1; k <= 4; k++) {
		resender_send(&p.learned, 0, k);
		resender_send(&p.stock, 0, k);
	}
	for (k = 0; k < 500; k++) {
		p.now_us = rtt_us + k * each_us;
		resender_ack(&p.learned, p.now_us, rtt_us, 3, TL_RESEND_FIRST);
		resender_ack(&p.stock, p.now_us, rtt_us, 3, TL_RESEND_FIRST);
		pair_send(&p, policy, 4);
	}
	CHECK(p.wait_us == 48000, "stock: with 4 out the first wait is %lld us", (long long)p.wait_us);
	for (outage = 0; outage < 12; outage++) {
		for (k = 0; k < 1 + outage % 4; k++) {
			p.now_us += p.wait_us;
			pair_timer(&p, policy, 4);
		}
		p.now_us += rtt_us;
		pair_ack(&p, policy, 0, 4, TL_RESEND_UNCLEAR);
	}
	p.now_us += rtt_us;
	pair_ack(&p, policy, rtt_us, 4, TL_RESEND_FIRST);
	resender_stop(&p.learned);
	resender_stop(&p.stock);
}

/* Checks that with four segments in flight the first RTO is doubled if it found no probe before it, as while
 * Linux repairs losses, and that later ones double too. */
static void check_rto_without_probe(const struct tl_resend_policy *policy)
{
	const int64_t rtt_us = 20000;
	struct resender s;
	int64_t now_us = 220000;
	uint32_t k;

	resender_defaults(&s, policy);
	resender_start(&s);
	for (k = 0; k < 100; k++)
		resender_ack(&s, 0, rtt_us, 4, TL_RESEND_FIRST);
	for (k = 0; k < 6; k++) {
		const int64_t wait_us = resender_timer(&s, now_us, 4).wait_us;

		CHECK(wait_us == (int64_t)440000 << k, "%s: with 4 out the wait after RTO %u is %lld us",
		      policy->algorithm.name, k + 1, (long long)wait_us);
		now_us += wait_us;
	}
	resender_stop(&s);
}

/* Checks that without timestamps the first wait of a lone segment is longer after each ambiguous answer: at most
 * twice the one before, and after the first at most twice that of `stock`. */
static void check_hold_grows_slowly(const struct tl_resend_policy *policy)
{
	const int64_t rtt_us = 20000, stock_us = 220000, outage_us = 30000000;
	int64_t now_us = 0, before_us = stock_us;
	struct resender s;
	uint32_t k;

	resender_defaults(&s, policy);
	resender_start(&s);
	longest_wait_us(&s, &now_us, rtt_us, 100, 0);
	for (k = 0; k < 6; k++) {
		const int64_t begun_us = now_us, first_us = resender_send(&s, now_us, 1).wait_us;
		int64_t wait_us = first_us;

		CHECK(k == 0 ? first_us < stock_us : first_us == 2 * before_us,
		      "%s: outage %u, wait %lld us, before %lld us", policy->algorithm.name, k,
		      (long long)first_us, (long long)before_us);
		before_us = k == 0 ? stock_us : first_us;
		while (now_us - begun_us < outage_us) {
			now_us += wait_us;
			wait_us = resender_timer(&s, now_us, 1).wait_us;
		}
		now_us += rtt_us;
		resender_ack(&s, now_us, 0, 0, TL_RESEND_UNCLEAR);
	}
	resender_stop(&s);
}

int main(void)
{
	int arithmetic;
	size_t i;

	for (arithmetic = 0; arithmetic < 2; arithmetic++) {
		for (i = 0; i < COUNT(RESEND); i++) {
			const enum tl_arithmetic with = arithmetic ? TL_FIX : TL_F64;
			const struct tl_resend_policy *p = tl_resend_at(i, with);

			if (!is_learned(p))
				continue;
			check_thin(p);
			check_standing_queue(p);
			check_bulk_is_stock(p, with);
			check_rto_without_probe(p);
			check_hold_grows_slowly(p);
		}
	}
	return finish();
}
