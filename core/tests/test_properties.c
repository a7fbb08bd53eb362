/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What must hold for every registered estimator in both arithmetics, over seeded streams. An
 * estimator added to the registry is found by itself; those with more to promise are listed by name. */
#include "check.h"

static const struct tl_estimator *estimator(size_t i)
{
	return i % 2 ? tl_estimator_at(i / 2, TL_FIX) : tl_estimator_at(i / 2, TL_F64);
}

/* Predictions that average samples: within their range, rising with them, scaling with them. */
static int averages(const struct tl_estimator *e)
{
	return is_a(e, "last") || is_a(e, "jacobson") || is_a(e, "linux") || is_a(e, "rfc9002") ||
	       is_a(e, "eifel");
}

/* In whole ticks of a clock: no unit but that. */
static int counts_ticks(const struct tl_estimator *e)
{
	return strncmp(e->name, "jacobson/freebsd", strlen("jacobson/freebsd")) == 0;
}

/* A path with noise, a queue and spikes; rtt_us between 20 and 400 ms. */
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

	CHECK(isfinite(p.rtt_us) && isfinite(p.rto_us), "%s: not finite", s->e->name);
	CHECK(p.rto_us >= fmax(low, 1) && p.rto_us <= fmax(high, 1), "%s: RTO %g not in [%g, %g]", s->e->name,
	      p.rto_us, low, high);
	/* linreg extrapolates, and may go below 0, as may tracking as it was studied; no estimator goes
	 * beyond its widest grid or gain */
	CHECK(is_a(s->e, "linreg") || bound(s, "dead_zone", 0) > 0 ? fabs(p.rtt_us) < 1e12
								   : p.rtt_us >= 0 && p.rtt_us < 4e13,
	      "%s: predicts %g", s->e->name, p.rtt_us);
}

static void check_params(const struct tl_estimator *e, const struct tl_estimator *other)
{
	struct subject s, twin;
	size_t i;

	CHECK(e->params_bytes <= TL_PARAMS_BYTES_MAX, "%s: %zu bytes of parameters", e->name,
	      e->params_bytes);
	CHECK(strcmp(e->name, other->name) == 0 && e->param_count == other->param_count &&
		      e->timer == other->timer,
	      "%s: the arithmetics differ", e->name);
	CHECK(e->learned == other->learned && strcmp(e->about, other->about) == 0 &&
		      (e->about[0] != 0 || strchr(e->name, '/') != NULL),
	      "%s: about", e->name);
	CHECK(tl_estimator_find(e->name, e->arithmetic) == e, "%s: not found by name", e->name);
	subject_defaults(&s, e);
	subject_defaults(&twin, other);
	for (i = 0; i < e->param_count; i++) {
		const struct tl_param *p = &e->params[i];
		double value = e->get(s.params, i), third = p->low + (p->high - p->low) / 3;

		CHECK(value >= p->low && value <= p->high, "%s: default of %s is %g", e->name, p->key, value);
		CHECK(fabs(value - other->get(twin.params, i)) < 1e-9, "%s: defaults of %s differ", e->name,
		      p->key);
		CHECK(e->set(s.params, i, NAN) == -1 &&
			      e->set(s.params, i, nextafter(p->low, -INFINITY)) == -1 &&
			      e->set(s.params, i, nextafter(p->high, INFINITY)) == -1 &&
			      e->set(s.params, i, -INFINITY) == -1 && e->set(s.params, i, INFINITY) == -1,
		      "%s: %s takes what is out of range", e->name, p->key);
		CHECK(e->get(s.params, i) == value, "%s: %s changed by a refused value", e->name, p->key);
		CHECK(e->set(s.params, i, third) == 0, "%s: %s refuses %g", e->name, p->key, third);
		CHECK(fabs(e->get(s.params, i) - third) <= (p->type == TL_PARAM_RATIO ? 1e-9 : 0.5),
		      "%s: %s: %g became %g", e->name, p->key, third, e->get(s.params, i));
		CHECK(e->set(s.params, i, p->low) == 0 && fabs(e->get(s.params, i) - p->low) <= 1e-9 &&
			      e->set(s.params, i, p->high) == 0 &&
			      fabs(e->get(s.params, i) - p->high) <= 1e-9,
		      "%s: %s: bounds", e->name, p->key);
		CHECK((p->type == TL_PARAM_CHOICE) == (p->choices != NULL), "%s: %s: choices", e->name,
		      p->key);
	}
	CHECK(e->set(s.params, e->param_count, 1) == -1, "%s: sets a parameter past the end", e->name);
}

/* Parameters anywhere within their ranges, mostly near the ends or the default. */
static void random_params(struct subject *s, uint64_t *seed)
{
	size_t i;

	for (i = 0; i < s->e->param_count; i++) {
		const struct tl_param *p = &s->e->params[i];
		double unit = (double)(random_next(seed) >> 11) * 0x1p-53;
		double value;

		switch (random_below(seed, 6)) {
		case 0: value = p->low; break;
		case 1: value = p->high; break;
		case 2: value = p->low + (p->high - p->low) * unit; break;
		case 3: value = p->low + (p->high - p->low) * pow(unit, 20); break;
		default: continue;
		}
		CHECK(s->e->set(s->params, i, value) == 0, "%s: %s refuses %g", s->e->name, p->key, value);
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
	double low = 1e18, high = 0, slack = e->arithmetic == TL_FIX ? 1.0 / 128 : 1e-6;
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
		if (averages(e)) { /* a count of ticks: within one below the RTT and two above */
			double tick = counts_ticks(e) ? bound(&s, "tick_us", 0) : 0;
			CHECK(rtt_us >= low - tick - slack && rtt_us <= high + 2 * tick + slack,
			      "%s: %g not in [%g, %g]", e->name, rtt_us, low, high);
		}
		if (is_a(e, "experts")) { /* within the grid; a fitted one has seen only these samples */
			double unit = bound(&s, "tick_us", 1) * bound(&s, "scale", 1);
			double fit = bound(&s, "fit", 0), span = subject_get(&s, "rtt_max");
			double most = subject_get(&s, "rtt_min") + span;
			CHECK(rtt_us <= most * (fit > 0 ? high / fit : unit) + 1, "%s: above the grid",
			      e->name);
			CHECK(rtt_us >= subject_get(&s, "rtt_min") * (fit > 0 ? low / fit - 1 : unit) - 1,
			      "%s: below the grid", e->name);
		}
	}
	subject_stop(&s);
}

/* Of two samples after the same past, the larger gives no smaller prediction. */
static void check_monotone(const struct tl_estimator *e, int squared)
{
	double slack = e->arithmetic == TL_FIX ? 0.5 : 1e-6, before;
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
			CHECK(subject_query(&s).rtt_us >= before - slack, "%s: falls at %lld", e->name,
			      (long long)y);
			before = subject_query(&s).rtt_us;
		}
	}
	free(saved);
	subject_stop(&s);
}

/* Without constants in microseconds an estimator has no unit: twice the RTTs, twice the answers. */
static void check_scaling(const struct tl_estimator *e)
{
	static const char *const units[] = { "granularity_us", "tick_us", "variance_floor_us",
					     "max_ack_delay_us", "rto_min_us" };
	double slack = e->arithmetic == TL_FIX ? 0.5 : 0; /* rounding; where it is divided by a gain, more */
	uint64_t seed = 13;
	struct subject one, two;
	int64_t k;
	size_t i;

	subject_defaults(&one, e);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!isnan(subject_get(&one, units[i])) && !is_a(e, "experts"))
			CHECK(!subject_set(&one, units[i], 0), "%s: %s", e->name, units[i]);
	two = one;
	subject_start(&one);
	subject_start(&two);
	for (k = 0; k < 1000; k++) {
		struct tl_sample in = wan_sample(&seed, k);
		struct tl_prediction p, q;
		in.rtt_us = in.rtt_us / 16 * 16; /* a fitted grid's unit is exact */
		e->update(one.state, &in);
		in.rtt_us *= 2;
		e->update(two.state, &in);
		p = subject_query(&one);
		q = subject_query(&two);
		CHECK(fabs(q.rtt_us - 2 * p.rtt_us) <= slack + 1e-9 &&
			      fabs(q.rto_us - 2 * p.rto_us) <= 1e-5 * slack * q.rto_us + slack + 1e-9,
		      "%s: %g, %g and twice that: %g, %g", e->name, p.rtt_us, p.rto_us, q.rtt_us, q.rto_us);
	}
	subject_stop(&one);
	subject_stop(&two);
}

/* 0.1 % of the RTT, and what rounding to 2^-8 us with a gain of 1/8 leaves. */
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
	CHECK(worst_rtt < 1e-3 && worst_rto < 1e-3, "%s: the arithmetics differ by %g and %g", e->name,
	      worst_rtt, worst_rto);
	printf("%-26s fixed against double: RTT within %.2g, RTO within %.2g\n", e->name, worst_rtt,
	       worst_rto);
	subject_stop(&f64);
	subject_stop(&fix);
}

/* run() is the loop it stands for; a query changes nothing; a state may be moved. */
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
		      e->name, (int)k);
		if (rtt_us[k] >= 0) {
			struct tl_sample in = sample_of(time_us[k], rtt_us[k], flight[k]);
			in.sent_us = sent_us[k];
			e->update(loop.state, &in);
		}
	}
	/* by what they answer from there on: a copy need not have what is between members */
	for (k = 0; k < ROWS; k++) {
		struct tl_sample in = wan_sample(&seed, ROWS + k);
		struct tl_prediction one = subject_query(&s), other = subject_query(&loop);
		CHECK(one.rtt_us == other.rtt_us && one.rto_us == other.rto_us,
		      "%s: states differ after row %d", e->name, (int)k);
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

	CHECK(tl_estimator_at(tl_estimator_count(), TL_F64) == NULL &&
		      tl_estimator_find("none", TL_FIX) == NULL,
	      "what is not there");
	for (i = 0; i < 2 * tl_estimator_count(); i++) {
		const struct tl_estimator *e = estimator(i);

		if (argc > 1 && !is_a(e, argv[1]))
			continue;
		check_params(e, estimator(i ^ 1));
		check_streams(e, 0, 100 + i);
		check_streams(e, 1, 200 + i);
		check_range(e);
		check_run(e);
		if (averages(e) || strcmp(e->name, "experts") == 0)
			check_monotone(e, strcmp(e->name, "experts") == 0);
		if ((averages(e) && !counts_ticks(e)) || strcmp(e->name, "experts/fitted") == 0)
			check_scaling(e);
		if (e->arithmetic == TL_F64)
			check_arithmetics_agree(i / 2);
	}
	return finish();
}
