/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Of test_guarantees.c, which includes it once for each number model. */

static double TL(of_level)(level_t a)
{
	return (double)a / (double)TL_LEVEL(1, 1);
}

/* At every time the loss is at most last's, 5/16 of what went up, 1/16 of what went down, the grants. */
static void TL(budget)(int kind, uint32_t combiner, uint32_t predictors, uint64_t seed)
{
	struct TL(tracking_params) p;
	struct TL(tracking) s;
	/* each budget step of the fixed model is rounded once */
	double loss = 0, last_loss = 0, parts = 0, grants = 0, first = 0, rounding = (double)num_least / 4096;
	struct sight sight = { 0, 0, 0, 20000, 0, 0, &seed };

	TL(tracking_defaults)(&p);
	p.combiner = combiner;
	p.predictors = predictors;
	TL(tracking_init)(&s, &p);
	for (sight.k = 0; sight.k < STEPS; sight.k++) {
		int64_t y = whole(budget_foe(kind, &sight));
		struct tl_sample in = sample_of(sight.k, y, 1);
		double change = (double)y - sight.last, bound;
		if (sight.k == 0) {
			first = (double)y;
		} else {
			loss += fabs(sight.rtt - (double)y);
			last_loss += fabs(change);
			parts += (change > 0 ? 5 * change : -change) / 16 + rounding;
			if (sight.k >= 2 && sight.k <= 16)
				grants += fmin(fabs(change), num_to_double_us(s.bank.scale));
			bound = last_loss + parts + grants;
			CHECK(loss <= bound * (1 + 1e-12), "budget, foe %d, %d: %.17g above %.17g", kind,
			      (int)sight.k, loss, bound);
			bound = last_loss * 19 / 16 + ((double)y - first) / 8 + (double)sight.k * rounding;
			CHECK(fabs(last_loss + parts - bound) <= 1e-9 * bound, "19/16 of last");
		}
		TL(tracking_update)(&s, &in);
		sight.last = (double)y;
		sight.rtt = num_to_double_us(s.rtt);
		CHECK(sight.rtt >= 0, "predicts %g", sight.rtt);
	}
	budget_share = fmax(budget_share, (loss - grants) / fmax(last_loss, 1));
}

/* The books, kept beside it from what can be seen: excess is the sum of miss - alpha over counted samples;
 * what 4 (u - u_0) + debt lacks of it are integral steps, each at most 7/32 alpha. */
static void TL(books)(int kind, uint32_t over, double miss, uint32_t integral, uint32_t steps, uint64_t seed)
{
	struct TL(conformal_params) p;
	struct TL(conformal) s;
	double alpha, u, u_0, integrated = 0, excess = 0, least_rtt = Y_MAX, most = 0, bound;
	struct sight sight = { 0, 0, 0, 0, 0, 0, &seed };

	TL(conformal_defaults)(&p);
	p.over = over;
	p.miss = ratio_from_double(miss);
	p.integral = integral;
	p.steps = steps;
	TL(conformal_init)(&s, &p);
	u = u_0 = TL(of_level)(s.timer.u);
	alpha = TL(of_level)(s.timer.miss);
	for (sight.k = 0; sight.k < STEPS; sight.k++) {
		double before = integrated;
		int64_t y = whole(sight.k == 0 ? 50000 : timer_foe(kind, &sight));
		struct tl_sample in = sample_of(sight.k, y, 1);
		int missed = sight.k > 0 && (double)y > sight.rto;
		/* the floor and the cap decide nothing that counts; the first sample is never missed */
		double raw = num_to_double_us(TL(interval_raw)(&s.timer, s.rtt));
		int counts = sight.k == 0 || (missed ? raw <= Y_MAX : raw >= 1000 && u > -4);
		TL(conformal_update)(&s, &in);
		excess += counts ? missed - alpha : 0;
		u = TL(of_level)(s.timer.u);
		sight.rtt = num_to_double_us(s.rtt);
		sight.rto = num_to_double_us(s.rto);
		sight.excess = TL(of_level)(s.timer.excess - s.timer.debt);
		sight.stage = s.timer.stage;
		least_rtt = fmin(least_rtt, sight.rtt);
		integrated = u - u_0 + TL(of_level)(s.timer.debt) / 4 - excess / 4;
		CHECK(fabs(TL(of_level)(s.timer.excess) - excess) < 1e-6,
		      "books, foe %d, %d: %.12g, not %.12g", kind, (int)sight.k, TL(of_level)(s.timer.excess),
		      excess);
		CHECK(fabs(integrated - before) <= 7 * alpha / 32 + 1e-9 &&
			      (integral == TL_ON || fabs(integrated) < 1e-6),
		      "books, foe %d, %d: integral step %g", kind, (int)sight.k, integrated - before);
		CHECK(s.timer.debt >= 0 && s.timer.debt <= TL_LEVEL(6, 1), "debt");
		CHECK(u >= -4 - 4 * alpha, "u is %g", u);
		most = fmax(most, fabs(excess));
	}
	bound = 8 + 4 * (log2(Y_MAX / fmax(least_rtt, 0.5)) + 20.25 + 4 * alpha);
	CHECK(most <= bound, "bound, foe %d, over %u, %g: %g above %g", kind, over, miss, most, bound);
	excess_share = fmax(excess_share, most / bound);
	excess_most = fmax(excess_most, most);
	excess_end = fmax(excess_end, fabs(excess));
}
