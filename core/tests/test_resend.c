/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks properties of every resend policy for any events, and the bounds of the learned policies that keep a
 * network safe (docs/algorithms/resend/safety.md). The tests find a registered policy by themselves. */
#include "resend_check.h"

#include "tcplearn/wrap.h"

static void check_size(const struct tl_resend_policy *p)
{
	struct resender s;

	resender_defaults(&s, p);
	CHECK(p->algorithm.state_bytes(s.params) <= 640, "%s: %u bytes of state", p->algorithm.name,
	      p->algorithm.state_bytes(s.params));
}

/* A simulated path, and what a policy did on it. */
struct path {
	uint64_t seed;
	int64_t now_us, rtt_us;
	int loss_percent, late_percent, clear;
};

struct run {
	int64_t flights, resends,
		early; /* early: waits that grew less than by the backoff, but for that after a probe */
	int64_t known; /* flights whose first resend was known to be needed */
	int64_t needless;
};

static int roll(struct path *p, int percent)
{
	return random_below(&p->seed, 100) < percent;
}

/* Simulates a segment, its retransmissions and its answer. If `stock` is not NULL, it gets the same
 * events. */
static void request(struct resender *s, struct resender *stock, struct path *p, struct run *r)
{
	const int64_t rtt_us = (p->rtt_us + random_below(&p->seed, p->rtt_us / 4 + 1)) *
			       (roll(p, p->late_percent) ? 5 : 1);
	int64_t sent_us, arrives_us, got_us = -1;
	struct tl_resend_wait w, cap;

	p->now_us += random_below(&p->seed, 500000);
	sent_us = p->now_us;
	w = resender_send(s, sent_us, 1);
	if (stock) {
		cap = resender_send(stock, sent_us, 1);
		CHECK(w.wait_us <= cap.wait_us, "%s: first wait %lld, stock's %lld", s->p->algorithm.name,
		      (long long)w.wait_us, (long long)cap.wait_us);
	}
	r->flights++;
	got_us = roll(p, p->loss_percent) ? -1 : sent_us;
	arrives_us = got_us < 0 ? INT64_MAX : got_us + rtt_us;
	while (p->now_us + w.wait_us < arrives_us) {
		const struct tl_resend_wait before = w;

		p->now_us += w.wait_us;
		r->resends++;
		r->needless += got_us >= 0;
		if (got_us < 0 && !roll(p, p->loss_percent)) {
			got_us = p->now_us;
			arrives_us = got_us + rtt_us;
		}
		w = resender_timer(s, p->now_us, 1);
		if (stock) {
			cap = resender_timer(stock, p->now_us, 1);
			CHECK(w.wait_us <= cap.wait_us, "%s: a later wait of %lld, stock's %lld",
			      s->p->algorithm.name, (long long)w.wait_us, (long long)cap.wait_us);
		}
		r->early += !(before.probe && w.wait_us >= before.wait_us) &&
			    100.0 * (double)(w.wait_us + 1) <
				    resender_get(s, "backoff_percent") * (double)before.wait_us &&
			    (double)w.wait_us < resender_get(s, "rto_max_us");
	}
	r->known += got_us > sent_us && p->clear;
	p->now_us = arrives_us;
	{
		const uint32_t answers = !p->clear           ? TL_RESEND_UNCLEAR
					 : got_us == sent_us ? TL_RESEND_FIRST
							     : TL_RESEND_LATER;

		resender_ack(s, p->now_us, arrives_us - got_us, 0, answers);
		if (stock)
			resender_ack(stock, p->now_us, arrives_us - got_us, 0, answers);
	}
}

static struct path path_of(int64_t rtt_us, int loss_percent, int late_percent, int clear)
{
	struct path p = { 7, 1000000, 0, 0, 0, 0 };

	p.rtt_us = rtt_us;
	p.loss_percent = loss_percent;
	p.late_percent = late_percent;
	p.clear = clear;
	return p;
}

static void start_beside_stock(const struct tl_resend_policy *policy, struct resender *s,
			       struct resender *stock)
{
	resender_defaults(s, policy);
	resender_defaults(stock, tl_resend_find("stock", policy->algorithm.arithmetic));
	resender_start(s);
	resender_start(stock);
}

/* Checks that no wait exceeds that of `stock`, and that every later wait but that after a probe grows by the
 * backoff unless the budget allows a shorter one. */
static void check_bounds(const struct tl_resend_policy *policy, int64_t rtt_us, int loss_percent,
			 int late_percent)
{
	struct path p = path_of(rtt_us, loss_percent, late_percent, 1);
	struct run r = { 0, 0, 0, 0, 0 };
	struct resender s, stock;
	double budget, refill;
	int k;

	start_beside_stock(policy, &s, &stock);
	for (k = 0; k < 3000; k++)
		request(&s, &stock, &p, &r);
	budget = resender_get(&s, "budget");
	refill = resender_get(&s, "refill");
	if (resender_get(&s, "spacing") == TL_RESEND_DOUBLING)
		CHECK(r.early == 0, "%s: %lld waits did not grow", policy->algorithm.name,
		      (long long)r.early);
	CHECK((double)r.early <= budget + refill * (double)r.flights + (double)r.known + 1e-6,
	      "%s: %lld waits not doubled, budget %g, %lld flights, %lld known to be lost",
	      policy->algorithm.name, (long long)r.early, budget, (long long)r.flights, (long long)r.known);
	resender_stop(&s);
	resender_stop(&stock);
}

/* Checks the bounds on connections of `requests` requests each to one destination, which inherit from a
 * connection that learned short waits on another path. */
static void check_bounds_inherited(const struct tl_resend_policy *policy, int requests, int late_percent)
{
	struct path p = path_of(20000, 20, 0, 1);
	struct run r = { 0, 0, 0, 0, 0 }, taught = { 0, 0, 0, 0, 0 };
	struct resender s, stock;
	double budget, refill;
	int k;

	start_beside_stock(policy, &s, &stock);
	budget = resender_get(&s, "budget");
	refill = resender_get(&s, "refill");
	for (k = 0; k < 2000; k++)
		request(&s, NULL, &p, &taught);
	p.rtt_us = 50000;
	p.late_percent = late_percent;
	for (k = 0; k < 2000; k++) {
		if (k % requests == 0) {
			const struct run none = { 0, 0, 0, 0, 0 };

			CHECK((double)r.early <= budget + refill * (double)r.flights + (double)r.known + 1e-6,
			      "%s: %lld waits not doubled", policy->algorithm.name, (long long)r.early);
			r = none;
			resender_next(&s);
			resender_next(&stock);
		}
		request(&s, &stock, &p, &r);
	}
	resender_stop(&s);
	resender_stop(&stock);
}

/* Checks that a connection's second request has a learned wait after inheritance, and counts spurious
 * retransmissions in 300 connections of two requests on a path without loss. */
static void check_inherits(const struct tl_resend_policy *policy)
{
	struct path p = path_of(20000, 5, 0, 1);
	struct run r = { 0, 0, 0, 0, 0 };
	struct tl_resend_wait fresh, heir;
	struct resender s;
	int k;

	resender_defaults(&s, policy);
	resender_start(&s);
	request(&s, NULL, &p, &r);
	fresh = resender_send(&s, p.now_us + 1000000, 1);
	resender_ack(&s, p.now_us + 1020000, 20000, 0, TL_RESEND_FIRST);
	p.now_us += 1020000;
	for (k = 0; k < 500; k++)
		request(&s, NULL, &p, &r);
	resender_next(&s);
	resender_ack(&s, p.now_us, 20000, 0, TL_RESEND_FIRST);
	heir = resender_send(&s, p.now_us + 1000000, 1);
	CHECK(2 * heir.wait_us < fresh.wait_us, "%s: waits %lld us, having inherited %lld",
	      policy->algorithm.name, (long long)fresh.wait_us, (long long)heir.wait_us);
	resender_ack(&s, p.now_us + 1020000, 20000, 0, TL_RESEND_FIRST);
	p.now_us += 1020000;
	p.loss_percent = 0;
	p.late_percent = 20;
	r.needless = 0;
	for (k = 0; k < 600; k++) {
		if (k % 2 == 0)
			resender_next(&s);
		request(&s, NULL, &p, &r);
	}
	CHECK(r.needless <= 40, "%s: %lld spurious retransmissions of 600 requests", policy->algorithm.name,
	      (long long)r.needless);
	resender_stop(&s);
}

/* Checks a path with losses that then delivers nothing for ten minutes: the number of retransmissions in all,
 * and in any second. */
static void check_dead_path(const struct tl_resend_policy *policy, int64_t rtt_us)
{
	struct path p = path_of(rtt_us, 5, 0, 1);
	struct run r = { 0, 0, 0, 0, 0 };
	int64_t times[4096], start_us, end_us;
	struct tl_resend_wait w;
	struct resender s;
	size_t n = 0, k, from = 0, most = 0;
	int doubles;

	resender_defaults(&s, policy);
	doubles = resender_get(&s, "backoff_percent") >= 200;
	CHECK(resender_set(&s, "price_us", 0) == 0, "%s: no price", policy->algorithm.name);
	resender_start(&s);
	for (k = 0; k < 2000; k++)
		request(&s, NULL, &p, &r);
	start_us = p.now_us;
	end_us = start_us + 600000000;
	for (w = resender_send(&s, p.now_us, 1); p.now_us + w.wait_us < end_us && n < 4096;) {
		const int64_t before_us = w.wait_us;

		p.now_us += w.wait_us;
		times[n++] = p.now_us;
		w = resender_timer(&s, p.now_us, 1);
		/* each wait is at least an eighth of the time waited so far, and at least the first wait */
		CHECK(8 * w.wait_us + 8 >= p.now_us - start_us ||
			      (double)w.wait_us >= resender_get(&s, "rto_max_us") ||
			      w.wait_us >= 2 * before_us,
		      "%s: waits %lld after %lld us", policy->algorithm.name, (long long)w.wait_us,
		      (long long)(p.now_us - start_us));
		CHECK(n <= 40 || w.wait_us >= 2 * before_us ||
			      (double)w.wait_us >= resender_get(&s, "rto_max_us"),
		      "%s: the %zuth wait is %lld us after %lld", policy->algorithm.name, n,
		      (long long)w.wait_us, (long long)before_us);
	}
	for (k = 0; k < n; k++) {
		while (times[from] + 1000000 <= times[k])
			from++;
		most = k - from + 1 > most ? k - from + 1 : most;
	}
	CHECK(n <= 60 && most <= 49, "%s: %zu resends in ten minutes, %zu in a second",
	      policy->algorithm.name, n, most);
	if (resender_get(&s, "spacing") == TL_RESEND_DOUBLING)
		CHECK(n <= (doubles ? 25 : 35) && most <= (doubles ? 11 : 17),
		      "%s: %zu resends in ten minutes, %zu in a second", policy->algorithm.name, n, most);
	resender_stop(&s);
}

/* Returns the spurious retransmissions in 200 requests after the RTT has risen to `times_10` / 10 times its
 * value, without timestamps. */
static int64_t needless_after_rise(const struct tl_resend_policy *policy, int64_t times_10)
{
	struct path p = path_of(20000, 1, 0, 0);
	struct run r = { 0, 0, 0, 0, 0 }, after = { 0, 0, 0, 0, 0 };
	struct resender s;
	int k;

	resender_defaults(&s, policy);
	resender_start(&s);
	for (k = 0; k < 2000; k++)
		request(&s, NULL, &p, &r);
	p.rtt_us = p.rtt_us * times_10 / 10;
	p.loss_percent = 0;
	for (k = 0; k < 10; k++)
		request(&s, NULL, &p, &r);
	for (k = 0; k < 200; k++)
		request(&s, NULL, &p, &after);
	resender_stop(&s);
	return after.needless;
}

/* Checks that the wait follows a rise of the RTT within a few requests and stays there. With the policy
 * `floor`, every later request is retransmitted. */
static void check_no_lock_in(const struct tl_resend_policy *policy)
{
	static const int64_t times_10[] = { 15, 22, 40, 1000 };
	size_t k;

	for (k = 0; k < 4; k++)
		CHECK(needless_after_rise(policy, times_10[k]) <= 5,
		      "%s: spurious retransmissions for ever after a rise", policy->algorithm.name);
	CHECK(needless_after_rise(tl_resend_find("floor", policy->algorithm.arithmetic), 22) >= 190,
	      "the test is blind");
}

int main(void)
{
	static const int64_t rtts_us[] = { 100, 20000, 700000 };
	size_t i, k;
	int arithmetic;

	for (arithmetic = 0; arithmetic < 2; arithmetic++) {
		for (i = 0; i < COUNT(RESEND); i++) {
			const struct tl_resend_policy *p = tl_resend_at(i, arithmetic ? TL_FIX : TL_F64);

			check_size(p);
			if (!is_learned(p))
				continue;
			for (k = 0; k < 3; k++) {
				check_bounds(p, rtts_us[k], 2, 1);
				check_bounds(p, rtts_us[k], 30, 10);
				check_bounds(p, rtts_us[k], 0, 50);
				check_dead_path(p, rtts_us[k]);
			}
			for (k = 1; k < 200; k *= 7)
				check_bounds_inherited(p, (int)k, k == 7 ? 50 : 5);
			check_inherits(p);
			check_no_lock_in(p);
		}
	}
	CHECK(tl_resend_at(i, TL_FIX) == NULL && tl_resend_find("none", TL_F64) == NULL, "past the end");
	printf("state: %zu bytes fixed\n", sizeof(struct tl_resend_priced_fix));
	return finish();
}
