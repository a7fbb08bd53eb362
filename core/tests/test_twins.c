/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Slow, plain twins of the fast paths: nunes2014's Algorithm 1 as it is printed, in long double. */
#include "check.h"

#define N_MAX 100

struct plain {
	unsigned n, loss;
	long double eta, alpha, over, under, unit_us;
	long double x[N_MAX], w[N_MAX];
};

static void plain_init(struct plain *t, const struct subject *s)
{
	unsigned i;

	t->n = (unsigned)subject_get(s, "n");
	t->loss = (unsigned)subject_get(s, "loss");
	t->eta = subject_get(s, "eta");
	t->alpha = subject_get(s, "alpha");
	t->over = subject_get(s, "over");
	t->under = subject_get(s, "under");
	t->unit_us = subject_get(s, "tick_us") * subject_get(s, "scale");
	for (i = 1; i <= t->n; i++) {
		long double octaves = ((long double)i - t->n) / subject_get(s, "per_octave");
		t->x[i - 1] = subject_get(s, "rtt_min") + subject_get(s, "rtt_max") * exp2l(octaves);
		t->w[i - 1] = 1.0L / t->n;
	}
}

static long double plain_predict(const struct plain *t)
{
	long double dot = 0, sum = 0;
	unsigned i;

	for (i = 0; i < t->n; i++) {
		dot += t->w[i] * t->x[i];
		sum += t->w[i];
	}
	return dot / sum * t->unit_us;
}

static long double plain_loss(const struct plain *t, long double x, long double y)
{
	if (t->loss == 0)
		return x >= y ? (x - y) * (x - y) : 2 * y;
	if (t->loss == 1)
		return (x - y) * (x - y);
	return x >= y ? t->over * (x - y) : t->under * (y - x);
}

/* Steps 2 to 4, then the periodic rescaling: here each time, by the sum. */
static void plain_trial(struct plain *t, int64_t rtt_us)
{
	long double y = (long double)rtt_us / t->unit_us, pool = 0, sum = 0;
	unsigned i;

	for (i = 0; i < t->n; i++) {
		t->w[i] *= expl(-t->eta * plain_loss(t, t->x[i], y));
		pool += t->alpha * t->w[i];
	}
	for (i = 0; i < t->n; i++) {
		t->w[i] = (1 - t->alpha) * t->w[i] + pool / t->n;
		sum += t->w[i];
	}
	for (i = 0; i < t->n; i++)
		t->w[i] /= sum;
}

static void check_experts(enum tl_model model, double loss, double eta, double tick_us, double n,
			  double tolerance)
{
	struct subject s;
	struct plain t;
	uint64_t seed = 7;
	double worst = 0;
	int k;

	subject_defaults(&s, tl_estimator_find("experts", model));
	CHECK(!subject_set(&s, "loss", loss) && !subject_set(&s, "eta", eta) &&
		      !subject_set(&s, "tick_us", tick_us) && !subject_set(&s, "n", n) &&
		      !subject_set(&s, "under", 3),
	      "parameters");
	subject_start(&s);
	plain_init(&t, &s);
	for (k = 0; k < 2000; k++) {
		int64_t base = k % 500 < 250 ? 4000 : 60000, rtt_us = base + random_below(&seed, base);
		struct tl_sample in = sample_of(k * 1000, rtt_us, 1);
		double error;

		s.e->update(s.state, &in);
		plain_trial(&t, rtt_us);
		error = fabs((double)(subject_query(&s).rtt_us / plain_predict(&t) - 1));
		worst = fmax(worst, error);
	}
	CHECK(worst < tolerance, "model %d, loss %g, eta %g, tick %g, n %g: %g off", model, loss, eta,
	      tick_us, n, worst);
	subject_stop(&s);
}

int main(void)
{
	double loss;

	for (loss = 0; loss <= 2; loss++) {
		check_experts(TL_F64, loss, 2, 4000, 100, 1e-12);
		check_experts(TL_F64, loss, 2, 1000, 100, 1e-12);
		check_experts(TL_F64, loss, 0.1, 2000, 17, 1e-12);
		check_experts(TL_FIX, loss, 2, 4000, 100, 1e-4);
		check_experts(TL_FIX, loss, 0.1, 2000, 17, 1e-4);
	}
	return finish();
}
