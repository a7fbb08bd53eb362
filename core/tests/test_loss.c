/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks properties that every loss classifier must have for any input. The tests find a registered
 * classifier by themselves. */
#include "loss_check.h"

#include "tcplearn/wrap.h"

static uint32_t odd_count(uint64_t *seed)
{
	static const uint32_t counts[] = { 0,           1,          2, 10, 1000, 1u << 20, (1u << 20) + 1,
					   0x7fffffffu, 0xffffffffu };

	return counts[random_below(seed, 9)];
}

static int64_t odd_time(uint64_t *seed)
{
	static const int64_t times[] = { 0,
					 1,
					 -1,
					 50000,
					 INT64_MIN,
					 INT64_MAX,
					 (int64_t)1 << 32,
					 ((int64_t)1 << 32) + 1,
					 -((int64_t)1 << 62) };

	return times[random_below(seed, 9)];
}

/* Returns an ACK of a path with RTTs between 20 and 40 ms, or if `hostile` one with any values. */
static struct tl_loss_ack some_ack(uint64_t *seed, int64_t *now_us, int hostile)
{
	struct tl_loss_ack a;

	*now_us += random_below(seed, 2000);
	a.time_us = hostile ? odd_time(seed) : *now_us;
	a.rtt_us = hostile ? odd_time(seed) : 20000 + random_below(seed, 20000);
	a.delivered_segments = hostile ? odd_count(seed) : 1;
	a.duplicate = (uint32_t)random_below(seed, 2);
	return a;
}

static struct tl_loss_moment some_moment(uint64_t *seed, int64_t now_us, int hostile)
{
	struct tl_loss_moment at;

	at.time_us = hostile ? odd_time(seed) : now_us;
	at.flight_segments = hostile ? odd_count(seed) : 20;
	at.cwnd_segments = hostile ? odd_count(seed) : 20;
	at.ssthresh_segments = hostile ? odd_count(seed) : 10;
	at.truth = (uint32_t)random_below(seed, 3);
	return at;
}

static void check_size(const struct tl_loss_classifier *c)
{
	struct classifier s;

	classifier_defaults(&s, c);
	CHECK(c->algorithm.state_bytes(s.params) <= 520, "%s: %u bytes of state", c->algorithm.name,
	      c->algorithm.state_bytes(s.params));
}

static void random_params(struct classifier *s, uint64_t *seed)
{
	uint32_t i;

	for (i = 0; i < s->c->algorithm.param_count; i++) {
		const struct tl_param *p = &s->c->algorithm.params[i];
		double unit = (double)(random_next(seed) >> 11) * 0x1p-53;
		double value = param_low(p) + (param_high(p) - param_low(p)) * unit;

		if (random_below(seed, 2))
			CHECK(s->c->algorithm.set(s->params, i,
						  p->type == TL_PARAM_RATIO ? value : floor(value)) == 0,
			      "%s: %s refuses %g", s->c->algorithm.name, p->key, value);
	}
}

static void check_features(const struct classifier *s, const struct tl_loss_moment *at,
			   const struct tl_loss_decision *said)
{
	double f[TL_LOSS_FEATURE_COUNT];
	struct tl_loss_decision d;
	size_t i;

	s->c->features(s->state, at, f);
	for (i = 0; i < TL_LOSS_FEATURE_COUNT; i++) {
		const struct tl_loss_feature_info *info = tl_loss_feature_at(i);
		CHECK(f[i] == 0 || (f[i] >= info->low && f[i] <= info->high), "%s: %s is %g",
		      s->c->algorithm.name, info->name, f[i]);
	}
	s->c->judge(s->state, f, at, &d);
	CHECK(d.congestion == said->congestion && d.cause == said->cause,
	      "%s: decide() is not judge() of the features", s->c->algorithm.name);
}

static void check_streams(const struct tl_loss_classifier *c, int hostile, uint64_t seed)
{
	int round, k;

	for (round = 0; round < 40; round++) {
		struct classifier s;
		int64_t now_us = 0;

		classifier_defaults(&s, c);
		if (round > 0)
			random_params(&s, &seed);
		classifier_start(&s);
		for (k = 0; k < 300; k++) {
			struct tl_loss_ack a = some_ack(&seed, &now_us, hostile && random_below(&seed, 2));
			struct tl_loss_moment at = some_moment(&seed, now_us, hostile);
			struct tl_loss_decision d;

			s.c->observe(s.state, &a);
			if (random_below(&seed, 6))
				continue;
			d = classifier_decide(&s, &at);
			check_features(&s, &at, &d);
			s.c->change(s.state, &at, (enum tl_loss_change)random_below(&seed, 4), d.cause);
		}
		classifier_stop(&s);
	}
}

/* Checks that features that are NaN, infinite or out of bounds give an answer, and the same answer each
 * time. */
static void check_odd_features(const struct tl_loss_classifier *c)
{
	static const double odd[] = { NAN, INFINITY, -INFINITY, 1e300, -1e300, 0 };
	struct tl_loss_moment at = { 0, 10, 10, 10, TL_LOSS_UNKNOWN };
	double f[TL_LOSS_FEATURE_COUNT];
	struct classifier s;
	size_t i, k, j;

	classifier_defaults(&s, c);
	classifier_start(&s);
	for (i = 0; i < TL_LOSS_FEATURE_COUNT; i++) {
		for (k = 0; k < 6; k++) {
			struct tl_loss_decision d;

			for (j = 0; j < TL_LOSS_FEATURE_COUNT; j++)
				f[j] = j == i ? odd[k] : 0.5;
			c->judge(s.state, f, &at, &d);
			CHECK(d.congestion >= 0 && d.congestion <= 1, "%s: %s = %g: probability %g",
			      c->algorithm.name, tl_loss_feature_at(i)->name, odd[k], d.congestion);
			CHECK(d.cause == TL_LOSS_CONGESTION || d.cause == TL_LOSS_RANDOM, "%s: cause",
			      c->algorithm.name);
		}
	}
	classifier_stop(&s);
}

/* Checks that no segment in flight counts as one, and that a loss before the first RTT counts as
 * congestion. */
static void check_empty(const struct tl_loss_classifier *c)
{
	struct tl_loss_moment none = { 50000, 0, 0, 10, TL_LOSS_CONGESTION },
			      one = { 50000, 1, 1, 10, TL_LOSS_CONGESTION };
	struct tl_loss_ack a = { 40000, 30000, 1, 0 };
	struct tl_loss_decision p, q;
	struct classifier s;

	classifier_defaults(&s, c);
	classifier_start(&s);
	p = classifier_decide(&s, &none);
	CHECK(p.cause == TL_LOSS_CONGESTION || strcmp(c->algorithm.name, "random") == 0, "%s: without an RTT",
	      c->algorithm.name);
	c->observe(s.state, &a);
	p = classifier_decide(&s, &none);
	q = classifier_decide(&s, &one);
	CHECK(p.congestion == q.congestion && p.cause == q.cause, "%s: P = 0", c->algorithm.name);
	classifier_stop(&s);
}

/* On paths that exist the two arithmetics give the same features to 2^-10 of their range or 1e-3. */
static void check_twins(void)
{
	struct classifier fix, f64;
	double a[TL_LOSS_FEATURE_COUNT], b[TL_LOSS_FEATURE_COUNT];
	int64_t now_us = 0;
	uint64_t seed = 7;
	size_t i;
	int k;

	classifier_defaults(&fix, tl_loss_find("mlp", TL_FIX));
	classifier_defaults(&f64, tl_loss_find("mlp", TL_F64));
	classifier_start(&fix);
	classifier_start(&f64);
	for (k = 0; k < 20000; k++) {
		struct tl_loss_ack in = some_ack(&seed, &now_us, 0);
		struct tl_loss_moment at = some_moment(&seed, now_us, 0);

		fix.c->observe(fix.state, &in);
		f64.c->observe(f64.state, &in);
		if (random_below(&seed, 40))
			continue;
		fix.c->features(fix.state, &at, a);
		f64.c->features(f64.state, &at, b);
		for (i = 0; i < TL_LOSS_FEATURE_COUNT; i++)
			CHECK(fabs(a[i] - b[i]) <= 1e-3, "%s: %g and %g", tl_loss_feature_at(i)->name, a[i],
			      b[i]);
		CHECK(fabs(classifier_decide(&fix, &at).congestion -
			   classifier_decide(&f64, &at).congestion) <= 1e-3,
		      "mlp: arithmetics differ");
		fix.c->change(fix.state, &at, TL_LOSS_BEGUN, TL_LOSS_RANDOM);
		f64.c->change(f64.state, &at, TL_LOSS_BEGUN, TL_LOSS_RANDOM);
	}
	classifier_stop(&fix);
	classifier_stop(&f64);
}

/* Compares log2 and the logistic function of both arithmetics with libm. */
static void check_numbers(void)
{
	uint64_t seed = 9;
	int k;

	for (k = 0; k < 100000; k++) {
		double x = exp2((double)random_below(&seed, 60 << 10) / 1024.0 - 29.0), y;
		int64_t whole = (int64_t)(x * 1073741824.0 + 0.5);

		CHECK(fabs(tl_loss_log2_f64(x) - log2(x)) <= 1e-13, "log2 %.17g", x);
		CHECK(fabs((double)tl_loss_log2_fix(whole) / 1073741824.0 - log2((double)whole) + 30) <=
			      0x1p-27,
		      "log2 of %lld", (long long)whole);
		y = ((double)random_below(&seed, 80000) - 40000) / 1000;
		CHECK(fabs(tl_mlp_probability_f64(y) - 1 / (1 + exp(-y))) <= 1e-15, "logistic %g", y);
		CHECK(fabs((double)tl_mlp_probability_fix((int64_t)(y * 0x1p48)) / 1073741824.0 -
			   1 / (1 + exp(-y))) <= 0x1p-27,
		      "logistic in fixed point, %g", y);
		CHECK(fabs(tl_mlp_odds_of_f64(y) - fmin(fmax(y, -32), 32)) <= 1e-15, "log odds %g", y);
		CHECK(fabs((double)tl_mlp_odds_of_fix((int64_t)(y * 0x1p48)) / 1073741824.0 -
			   fmin(fmax(y, -32), 32)) <= 0x1p-30,
		      "log odds in fixed point, %g", y);
	}
}

/* A sender at a bottleneck: a window of segments per round trip, which grows by one; a segment takes 1 ms,
 * the base RTT is 15 ms, the queue has 40 places. `kept` and `halved` count the decisions of the last half of
 * the rounds, separately for overflows ([1]) and random losses ([0]). */
struct tried {
	uint32_t kept[2], halved[2];
};

static struct tried try_sender(enum tl_arithmetic arithmetic, double loss, uint64_t seed)
{
	enum { ROUNDS = 4000, BASE = 15, QUEUE = 40 };
	struct tried out = { { 0, 0 }, { 0, 0 } };
	uint32_t cwnd = 10, ssthresh = 20, round, i;
	struct classifier s;
	int64_t now_us = 0;

	classifier_defaults(&s, tl_loss_find("online", arithmetic));
	classifier_start(&s);
	for (round = 0; round < ROUNDS; round++) {
		const uint32_t waiting = cwnd > BASE ? cwnd - BASE : 0;
		const int full = waiting > QUEUE;
		const int64_t rtt_us = 1000 * (BASE + (int64_t)(full ? QUEUE : waiting));
		int random = 0;

		for (i = 0; i < cwnd && !random; i++) {
			struct tl_loss_ack a = { now_us += rtt_us / cwnd, rtt_us, 1, 0 };

			s.c->observe(s.state, &a);
			random = random_below(&seed, 1000000) < 1e6 * loss;
		}
		if (full || random) {
			struct tl_loss_moment at = { now_us, cwnd, cwnd, ssthresh, TL_LOSS_UNKNOWN };
			struct tl_loss_decision d = classifier_decide(&s, &at);

			s.c->change(s.state, &at, TL_LOSS_BEGUN, d.cause);
			if (d.cause == TL_LOSS_CONGESTION)
				ssthresh = at.cwnd_segments = cwnd = cwnd / 2 > 2 ? cwnd / 2 : 2;
			s.c->change(s.state, &at, TL_LOSS_ENDED, TL_LOSS_UNKNOWN);
			if (round > ROUNDS / 2)
				(d.cause == TL_LOSS_RANDOM ? out.kept : out.halved)[full]++;
		} else {
			cwnd++;
		}
	}
	classifier_stop(&s);
	return out;
}

/* Without random loss `online` does what the standard does. With it, it learns to keep the window at most
 * random losses; it halves it at most overflows too, if these are not rarer than random losses. */
static void check_online(void)
{
	uint32_t i;

	for (i = 0; i < 6; i++) {
		const enum tl_arithmetic arithmetic = i % 2 ? TL_FIX : TL_F64;
		const struct tried clean = try_sender(arithmetic, 0, 1 + i);
		const struct tried rare = try_sender(arithmetic, 0.002, 1 + i);
		const struct tried lossy = try_sender(arithmetic, 0.01, 1 + i);

		CHECK(clean.kept[1] == 0 && clean.halved[1] > 10, "online: kept %u of %u at a full queue",
		      clean.kept[1], clean.kept[1] + clean.halved[1]);
		CHECK(rare.kept[0] > 2 * rare.halved[0] && lossy.kept[0] > 2 * lossy.halved[0],
		      "online: kept %u, halved %u at random losses", lossy.kept[0], lossy.halved[0]);
		CHECK(rare.halved[1] > 2 * rare.kept[1],
		      "online: kept %u, halved %u at a full queue with random losses", rare.kept[1],
		      rare.halved[1]);
	}
}

int main(void)
{
	size_t i;

	CHECK(tl_loss_at(COUNT(LOSS), TL_FIX) == NULL && tl_loss_find("none", TL_F64) == NULL &&
		      tl_loss_feature_at(TL_LOSS_FEATURE_COUNT) == NULL,
	      "past the end");
	for (i = 0; i < 2 * COUNT(LOSS); i++) {
		const struct tl_loss_classifier *c = tl_loss_at(i / 2, i % 2 ? TL_FIX : TL_F64);

		check_size(c);
		check_streams(c, 0, 1 + i);
		check_streams(c, 1, 100 + i);
		check_odd_features(c);
		check_empty(c);
	}
	check_twins();
	check_numbers();
	check_online();
	return finish();
}
