/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The estimator `experts/nunes2014-linux`: the kernel version of nunes2014 as its sections 6.1 to 6.3
 * describe it. It has Q16.16 arithmetic, samples in 4 ms ticks scaled by 1/125, RTTVAR by equation 4, and
 * new weights when all weights have become zero. The rescaling of section 3.2 is a parameter, because
 * section 6 does not state whether the kernel had it.
 *
 * Both arithmetics use the same integers. Grid and weights are stored after the state: reserve
 * TL(experts_q16_bytes)(params). Included twice: for double precision and for fixed point. */

#include "experts_q16_arithmetic.h"

#define TL_EXPERTS_Q16_PARAMS(X) \
	X(count, n, 100, 2, TL_EXPERTS_MAX, "number of experts N") \
	X(count, eta_q16, 131072, 0, 4294967295, "learning rate in Q16.16 (2)") \
	X(count, alpha_q16, 5243, 0, 65536, "sharing rate in Q16.16 (0.08)") \
	X(us, tick, 4000, 1, 1000000, "tick of the kernel (HZ = 250)") \
	X(count, scale, 125, 1, 1000, "ticks in a unit of the grid") \
	X(count, rtt_min, 1, 0, 1000, "RTTmin in units") \
	X(count, rtt_max, 128, 1, 30000, "RTTmax in units") \
	X(count, rescale, 0, 0, 1000000, "trials from one rescaling of the weights to the next; 0: none") \
	X(us, rto_initial, 3000000, 1, 4294967296, "RTO before any sample (Linux 2.6.28)") \
	X(us, rto_min, 200000, 0, 4294967296, "floor of the RTO (TCP_RTO_MIN)") \
	X(us, rto_max, 120000000, 1, 4294967296, "cap of the RTO (TCP_RTO_MAX)")

struct TL(experts_q16_params) {
	TL_EXPERTS_Q16_PARAMS(TL_FIELD)
};

struct TL(experts_q16) {
	struct TL(experts_q16_params) params;
	tl_q16 rtt;    /* prediction, in units of the grid */
	tl_q16 rttvar; /* in ticks */
	tl_q16 last;   /* last sample in ticks */
	uint32_t samples;
	uint32_t trials; /* trials since the last rescaling */
			 /* then the arrays x[n] and w[n] */
};

TL_FN uint32_t TL(experts_q16_bytes)(const struct TL(experts_q16_params) *p)
{
	return (uint32_t)(sizeof(struct TL(experts_q16)) + 2 * p->n * sizeof(tl_q16));
}

TL_FN tl_q16 *TL(experts_q16_grid)(const struct TL(experts_q16) *s)
{
	return (tl_q16 *)(s + 1);
}

TL_FN uint32_t TL(experts_q16_count)(const struct TL(experts_q16) *s)
{
	return s->params.n < TL_EXPERTS_MAX ? s->params.n : TL_EXPERTS_MAX;
}

TL_FN void TL(experts_q16_defaults)(struct TL(experts_q16_params) *p) { TL_EXPERTS_Q16_PARAMS(TL_DEFAULT) }

/* Presets with 4 ms units, as experts/nunes2014-4ms: a unit is one tick, and the grid ends at 8 s. */
TL_FN void TL(experts_q16_4ms)(struct TL(experts_q16_params) *p)
{
	p->scale = 1;
	p->rtt_max = 2000;
}

TL_FN void TL(experts_q16_4ms_rescaled)(struct TL(experts_q16_params) *p)
{
	TL(experts_q16_4ms)(p);
	p->rescale = 1;
}

/* Step 1: returns the weighted mean of the experts. Range: weights up to 1, not all of them 0. */
TL_FN tl_q16 TL(experts_q16_mean)(const struct TL(experts_q16) *s)
{
	const tl_q16 *x = TL(experts_q16_grid)(s), *w = x + TL(experts_q16_count)(s);
	uint32_t i, n = TL(experts_q16_count)(s);
	uint64_t dot = 0, sum = 0;

	for (i = 0; i < n; i++) {
		dot += ((uint64_t)w[i] * x[i]) >> 16;
		sum += w[i];
	}
	return tl_q16_div(tl_q16_sat(dot), tl_q16_sat(sum));
}

TL_FN void TL(experts_q16_init)(struct TL(experts_q16) *s, const struct TL(experts_q16_params) *p)
{
	tl_q16 *x, *w;
	uint32_t i, n;

	s->params = *p;
	s->rttvar = s->last = 0;
	s->samples = s->trials = 0;
	n = TL(experts_q16_count)(s);
	x = TL(experts_q16_grid)(s);
	w = x + n;
	for (i = 0; i < n; i++) {
		/* RTTmin + RTTmax 2^((i - N) / 4) for i = 1 ... N; the powers are correctly rounded */
		static const uint32_t quarter[4] = { 65536u, 55109u, 46341u, 38968u };
		uint32_t below = n - 1 - i;
		uint64_t power = (uint64_t)p->rtt_max * quarter[below % 4];
		x[i] = tl_q16_sat((uint64_t)p->rtt_min * TL_Q16_ONE +
				  (below / 4 < 64 ? power >> (below / 4) : 0));
		w[i] = TL_Q16_ONE / n;
	}
	s->rtt = TL(experts_q16_mean)(s);
}

/* Sets new weights when all are zero. Section 6.2: "a uniform distribution whose mean matches the most
 * recently measured RTT". Here these are equal weights on consecutive experts, which include the lowest
 * or the highest one, with the mean nearest to `y`. Of equally near choices, those with the lowest expert
 * come first, then the longer ones. */
TL_FN void TL(experts_q16_reinit)(struct TL(experts_q16) *s, tl_q16 y)
{
	const tl_q16 *x = TL(experts_q16_grid)(s);
	tl_q16 *w = TL(experts_q16_grid)(s) + TL(experts_q16_count)(s);
	uint32_t i, n = TL(experts_q16_count)(s), from = 0, to = 1;
	uint64_t sum = x[0], mean = x[0];

	/* the mean of x[0] to x[i - 1] rises with i: the nearest is the last below y or the first above */
	for (i = 1; i < n && mean < y; i++) {
		uint64_t below = mean;
		sum += x[i];
		mean = sum / (i + 1);
		if (mean < y || mean - y <= y - below)
			to = i + 1;
	}
	for (; i < n && to == i && (sum + x[i]) / (i + 1) == mean; i++) { /* equally near, and longer */
		sum += x[i];
		to = i + 1;
	}
	/* the mean of x[i] to x[n - 1] rises with i */
	if (to == n && mean < y) {
		uint64_t below = mean;
		for (i = 1; i < n && mean < y; i++) {
			below = mean;
			sum -= x[i - 1];
			mean = sum / (n - i);
			if (mean > below && (mean < y || mean - y < y - below))
				from = i;
		}
	}
	for (i = 0; i < n; i++)
		w[i] = i >= from && i < to ? TL_Q16_ONE / (to - from) : 0;
}

/* Every `rescale` trials, divides the weights by their sum. Section 3.2 says "we periodically rescale the
 * weights", but neither when nor to which sum; here to 1, except for rounding. `sum` is not 0, and no
 * weight is above it. */
TL_FN void TL(experts_q16_rescale)(struct TL(experts_q16) *s, uint64_t sum)
{
	tl_q16 *w = TL(experts_q16_grid)(s) + TL(experts_q16_count)(s);
	uint32_t i, n = TL(experts_q16_count)(s);

	if (s->params.rescale == 0 || ++s->trials < s->params.rescale)
		return;
	s->trials = 0;
	for (i = 0; i < n; i++)
		w[i] = tl_q16_div(w[i], tl_q16_sat(sum));
}

TL_FN void TL(experts_q16_trial)(struct TL(experts_q16) *s, tl_q16 y)
{
	const struct TL(experts_q16_params) *p = &s->params;
	const tl_q16 *x = TL(experts_q16_grid)(s);
	tl_q16 *w = TL(experts_q16_grid)(s) + TL(experts_q16_count)(s);
	const uint64_t alpha = p->alpha_q16, keep = TL_Q16_ONE - p->alpha_q16;
	uint32_t i, reach, n = TL(experts_q16_count)(s);
	uint64_t e, pool = 0, sum = 0, dot = 0, part;

	/* Steps 2 and 3. All experts below y have the same loss; above y the loss rises. */
	e = tl_q16_exp_neg(tl_q16_mul(p->eta_q16, tl_q16_sat((uint64_t)y * 2)));
	for (i = 0; i < n && x[i] < y; i++) {
		w[i] = (tl_q16)((w[i] * e) >> 16);
		pool += (alpha * w[i]) >> 16;
	}
	for (; i < n; i++) {
		tl_q16 z;
		if (w[i] == 0)
			continue;
		z = tl_q16_mul(p->eta_q16, tl_q16_mul(x[i] - y, x[i] - y));
		if (z >= TL_Q16_EXP_END)
			break;
		w[i] = (tl_q16)(((uint64_t)w[i] * tl_q16_exp_neg(z)) >> 16);
		pool += (alpha * w[i]) >> 16;
	}
	reach = i;       /* the weights of this and all higher experts are 0 */
	part = pool / n; /* step 4, and step 1 of the next trial */
	for (i = 0; i < n; i++) {
		uint64_t v = (i < reach ? (keep * w[i]) >> 16 : 0) + part;
		w[i] = (tl_q16)v;
		sum += v;
		dot += (v * x[i]) >> 16;
	}
	if (sum == 0) {
		TL(experts_q16_reinit)(s, y);
		s->rtt = TL(experts_q16_mean)(s);
	} else {
		s->rtt = tl_q16_div(tl_q16_sat(dot), tl_q16_sat(sum));
		TL(experts_q16_rescale)(s, sum);
	}
}

TL_FN void TL(experts_q16_update)(struct TL(experts_q16) *s, const struct tl_sample *in)
{
	const struct TL(experts_q16_params) *p = &s->params;
	uint64_t rtt_us = (uint64_t)tl_clamp_us(in->rtt_us, 1, TL_RTT_MAX_US);
	/* whole ticks, as kernels counted RTTs at that time */
	tl_q16 ticks = tl_q16_sat(rtt_us / (uint64_t)p->tick_us * TL_Q16_ONE);

	if (s->samples == 0) { /* RFC 6298, 2.2 */
		s->rttvar = ticks / 2;
	} else { /* equation 4, beta = 1/4 */
		tl_q16 step = ticks > s->last ? ticks - s->last : s->last - ticks;
		s->rttvar = tl_q16_sat((uint64_t)tl_q16_mul(49152u, s->rttvar) + tl_q16_mul(16384u, step));
	}
	s->last = ticks;
	s->samples += s->samples == 0;
	TL(experts_q16_trial)(s, ticks / p->scale);
}

TL_FN void TL(experts_q16_query)(const struct TL(experts_q16) *s, struct TL(prediction) *out)
{
	const struct TL(experts_q16_params) *p = &s->params;
	/* to microseconds, truncated */
	int64_t rtt_us = (int64_t)(((uint64_t)s->rtt * p->scale * (uint64_t)p->tick_us) >> 16);
	int64_t var_us = (int64_t)(((uint64_t)s->rttvar * 4 * (uint64_t)p->tick_us) >> 16);

	out->rtt = num_from_us(rtt_us);
	out->rto = TL(rto)(s->samples, out->rtt, num_from_us(var_us), 0, p->rto_initial_us, p->rto_min_us,
			   p->rto_max_us);
}
