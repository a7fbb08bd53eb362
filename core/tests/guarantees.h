/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Of test_guarantees.c, which includes it once for each arithmetic. */

static double TL(of_level)(TL(level) a)
{
	return (double)a / (double)TL(level_of)(1, 1);
}

/* At every time the loss is at most last's, 5/16 of what went up, 1/16 of what went down, the grants. */
static void TL(budget)(int kind, uint32_t combiner, uint32_t predictors, uint64_t seed)
{
	struct TL(tracking_params) p;
	struct TL(tracking) s;
	/* each budget step of fixed point is rounded once */
	double loss = 0, last_loss = 0, parts = 0, grants = 0, first = 0, rounding = (double)num_least / 4096;
	struct view view = { 0, 0, 0, 20000, 0, 0, &seed };

	TL(tracking_defaults)(&p);
	p.combiner = combiner;
	p.predictors = predictors;
	TL(tracking_init)(&s, &p);
	for (view.k = 0; view.k < STEPS; view.k++) {
		int64_t y = whole(budget_adversary(kind, &view));
		struct tl_sample in = sample_of(view.k, y, 1);
		double change = (double)y - view.last, bound;
		if (view.k == 0) {
			first = (double)y;
		} else {
			loss += fabs(view.rtt - (double)y);
			last_loss += fabs(change);
			parts += (change > 0 ? 5 * change : -change) / 16 + rounding;
			if (view.k >= 2 && view.k <= 16)
				grants += fmin(fabs(change), num_to_double_us(s.bank.scale));
			bound = last_loss + parts + grants;
			CHECK(loss <= bound * (1 + 1e-12), "budget, adversary %d, %d: %.17g above %.17g",
			      kind, (int)view.k, loss, bound);
			bound = last_loss * 19 / 16 + ((double)y - first) / 8 + (double)view.k * rounding;
			CHECK(fabs(last_loss + parts - bound) <= 1e-9 * bound, "19/16 of last");
		}
		TL(tracking_update)(&s, &in);
		view.last = (double)y;
		view.rtt = num_to_double_us(s.rtt);
		CHECK(view.rtt >= 0, "predicts %g", view.rtt);
	}
	budget_share = fmax(budget_share, (loss - grants) / fmax(last_loss, 1));
}

/* The identity, from what can be seen: excess is the sum of miss - alpha over counted samples;
 * what 4 (u - u_0) + deferred lacks of it are integral steps, each at most 7/32 alpha. */
static void TL(identity)(int kind, uint32_t over, double miss, uint32_t integral, uint32_t steps,
			 uint64_t seed)
{
	struct TL(conformal_params) p;
	struct TL(conformal) s;
	double alpha, u, u_0, integrated = 0, excess = 0, least_rtt = Y_MAX, most = 0, bound;
	struct view view = { 0, 0, 0, 0, 0, 0, &seed };

	TL(conformal_defaults)(&p);
	p.over = over;
	p.miss = ratio_from_double(miss);
	p.integral = integral;
	p.steps = steps;
	TL(conformal_init)(&s, &p);
	u = u_0 = TL(of_level)(s.timer.u);
	alpha = TL(of_level)(s.timer.miss);
	for (view.k = 0; view.k < STEPS; view.k++) {
		double before = integrated;
		int64_t y = whole(view.k == 0 ? 50000 : timer_adversary(kind, &view));
		struct tl_sample in = sample_of(view.k, y, 1);
		int missed = view.k > 0 && (double)y > view.rto;
		/* the floor and the cap decide nothing that counts; the first sample is never missed */
		double raw = num_to_double_us(TL(interval_raw)(&s.timer, s.rtt));
		int counts = view.k == 0 || (missed ? raw <= Y_MAX : raw >= 1000 && u > -4);
		TL(conformal_update)(&s, &in);
		excess += counts ? missed - alpha : 0;
		u = TL(of_level)(s.timer.u);
		view.rtt = num_to_double_us(s.rtt);
		view.rto = num_to_double_us(s.rto);
		view.excess = TL(of_level)(s.timer.excess - s.timer.deferred);
		view.stage = s.timer.stage;
		least_rtt = fmin(least_rtt, view.rtt);
		integrated = u - u_0 + TL(of_level)(s.timer.deferred) / 4 - excess / 4;
		CHECK(fabs(TL(of_level)(s.timer.excess) - excess) < 1e-6,
		      "identity, adversary %d, %d: %.12g, not %.12g", kind, (int)view.k,
		      TL(of_level)(s.timer.excess), excess);
		CHECK(fabs(integrated - before) <= 7 * alpha / 32 + 1e-9 &&
			      (integral == TL_ON || fabs(integrated) < 1e-6),
		      "identity, adversary %d, %d: integral step %g", kind, (int)view.k, integrated - before);
		CHECK(s.timer.deferred >= 0 && s.timer.deferred <= TL(level_of)(6, 1), "deferred");
		CHECK(u >= -4 - 4 * alpha, "u is %g", u);
		most = fmax(most, fabs(excess));
	}
	bound = 8 + 4 * (log2(Y_MAX / fmax(least_rtt, 0.5)) + 20.25 + 4 * alpha);
	CHECK(most <= bound, "bound, adversary %d, over %u, %g: %g above %g", kind, over, miss, most, bound);
	excess_share = fmax(excess_share, most / bound);
	excess_most = fmax(excess_most, most);
	excess_end = fmax(excess_end, fabs(excess));
}
