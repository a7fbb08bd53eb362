/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks properties of every registered estimator in both arithmetics, on random series from fixed seeds. The
 * tests find a new estimator by themselves; estimators with further properties are listed by name. */
#include "check.h"

static const struct tl_estimator *estimator(size_t i)
{
	return i % 2 ? tl_estimator_at(i / 2, TL_FIX) : tl_estimator_at(i / 2, TL_F64);
}

/* Returns whether the predictions are averages of samples: within the samples' range, monotone in the samples
 * and proportional to them. */
static int averages(const struct tl_estimator *e)
{
	return is_a(&e->algorithm, "last") || is_a(&e->algorithm, "jacobson") ||
	       is_a(&e->algorithm, "linux") || is_a(&e->algorithm, "rfc9002") || is_a(&e->algorithm, "eifel");
}

/* Returns whether the estimator counts RTTs in ticks of a clock, so that its results depend on the unit of
 * time. */
static int counts_ticks(const struct tl_estimator *e)
{
	return strncmp(e->algorithm.name, "jacobson/freebsd", strlen("jacobson/freebsd")) == 0;
}

/* Returns a sample of a path with noise, a queue and spikes. rtt_us is between 20 and 400 ms. */
static struct tl_sample wan_sample(uint64_t *seed, int64_t k)
{
	int64_t rtt_us = 20000 + 300 * (k % 100) + random_below(seed, 5000);
	struct tl_sample in;

	if (random_below(seed, 50) == 0)
		rtt_us += random_below(seed, 300000);
	in = sample_of(k * 9000, rtt_us, 1 + (uint32_t)random_below(seed, 64));
	in.ttl = (uint8_t)random_below(seed, 256);
	return in;
}

static struct tl_sample hostile_sample(uint64_t *seed)
{
	const int64_t p32 = (int64_t)1 << 32, p62 = (int64_t)1 << 62;
	const int64_t odd[] = { 0, 1, -1, 2, INT64_MIN, INT64_MAX, 1000, 50000, p32, p32 + 1, -p62, p62 };
	static const uint32_t flights[] = { 0, 1, 2, 3, 10, 1u << 20, (1u << 20) + 1, 0xffffffffu };
	const int64_t n = sizeof(odd) / sizeof(odd[0]);
	struct tl_sample in;

	memset(&in, 0, sizeof(in));
	in.time_us = odd[random_below(seed, n)];
	in.sent_us = odd[random_below(seed, n)];
	in.rtt_us = odd[random_below(seed, n)];
	in.ack_delay_us = odd[random_below(seed, n)];
	in.flight_segments = flights[random_below(seed, 8)];
	in.ttl = (uint8_t)random_next(seed);
	in.hops = (uint8_t)random_next(seed);
	return in;
}

static double bound(const struct subject *s, const char *key, double otherwise)
{
	double value = subject_get(s, key);

	return isnan(value) ? otherwise : value;
}

static void check_answer(const struct subject *s)
{
	struct tl_prediction p = subject_query(s);
	double high = bound(s, "rto_max_us", 1e13), low = fmin(bound(s, "rto_min_us", 0), high);

	CHECK(isfinite(p.rtt_us) && isfinite(p.rto_us), "%s: not finite", s->e->algorithm.name);
	CHECK(p.rto_us >= fmax(low, 1) && p.rto_us <= fmax(high, 1), "%s: RTO %g not in [%g, %g]",
	      s->e->algorithm.name, p.rto_us, low, high);
	/* `linreg` extrapolates and may be negative, as may `tracking/study`; no estimator exceeds its widest
	 * grid or gain */
	CHECK(is_a(&s->e->algorithm, "linreg") || bound(s, "dead_zone", 0) > 0
		      ? fabs(p.rtt_us) < 1e12
		      : p.rtt_us >= 0 && p.rtt_us < 4e13,
	      "%s: predicts %g", s->e->algorithm.name, p.rtt_us);
}

/* Sets random parameters within their bounds, mostly near a bound or the default. */
static void random_params(struct subject *s, uint64_t *seed)
{
	uint32_t i;

	for (i = 0; i < s->e->algorithm.param_count; i++) {
		const struct tl_param *p = &s->e->algorithm.params[i];
		double unit = (double)(random_next(seed) >> 11) * 0x1p-53;
		double value;

		switch (random_below(seed, 6)) {
		case 0: value = param_low(p); break;
		case 1: value = param_high(p); break;
		case 2: value = param_low(p) + (param_high(p) - param_low(p)) * unit; break;
		case 3: value = param_low(p) + (param_high(p) - param_low(p)) * pow(unit, 20); break;
		default: continue;
		}
		CHECK(s->e->algorithm.set(s->params, i, value) == 0, "%s: %s refuses %g",
		      s->e->algorithm.name, p->key, value);
	}
}

static void check_streams(const struct tl_estimator *e, int hostile, uint64_t seed)
{
	struct subject s;
	int round, k;

	for (round = 0; round < 60; round++) {
		subject_defaults(&s, e);
		if (round > 0)
			random_params(&s, &seed);
		subject_start(&s);
		check_answer(&s);
		for (k = 0; k < 100; k++) {
			struct tl_sample in = hostile ? hostile_sample(&seed) : wan_sample(&seed, k);
			e->update(s.state, &in);
			check_answer(&s);
		}
		subject_stop(&s);
	}
}

static void check_range(const struct tl_estimator *e)
{
	double low = 1e18, high = 0, slack = e->algorithm.arithmetic == TL_FIX ? 1.0 / 128 : 1e-6;
	uint64_t seed = 11;
	struct subject s;
	int64_t k;

	subject_defaults(&s, e);
	subject_start(&s);
	for (k = 0; k < 5000; k++) {
		struct tl_sample in = wan_sample(&seed, k);
		double rtt_us;
		e->update(s.state, &in);
		rtt_us = subject_query(&s).rtt_us;
		low = fmin(low, (double)in.rtt_us);
		high = fmax(high, (double)in.rtt_us);
		if (averages(e)) { /* a tick count is at most one below and two above the RTT */
			double tick = counts_ticks(e) ? bound(&s, "tick_us", 0) : 0;
			CHECK(rtt_us >= low - tick - slack && rtt_us <= high + 2 * tick + slack,
			      "%s: %g not in [%g, %g]", e->algorithm.name, rtt_us, low, high);
		}
		if (is_a(&e->algorithm,
			 "experts")) { /* within the grid, which may be fitted to these samples */
			double unit = bound(&s, "tick_us", 1) * bound(&s, "scale", 1);
			double fit = bound(&s, "fit", 0), span = subject_get(&s, "rtt_max");
			double most = subject_get(&s, "rtt_min") + span;
			CHECK(rtt_us <= most * (fit > 0 ? high / fit : unit) + 1, "%s: above the grid",
			      e->algorithm.name);
			CHECK(rtt_us >= subject_get(&s, "rtt_min") * (fit > 0 ? low / fit - 1 : unit) - 1,
			      "%s: below the grid", e->algorithm.name);
		}
	}
	subject_stop(&s);
}

/* Checks that, of two samples after the same history, the larger one never gives a smaller prediction. */
static void check_monotone(const struct tl_estimator *e, int squared)
{
	double slack = e->algorithm.arithmetic == TL_FIX ? 0.5 : 1e-6, before;
	uint64_t seed = 12;
	struct subject s;
	void *saved;
	int64_t k, y;

	subject_defaults(&s, e);
	if (squared)
		CHECK(!subject_set(&s, "loss", 1) && !subject_set(&s, "fit", 0) &&
			      !subject_set(&s, "tick_us", 5000),
		      "loss");
	subject_start(&s);
	saved = malloc(s.bytes);
	if (!saved)
		abort();
	for (k = 0; k < 300; k++) {
		struct tl_sample in = wan_sample(&seed, k);
		memcpy(saved, s.state, s.bytes);
		for (before = 0, y = 1000; y < 300000; y += 7919) {
			in.rtt_us = y;
			memcpy(s.state, saved, s.bytes);
			e->update(s.state, &in);
			CHECK(subject_query(&s).rtt_us >= before - slack, "%s: falls at %lld",
			      e->algorithm.name, (long long)y);
			before = subject_query(&s).rtt_us;
		}
	}
	free(saved);
	subject_stop(&s);
}

/* Checks that an estimator without constants in microseconds has no unit: twice the RTTs give twice the
 * answers. */
static void check_scaling(const struct tl_estimator *e)
{
	static const char *const units[] = { "granularity_us", "tick_us", "variance_floor_us",
					     "max_ack_delay_us", "rto_min_us" };
	double slack = e->algorithm.arithmetic == TL_FIX
			       ? 0.5
			       : 0; /* the rounding error, which is larger where it is divided by a gain */
	uint64_t seed = 13;
	struct subject one, two;
	int64_t k;
	size_t i;

	subject_defaults(&one, e);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!isnan(subject_get(&one, units[i])) && !is_a(&e->algorithm, "experts"))
			CHECK(!subject_set(&one, units[i], 0), "%s: %s", e->algorithm.name, units[i]);
	two = one;
	subject_start(&one);
	subject_start(&two);
	for (k = 0; k < 1000; k++) {
		struct tl_sample in = wan_sample(&seed, k);
		struct tl_prediction p, q;
		in.rtt_us = in.rtt_us / 16 * 16; /* the unit of a fitted grid is then exact */
		e->update(one.state, &in);
		in.rtt_us *= 2;
		e->update(two.state, &in);
		p = subject_query(&one);
		q = subject_query(&two);
		CHECK(fabs(q.rtt_us - 2 * p.rtt_us) <= slack + 1e-9 &&
			      fabs(q.rto_us - 2 * p.rto_us) <= 1e-5 * slack * q.rto_us + slack + 1e-9,
		      "%s: %g, %g and twice that: %g, %g", e->algorithm.name, p.rtt_us, p.rto_us, q.rtt_us,
		      q.rto_us);
	}
	subject_stop(&one);
	subject_stop(&two);
}

/* Checks that the arithmetics differ by at most 0.1 % of the RTT, and the error of rounding to 2^-8 us with a
 * gain of 1/8. */
static void check_arithmetics_agree(size_t index)
{
	const struct tl_estimator *e = tl_estimator_at(index, TL_F64);
	double worst_rtt = 0, worst_rto = 0;
	struct subject f64, fix;
	uint64_t seed = 14;
	int64_t k;

	subject_defaults(&f64, e);
	subject_defaults(&fix, tl_estimator_at(index, TL_FIX));
	subject_start(&f64);
	subject_start(&fix);
	for (k = 0; k < 20000; k++) {
		struct tl_sample in = wan_sample(&seed, k);
		struct tl_prediction p, q;
		e->update(f64.state, &in);
		fix.e->update(fix.state, &in);
		p = subject_query(&f64);
		q = subject_query(&fix);
		worst_rtt = fmax(worst_rtt, fabs(p.rtt_us - q.rtt_us) / (double)in.rtt_us);
		worst_rto = fmax(worst_rto, fabs(p.rto_us - q.rto_us) / p.rto_us);
	}
	CHECK(worst_rtt < 1e-3 && worst_rto < 1e-3, "%s: the arithmetics differ by %g and %g",
	      e->algorithm.name, worst_rtt, worst_rto);
	printf("%-26s fixed against double: RTT within %.2g, RTO within %.2g\n", e->algorithm.name, worst_rtt,
	       worst_rto);
	subject_stop(&f64);
	subject_stop(&fix);
}

/* Checks that run() gives the results of a loop over update() and query(), that a query changes nothing, and
 * that a state may be moved in memory. */
static void check_run(const struct tl_estimator *e)
{
	enum { ROWS = 200 };
	int64_t time_us[ROWS], sent_us[ROWS], rtt_us[ROWS];
	uint32_t flight[ROWS];
	double rtt[ROWS], rto[ROWS];
	struct tl_columns c = { time_us, sent_us, rtt_us, NULL, flight, NULL, NULL };
	struct subject s, loop;
	uint64_t seed = 15;
	int64_t k;

	for (k = 0; k < ROWS; k++) {
		struct tl_sample in = wan_sample(&seed, k);
		time_us[k] = in.time_us;
		sent_us[k] = in.sent_us;
		rtt_us[k] = k % 7 == 0 ? -1 : in.rtt_us;
		flight[k] = in.flight_segments;
	}
	subject_defaults(&s, e);
	loop = s;
	subject_start(&s);
	subject_start(&loop);
	e->run(s.state, ROWS, &c, rtt, rto);
	for (k = 0; k < ROWS; k++) {
		struct tl_prediction before = subject_query(&loop);
		CHECK(rtt[k] == before.rtt_us && rto[k] == before.rto_us, "%s: run differs in row %d",
		      e->algorithm.name, (int)k);
		if (rtt_us[k] >= 0) {
			struct tl_sample in = sample_of(time_us[k], rtt_us[k], flight[k]);
			in.sent_us = sent_us[k];
			e->update(loop.state, &in);
		}
	}
	/* compare later answers, because a copied state may differ in its padding bytes */
	for (k = 0; k < ROWS; k++) {
		struct tl_sample in = wan_sample(&seed, ROWS + k);
		struct tl_prediction one = subject_query(&s), other = subject_query(&loop);
		CHECK(one.rtt_us == other.rtt_us && one.rto_us == other.rto_us,
		      "%s: states differ after row %d", e->algorithm.name, (int)k);
		e->update(s.state, &in);
		e->update(loop.state, &in);
	}
	e->run(s.state, 0, &c, NULL, NULL);
	e->run(s.state, ROWS, &c, NULL, NULL);
	subject_stop(&s);
	subject_stop(&loop);
}

/* Usage: test_properties [ESTIMATOR] */
int main(int argc, char **argv)
{
	size_t i;

	CHECK(tl_estimator_at(COUNT(ESTIMATOR), TL_F64) == NULL && tl_estimator_find("none", TL_FIX) == NULL,
	      "what is not there");
	for (i = 0; i < 2 * COUNT(ESTIMATOR); i++) {
		const struct tl_estimator *e = estimator(i);

		if (argc > 1 && !is_a(&e->algorithm, argv[1]))
			continue;
		CHECK(e->timer == estimator(i ^ 1)->timer, "%s: the arithmetics differ", e->algorithm.name);
		check_streams(e, 0, 100 + i);
		check_streams(e, 1, 200 + i);
		check_range(e);
		check_run(e);
		if (averages(e) || strcmp(e->algorithm.name, "experts") == 0)
			check_monotone(e, strcmp(e->algorithm.name, "experts") == 0);
		if ((averages(e) && !counts_ticks(e)) || strcmp(e->algorithm.name, "experts/fitted") == 0)
			check_scaling(e);
		if (e->algorithm.arithmetic == TL_F64)
			check_arithmetics_agree(i / 2);
	}
	return finish();
}
