/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Slow, plain twins of the fast paths: nunes2014's Algorithm 1 as it is printed, in long double. */
#include "check.h"

#define N_MAX 100

struct plain {
	unsigned n, loss, share, trials;
	long double eta, alpha, over, under, quantile, unit_us;
	long double x[N_MAX], w[N_MAX], past[N_MAX];
};

static void plain_init(struct plain *t, const struct subject *s)
{
	unsigned i;

	t->n = (unsigned)subject_get(s, "n");
	t->loss = (unsigned)subject_get(s, "loss");
	t->share = (unsigned)subject_get(s, "share");
	t->quantile = subject_get(s, "quantile");
	t->trials = 1;
	t->eta = subject_get(s, "eta");
	t->alpha = subject_get(s, "alpha");
	t->over = subject_get(s, "over");
	t->under = subject_get(s, "under");
	t->unit_us = subject_get(s, "tick_us") * subject_get(s, "scale");
	for (i = 1; i <= t->n; i++) {
		long double octaves = ((long double)i - t->n) / subject_get(s, "per_octave");
		t->x[i - 1] = subject_get(s, "rtt_min") + subject_get(s, "rtt_max") * exp2l(octaves);
		t->w[i - 1] = t->past[i - 1] = 1.0L / t->n;
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
	if (t->loss == 2)
		return x >= y ? t->over * (x - y) : t->under * (y - x);
	if (t->loss == 3)
		return fabsl(x - y);
	return x >= y ? (1 - t->quantile) * (x - y) : t->quantile * (y - x);
}

/* What of its weight an expert gives to the pool. */
static long double plain_share(const struct plain *t, unsigned i, long double y)
{
	return t->share == 1 ? 1 - expl(-t->alpha * plain_loss(t, t->x[i], y)) : t->alpha;
}

/* Steps 2 to 4, the weights divided by their sum before step 4: the periodic rescaling, here each time. */
static void plain_trial(struct plain *t, int64_t rtt_us)
{
	long double y = (long double)rtt_us / t->unit_us, pool = 0, sum = 0;
	unsigned i;

	for (i = 0; i < t->n; i++) {
		t->w[i] *= expl(-t->eta * plain_loss(t, t->x[i], y));
		sum += t->w[i];
	}
	for (i = 0; i < t->n; i++) {
		t->w[i] /= sum;
		pool += plain_share(t, i, y) * t->w[i];
	}
	for (i = 0; i < t->n; i++) {
		long double back = t->share == 2 ? t->past[i] / t->trials * pool : pool / t->n;

		t->past[i] += t->w[i];
		t->w[i] = (1 - plain_share(t, i, y)) * t->w[i] + back;
	}
	t->trials++;
}

static void check_experts(enum tl_model model, double loss, double share, double eta, double tick_us,
			  double n, double tolerance)
{
	struct subject s;
	struct plain t;
	uint64_t seed = 7;
	double worst = 0;
	int k, beyond = 0;

	subject_defaults(&s, tl_estimator_find("experts", model));
	CHECK(!subject_set(&s, "loss", loss) && !subject_set(&s, "eta", eta) &&
		      !subject_set(&s, "tick_us", tick_us) && !subject_set(&s, "n", n) &&
		      !subject_set(&s, "under", 3) && !subject_set(&s, "quantile", 0.75) &&
		      !subject_set(&s, "share", share),
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
		beyond += error >= tolerance;
	}
	/* weights of 30 bits die where a double's live on: after a jump some samples differ by more */
	CHECK(beyond <= (model == TL_FIX && share != 0 ? 40 : 0),
	      "model %d, loss %g, share %g, eta %g, tick %g, n %g: %d of 2000 beyond %g, worst %g", model,
	      loss, share, eta, tick_us, n, beyond, tolerance, worst);
	subject_stop(&s);
}

int main(void)
{
	double loss, share;

	for (loss = 0; loss <= 4; loss++)
		for (share = 0; share <= 2; share++) {
			check_experts(TL_F64, loss, share, 2, 4000, 100, 1e-12);
			check_experts(TL_F64, loss, share, 2, 1000, 100, 1e-12);
			check_experts(TL_F64, loss, share, 0.1, 2000, 17, 1e-12);
			check_experts(TL_FIX, loss, share, 2, 4000, 100, 1e-4);
			check_experts(TL_FIX, loss, share, 0.1, 2000, 17, 1e-4);
		}
	return finish();
}
