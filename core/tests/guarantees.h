/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Part of test_guarantees.c, which includes it twice: for double precision and for fixed point. */

static double TL(of_level)(TL(level) a)
{
	return (double)a / (double)TL(level_of)(1, 1);
}

/* Checks the bound on the summed error of `tracking` after every sample: the summed error of `last`, plus 1/8
 * of the upward changes of the RTT (5/16 with budget=first), 1/16 of the downward changes, and the grants. */
static void TL(budget)(int kind, uint8_t combiner, uint32_t predictors, uint8_t budget, uint64_t seed)
{
	struct TL(tracking_params) p;
	struct TL(tracking) s;
	/* each budget step of fixed point is rounded once */
	double loss = 0, last_loss = 0, parts = 0, grants = 0, first = 0, rounding = (double)num_least / 4096;
	struct view view = { 0, 0, 0, 20000, 0, 0, &seed };
	double up = budget == TL_BUDGET_FIRST ? 5.0 / 16 : 1.0 / 8, down = 1.0 / 16;

	TL(tracking_defaults)(&p);
	p.budget = budget;
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
			parts += (change > 0 ? up * change : -down * change) + rounding;
			if (view.k >= 2 && view.k <= 16)
				grants += fmin(fabs(change), num_to_double_us(s.mixture.bank.scale));
			bound = last_loss + parts + grants;
			CHECK(loss <= bound * (1 + 1e-12), "budget, adversary %d, %d: %.17g above %.17g",
			      kind, (int)view.k, loss, bound);
			bound = last_loss * (1 + (up + down) / 2) + ((double)y - first) * (up - down) / 2 +
				(double)view.k * rounding;
			CHECK(fabs(last_loss + parts - bound) <= 1e-9 * bound, "35/32 or 19/16 of last");
		}
		TL(tracking_update)(&s, &in);
		view.last = (double)y;
		view.rtt = num_to_double_us(s.mixture.rtt);
		CHECK(view.rtt >= 0, "predicts %g", view.rtt);
	}
	budget_share[budget == TL_BUDGET_FIRST] = fmax(budget_share[budget == TL_BUDGET_FIRST],
						       (loss - grants) / fmax(last_loss, 1));
}

/* Checks the bound on misses of `conformal` (docs/algorithms/conformal.md): the sum of miss - alpha over
 * counted samples. With at=send a flight has `window` samples and is judged as a whole. */
static void TL(counted)(int kind, const struct TL(conformal_params) *p, int64_t window, uint64_t seed)
{
	struct TL(conformal) s;
	struct TL(prediction) answer;
	double alpha, excess = 0, least_rtt = Y_MAX, most = 0, bound, reach;
	struct view view = { 0, 0, 0, 0, 0, 0, &seed };

	TL(conformal_init)(&s, p);
	alpha = TL(of_level)(s.timer.quantile.miss);
	for (view.k = 0; view.k < STEPS; view.k++) {
		int64_t y = whole(view.k == 0 ? 50000 : timer_adversary(kind, &view)), now = 100 * view.k;
		struct tl_sample in = sample_of(view.k, y, 1);
		int turns;
		double raw, before = TL(of_level)(s.timer.quantile.excess), change;

		in.time_us = now;
		in.sent_us = now - 100 * window; /* a flight of `window` */
		turns = p->at == TL_AT_ACK || in.sent_us >= s.next_sent_us;
		raw = num_to_double_us(turns ? s.raw : s.flight_raw);
		view.rto = fmin(fmax(raw, 1000), Y_MAX);
		TL(conformal_update)(&s, &in);
		change = TL(of_level)(s.timer.quantile.excess) - before;
		if (view.k > 0)
			CHECK(fabs(change) < 1e-6 || fabs(change - ((double)y > view.rto) + alpha) < 1e-6,
			      "count, adversary %d, %d: %g", kind, (int)view.k, change);
		excess += change;
		view.rtt = num_to_double_us(s.rtt);
		TL(conformal_query)(&s, &answer);
		view.rto = num_to_double_us(answer.rto);
		view.excess = TL(of_level)(s.timer.quantile.excess - s.timer.quantile.deferred);
		view.stage = s.timer.quantile.stage;
		least_rtt = fmin(least_rtt, view.rtt);
		CHECK(s.timer.quantile.deferred >= 0 && s.timer.quantile.deferred <= TL(level_of)(3, 1),
		      "deferred");
		most = fmax(most, fabs(excess));
	}
	reach = log2(Y_MAX) + fmax(16 - log2(fmax(least_rtt, 0.5)), 0) + 0.25;
	bound = p->at == TL_AT_ACK ? sqrt(25.6 * reach) + 4
				   : sqrt(25.6 * (4 * reach - 9) * (double)window) + 2 * (double)window + 4;
	CHECK(most <= bound, "bound, adversary %d, %g, %d a flight: %g above %g", kind, alpha, (int)window,
	      most, bound);
	count_share = fmax(count_share, most / bound);
	if (p->at == TL_AT_ACK)
		count_most = fmax(count_most, most);
}

/* Checks the identity excess = 4 (u - u_0) + deferred - 4 I of `conformal/first`, where excess is the sum of
 * miss - alpha over counted samples. I is not visible; each of its steps is at most 7/32 alpha. */
static void TL(identity)(int kind, uint8_t over, double miss, uint8_t integral, uint8_t steps, uint64_t seed)
{
	struct TL(conformal_params) p;
	struct TL(conformal) s;
	struct TL(prediction) answer;
	double alpha, u, u_0, integrated = 0, excess = 0, least_rtt = Y_MAX, most = 0, bound;
	struct view view = { 0, 0, 0, 0, 0, 0, &seed };

	TL(conformal_defaults)(&p);
	p.width = TL_WIDTH_SCALES;
	p.over = over;
	p.miss = ratio_from_double(miss);
	p.integral = integral;
	p.steps = steps;
	TL(conformal_init)(&s, &p);
	u = u_0 = TL(of_level)(s.timer.scales.u);
	alpha = TL(of_level)(s.timer.scales.miss);
	for (view.k = 0; view.k < STEPS; view.k++) {
		double before = integrated;
		int64_t y = whole(view.k == 0 ? 50000 : timer_adversary(kind, &view));
		struct tl_sample in = sample_of(view.k, y, 1);
		int missed = view.k > 0 && (double)y > view.rto;
		/* the floor and the cap decide nothing that counts; the first sample is never missed */
		double raw = num_to_double_us(TL(interval_raw)(&s.timer.scales, s.rtt));
		int counts = view.k == 0 || (missed ? raw <= Y_MAX : raw >= 1000 && u > -4);
		TL(conformal_update)(&s, &in);
		excess += counts ? missed - alpha : 0;
		u = TL(of_level)(s.timer.scales.u);
		view.rtt = num_to_double_us(s.rtt);
		TL(conformal_query)(&s, &answer);
		view.rto = num_to_double_us(answer.rto);
		view.excess = TL(of_level)(s.timer.scales.excess - s.timer.scales.deferred);
		view.stage = s.timer.scales.stage;
		least_rtt = fmin(least_rtt, view.rtt);
		integrated = u - u_0 + TL(of_level)(s.timer.scales.deferred) / 4 - excess / 4;
		CHECK(fabs(TL(of_level)(s.timer.scales.excess) - excess) < 1e-6,
		      "identity, adversary %d, %d: %.12g, not %.12g", kind, (int)view.k,
		      TL(of_level)(s.timer.scales.excess), excess);
		CHECK(fabs(integrated - before) <= 7 * alpha / 32 + 1e-9 &&
			      (integral == TL_ON || fabs(integrated) < 1e-6),
		      "identity, adversary %d, %d: integral step %g", kind, (int)view.k, integrated - before);
		CHECK(s.timer.scales.deferred >= 0 && s.timer.scales.deferred <= TL(level_of)(6, 1),
		      "deferred");
		CHECK(u >= -4 - 4 * alpha, "u is %g", u);
		most = fmax(most, fabs(excess));
	}
	bound = 8 + 4 * (log2(Y_MAX / fmax(least_rtt, 0.5)) + 20.25 + 4 * alpha);
	CHECK(most <= bound, "bound, adversary %d, over %u, %g: %g above %g", kind, over, miss, most, bound);
	excess_share = fmax(excess_share, most / bound);
	excess_most = fmax(excess_most, most);
	excess_end = fmax(excess_end, fabs(excess));
}
