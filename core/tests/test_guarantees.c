/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks the bounds that docs/algorithms/tracking.md and conformal.md prove, on adversarial series: each
 * sample may depend on everything that the estimator is about to predict. */
#include "check.h"
#include "tcplearn/estimators.h"

#define STEPS 20000
#define Y_MAX 60000000.0 /* no sample exceeds the cap of the RTO */
#define BUDGET_ADVERSARIES 10
#define TIMER_ADVERSARIES 11

enum { PREDICTORS_ALL = 4095, PREDICTORS_LAST = 1 };

/* What an adversary knows when it chooses the next sample. */
struct view {
	int64_t k;
	double rtt, rto, last, excess;
	uint32_t stage;
	uint64_t *seed;
};

static double noise(uint64_t *seed, double below)
{
	return below * (double)(random_next(seed) >> 11) * 0x1p-53;
}

/* Returns a sample that makes the prediction of `tracking` worse than the last value. */
static double budget_adversary(int kind, const struct view *s)
{
	double away = s->rtt > s->last ? -1 : 1;

	switch (kind) {
	case 0: return 20000 + noise(s->seed, 5000);
	case 1: return s->last + noise(s->seed, 400) - 200; /* a walk */
	case 2: return s->last + away * 1000;               /* opposite to the prediction */
	case 3: return fabs(s->rtt - s->last) > 100 ? s->last : s->last * (1 + away / 4); /* deviate: stay */
	case 4: return s->k / 50 % 2 ? 300000 : 10000;
	case 5: return s->k % 37 == 0 ? 900000 : 20000 + noise(s->seed, 100);
	case 6: return noise(s->seed, 1) < 0.01 ? s->last * 8 : s->last * 0.97;
	case 7: return s->k % 2 ? s->last * 1.5 : s->last / 1.5;
	case 8: return s->rtt < 30000 ? 60000 : 1;                   /* to the other extreme */
	default: return 50000 * pow(noise(s->seed, 1) + 1e-9, -0.7); /* a Pareto tail */
	}
}

/* Against the timer. */
static double timer_adversary(int kind, const struct view *s)
{
	double above = s->rto + 1, low = 1000;

	switch (kind) {
	case 0: return above;
	case 1: return s->rto - 1;
	case 2: return s->k % 2 ? above : low;
	case 3: return noise(s->seed, 1) < 0.1 ? above : s->rtt * 0.9;
	case 4: return s->excess < 3 ? above : low; /* misses until excess is 3 */
	case 5: return s->stage == 0 || s->stage > 8 ? s->rto * 1.5 : s->rtt * 1.6; /* false steps */
	case 6: return s->k / 50 % 2 ? s->rto * 1.2 : low;
	case 7: return low + noise(s->seed, Y_MAX - low);
	case 8: return s->k % 40 == 0 ? above : s->k / 40 % 2 ? 3 * low : low; /* square waves */
	case 9: return s->rto < Y_MAX / 2 ? above : s->rtt;                    /* miss while the RTO is low */
	default: return 50000;
	}
}

static int64_t whole(double y)
{
	return (int64_t)floor(fmin(fmax(y, 1), Y_MAX));
}

static double budget_share[2], excess_share, excess_most, excess_end, count_share, count_most;

#include "tcplearn/arithmetic/double.h"
#include "guarantees.h"
#include "tcplearn/arithmetic/end.h"

#include "tcplearn/arithmetic/fixed.h"
#include "guarantees.h"
#include "tcplearn/arithmetic/end.h"

static void check_budgets(void)
{
	static const uint32_t banks[] = { 3965, PREDICTORS_ALL, PREDICTORS_LAST, 1u << TL_P_DRIFT,
					  1u << TL_P_AFFINE };
	int kind;
	size_t b;

	for (kind = 0; kind < BUDGET_ADVERSARIES; kind++) {
		for (b = 0; b < sizeof(banks) / sizeof(banks[0]); b++) {
			uint64_t seed = 31 + (uint64_t)kind;
			tl_budget_f64(kind, TL_COMBINER_REGRET, banks[b], TL_BUDGET_ON, seed);
			tl_budget_fix(kind, TL_COMBINER_REGRET, banks[b], TL_BUDGET_ON, seed);
			tl_budget_f64(kind, TL_COMBINER_REGRET, banks[b], TL_BUDGET_FIRST, seed);
			tl_budget_fix(kind, TL_COMBINER_REGRET, banks[b], TL_BUDGET_FIRST, seed);
		}
		tl_budget_f64(kind, TL_COMBINER_FIXED_SHARE, PREDICTORS_ALL, TL_BUDGET_ON, 41);
		tl_budget_fix(kind, TL_COMBINER_FIXED_SHARE, PREDICTORS_ALL, TL_BUDGET_ON, 41);
	}
	printf("budget: at most %.3f times the loss of last, with the starting grants taken off; as first "
	       "released "
	       "%.3f\n",
	       budget_share[0], budget_share[1]);
}

static void check_count_of(int kind, double miss, uint8_t over, uint8_t at, int64_t window)
{
	struct tl_conformal_params_f64 f64;
	struct tl_conformal_params_fix fix;

	tl_conformal_defaults_f64(&f64);
	tl_conformal_defaults_fix(&fix);
	f64.miss = miss;
	fix.miss = (int64_t)(miss * 1073741824.0 + 0.5);
	f64.over = fix.over = over;
	f64.at = fix.at = at;
	tl_counted_f64(kind, &f64, window, 71);
	tl_counted_fix(kind, &fix, window, 71);
	f64.steps = fix.steps = TL_OFF;
	tl_counted_f64(kind, &f64, window, 72);
	tl_counted_fix(kind, &fix, window, 72);
}

static void check_count(void)
{
	static const double misses[] = { 0.5, 0.1, 0.01, 0.001 };
	uint8_t over;
	int kind;
	size_t m;

	for (kind = 0; kind < TIMER_ADVERSARIES; kind++) {
		for (m = 0; m < sizeof(misses) / sizeof(misses[0]); m++) {
			for (over = TL_OVER_TRACKING; over <= TL_OVER_TRACKING_FIRST; over++)
				check_count_of(kind, misses[m], over, TL_AT_ACK, 1);
			check_count_of(kind, misses[m], TL_OVER_TRACKING, TL_AT_SEND, 1);
			check_count_of(kind, misses[m], TL_OVER_LAST, TL_AT_SEND, 10);
			check_count_of(kind, misses[m], TL_OVER_TRACKING, TL_AT_SEND, 50);
		}
	}
	printf("conformal: |excess| at most %.1f, at most %.2f of its bound, of that in flights too\n",
	       count_most, count_share);
}

static void check_identity(void)
{
	static const double misses[] = { 0.1, 0.01, 0.001 };
	uint8_t over;
	int kind;
	size_t m;

	for (kind = 0; kind < TIMER_ADVERSARIES; kind++) {
		for (m = 0; m < sizeof(misses) / sizeof(misses[0]); m++) {
			for (over = TL_OVER_TRACKING; over <= TL_OVER_LAST; over++) {
				tl_identity_f64(kind, over, misses[m], TL_ON, TL_ON, 51);
				tl_identity_fix(kind, over, misses[m], TL_ON, TL_ON, 51);
			}
			tl_identity_f64(kind, TL_OVER_LAST, misses[m], TL_ON, TL_OFF, 52);
			tl_identity_fix(kind, TL_OVER_LAST, misses[m], TL_ON, TL_OFF, 52);
		}
	}
	printf("conformal/first: |excess| at most %.1f on the way and %.1f after %d samples, at most %.2f of "
	       "its "
	       "bound\n",
	       excess_most, excess_end, STEPS, excess_share);
	for (kind = 0; kind < TIMER_ADVERSARIES; kind++) {
		tl_identity_f64(kind, TL_OVER_JACOBSON, 0.05, TL_OFF, TL_ON, 53);
		tl_identity_fix(kind, TL_OVER_JACOBSON, 0.05, TL_OFF, TL_ON, 53);
	}
}

/* Checks that RTTs multiplied by a power of two give predictions multiplied by exactly the same factor. */
static void check_units(const char *name, const char *key, double value)
{
	const struct tl_estimator *e = tl_estimator_find(name, TL_F64);
	struct subject one, two;
	uint64_t seed = 61;
	struct view view = { 0, 0, 0, 20000, 0, 0, &seed };
	int kind;

	for (kind = 0; kind < BUDGET_ADVERSARIES; kind++) {
		int64_t power = (int64_t)1 << (1 + kind % 5);
		subject_defaults(&one, e);
		CHECK(!subject_set(&one, "granularity_us", 0) && !subject_set(&one, key, value) &&
			      !subject_set(&one, "rto_max_us", 4294967296.0),
		      "parameters");
		two = one;
		subject_start(&one);
		subject_start(&two);
		for (view.k = 0; view.k < 5000; view.k++) {
			int64_t y = 100 + whole(budget_adversary(kind, &view));
			struct tl_sample in = sample_of(view.k, y, 1);
			struct tl_prediction p, q;
			e->update(one.state, &in);
			in.rtt_us = power * y;
			e->update(two.state, &in);
			p = subject_query(&one);
			q = subject_query(&two);
			/* the floor of the RTO, 1 us, is the only constant of these estimators in
			 * microseconds */
			CHECK(q.rtt_us == (double)power * p.rtt_us &&
				      (q.rto_us == (double)power * p.rto_us || p.rto_us <= 1),
			      "%s, adversary %d: %.17g, times %d: %.17g", name, kind, p.rtt_us, (int)power,
			      q.rtt_us);
			view.last = (double)y;
			view.rtt = p.rtt_us;
		}
		subject_stop(&one);
		subject_stop(&two);
	}
}

/* Checks that the states are small enough to be kept for each connection. */
static void check_sizes(void)
{
	static const char *const names[] = { "tracking", "conformal" };
	size_t i, arithmetic;

	for (i = 0; i < 2; i++) {
		for (arithmetic = 0; arithmetic < 2; arithmetic++) {
			struct subject s;
			subject_defaults(&s, tl_estimator_find(names[i], (enum tl_arithmetic)arithmetic));
			CHECK(s.e->algorithm.state_bytes(s.params) <= 1500, "%s: %u bytes", names[i],
			      s.e->algorithm.state_bytes(s.params));
			printf("%s, %s: %u bytes\n", names[i], arithmetic == TL_F64 ? "double" : "fixed",
			       s.e->algorithm.state_bytes(s.params));
		}
	}
}

int main(void)
{
	check_budgets();
	check_count();
	check_identity();
	check_units("tracking", "k", 4);
	check_units("tracking", "combiner", TL_COMBINER_FIXED_SHARE);
	check_units("tracking", "predictors", PREDICTORS_ALL);
	check_units("tracking/first", "k", 4);
	check_units("tracking/study", "k", 4);
	check_sizes();
	return finish();
}
