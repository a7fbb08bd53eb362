/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Compares the fast implementations with slow, plain ones: nunes2014's Algorithm 1 as it is printed, in long
 * double. */
#include "check.h"
#include "tcplearn/estimators.h"

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

/* Returns the share of its weight that an expert gives to the pool. */
static long double plain_share(const struct plain *t, unsigned i, long double y)
{
	return t->share == 1 ? 1 - expl(-t->alpha * plain_loss(t, t->x[i], y)) : t->alpha;
}

/* Runs steps 2 to 4. Before step 4 the weights are divided by their sum: the paper's periodic rescaling, at
 * each trial. */
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
		if (t->share != 0)
			t->w[i] = fmaxl(t->w[i], 0x1p-30L);
	}
	t->trials++;
}

static void check_experts(enum tl_arithmetic arithmetic, double loss, double share, double alpha, double eta,
			  double tick_us, double n, double tolerance)
{
	struct subject s;
	struct plain t;
	uint64_t seed = 7;
	double worst = 0, apart = 0;
	int k;

	subject_defaults(&s, tl_estimator_find("experts", arithmetic));
	CHECK(!subject_set(&s, "loss", loss) && !subject_set(&s, "eta", eta) &&
		      !subject_set(&s, "tick_us", tick_us) && !subject_set(&s, "n", n) &&
		      !subject_set(&s, "under", 3) && !subject_set(&s, "quantile", 0.75) &&
		      !subject_set(&s, "share", share) && !subject_set(&s, "alpha", alpha),
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
		apart += error / 2000;
	}
	/* weights have 30 bits: small ones change single answers after a jump, but hardly the mean */
	if (arithmetic == TL_FIX && (share != 0 || alpha < 0.01))
		CHECK(apart < 0.003, "loss %g, share %g, alpha %g, n %g: %g off in the mean, worst %g", loss,
		      share, alpha, n, apart, worst);
	else
		CHECK(worst < tolerance, "arithmetic %d, loss %g, share %g, eta %g, tick %g, n %g: %g off",
		      arithmetic, loss, share, eta, tick_us, n, worst);
	subject_stop(&s);
}

/* nunes2014's kernel version as docs/algorithms/experts.md describes it, without the optimisations of the
 * core. */
struct plain_q16 {
	uint32_t n, scale, eta, alpha, tick_us, x[N_MAX], w[N_MAX], rtt;
};

static uint32_t cut(uint64_t v)
{
	return v > 0xffffffffu ? 0xffffffffu : (uint32_t)v;
}

static uint32_t times_q16(uint64_t a, uint64_t b)
{
	return cut((a * b) >> 16);
}

static void plain_q16_mean(struct plain_q16 *t)
{
	uint64_t dot = 0, sum = 0;
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		dot += times_q16(t->w[i], t->x[i]);
		sum += t->w[i];
	}
	t->rtt = cut(((uint64_t)cut(dot) << 16) / cut(sum));
}

static void plain_q16_spread(struct plain_q16 *t, uint32_t y)
{
	uint64_t best = ~(uint64_t)0;
	uint32_t run, i, from = 0, to = t->n;

	for (run = 0; run < 2 * t->n - 1; run++) {
		uint32_t low = run < t->n ? 0 : run - t->n + 1, high = run < t->n ? t->n - run : t->n;
		uint64_t sum = 0, gap;
		for (i = low; i < high; i++)
			sum += t->x[i];
		sum /= high - low;
		gap = sum > y ? sum - y : y - sum;
		if (gap < best) {
			best = gap;
			from = low;
			to = high;
		}
	}
	for (i = 0; i < t->n; i++)
		t->w[i] = i >= from && i < to ? 65536 / (to - from) : 0;
}

static int plain_q16_trial(struct plain_q16 *t, int64_t rtt_us)
{
	uint32_t i, y = cut((uint64_t)rtt_us / t->tick_us * 65536) / t->scale;
	uint64_t pool = 0, sum = 0;

	for (i = 0; i < t->n; i++) {
		uint32_t d = t->x[i] - y, loss = t->x[i] >= y ? times_q16(d, d) : cut((uint64_t)y * 2);
		double e = exp(-(double)times_q16(t->eta, loss) / 65536);
		t->w[i] = times_q16(t->w[i], (uint32_t)floor(e * 65536 + 0.5));
		pool += times_q16(t->alpha, t->w[i]);
	}
	for (i = 0; i < t->n; i++) {
		t->w[i] = cut((uint64_t)times_q16(65536 - t->alpha, t->w[i]) + pool / t->n);
		sum += t->w[i];
	}
	if (sum == 0)
		plain_q16_spread(t, y);
	plain_q16_mean(t);
	return sum == 0;
}

/* Checks that the answers are exactly equal for RTTs that wander over the grid and beyond both of its
 * ends. */
static int check_q16(double n, double scale, double eta, double alpha)
{
	struct tl_experts_q16_params_f64 p;
	static uint64_t room[(sizeof(struct tl_experts_q16_f64) + 2 * N_MAX * sizeof(tl_q16)) / 8 + 1];
	struct tl_experts_q16_f64 *s = (void *)room;
	tl_q16 *x, *w;
	struct plain_q16 t;
	uint64_t seed = 9;
	int k, spreads = 0, wrong = 0;

	tl_experts_q16_defaults_f64(&p);
	p.n = (uint32_t)n;
	p.scale = (uint32_t)scale;
	p.eta_q16 = (uint32_t)(eta * 65536);
	p.alpha_q16 = (uint32_t)(alpha * 65536);
	tl_experts_q16_init_f64(s, &p);
	x = tl_experts_q16_grid_f64(s);
	w = x + p.n;
	t.n = p.n;
	t.scale = p.scale;
	t.eta = p.eta_q16;
	t.alpha = p.alpha_q16;
	t.tick_us = (uint32_t)p.tick_us;
	memcpy(t.x, x, p.n * sizeof(t.x[0]));
	memcpy(t.w, w, p.n * sizeof(t.w[0]));
	for (k = 0; k < 4000; k++) {
		int64_t rtt_us = 1 + random_below(&seed, (int64_t)4000 << random_below(&seed, 18));
		struct tl_sample in = sample_of(k * 1000, rtt_us, 1);

		tl_experts_q16_update_f64(s, &in);
		spreads += plain_q16_trial(&t, rtt_us);
		wrong += s->rtt != t.rtt || memcmp(t.w, w, p.n * sizeof(t.w[0])) != 0;
	}
	CHECK(wrong == 0, "Q16.16, n %g, scale %g, eta %g, alpha %g: %d of 4000 differ", n, scale, eta, alpha,
	      wrong);
	return spreads;
}

int main(void)
{
	double loss, share;

	for (loss = 0; loss <= 4; loss++)
		for (share = 0; share <= 2; share++) {
			check_experts(TL_F64, loss, share, 0.08, 2, 4000, 100, 1e-12);
			check_experts(TL_F64, loss, share, 0.08, 2, 1000, 100, 1e-12);
			check_experts(TL_F64, loss, share, 0.001, 0.1, 2000, 17, 1e-12);
			check_experts(TL_FIX, loss, share, 0.08, 2, 4000, 100, 1e-4);
			check_experts(TL_FIX, loss, share, 0.08, 0.1, 2000, 17, 1e-4);
			check_experts(TL_FIX, loss, share, 0.001, 2, 4000, 100, 1e-4);
		}
	CHECK(check_q16(100, 125, 2, 0.08) > 100 && check_q16(100, 4, 2, 0.08) > 100, "no weights died out");
	CHECK(check_q16(17, 8, 2, 0) > 100, "no weights died out");
	check_q16(100, 2, 0.001, 0.5);
	check_q16(2, 1, 60000, 1);
	return finish();
}
