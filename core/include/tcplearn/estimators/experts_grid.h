/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parameters, state and grid of the estimator `experts`: Algorithm 1 of nunes2014, whose experts are a
 * grid of fixed RTTs that share weight. The grid and the weights are stored after the state: reserve
 * TL(experts_bytes)(params).
 *
 * The weights always sum to 1, and the least loss of a trial is subtracted from every loss. Neither
 * changes a prediction; they replace the paper's "periodic rescaling" (section 3.2). Included twice: for
 * double precision and for fixed point. */

#include "experts_double.h"
#include "experts_fixed.h"

#ifndef TCPLEARN_EXPERTS_GRID_H
#define TCPLEARN_EXPERTS_GRID_H
#define TL_EXPERTS_MAX 1000u              /* the largest N, which bounds every loop over experts */
#define TL_UNIT_MAX_US ((int64_t)1 << 30) /* longest unit of a grid, 18 minutes */

enum tl_experts_loss {
	TL_EXPERTS_LOSS_NUNES2014 = 0,
	TL_EXPERTS_LOSS_SQUARED = 1,
	TL_EXPERTS_LOSS_LINEAR = 2,
	TL_EXPERTS_LOSS_ABSOLUTE = 3,
	TL_EXPERTS_LOSS_PINBALL = 4
};
enum tl_share { TL_SHARE_FIXED = 0, TL_SHARE_VARIABLE = 1, TL_SHARE_PAST = 2 };
enum tl_variance { TL_VARIANCE_EQ2 = 0, TL_VARIANCE_EQ4 = 1 };
#endif

#define TL_EXPERTS_PARAMS(X) \
	X(count, n, 100, 2, TL_EXPERTS_MAX, "number of experts N") \
	X(ratio, eta, TL_RATIO(2, 1), 0, 64, "learning rate, per unit of loss") \
	X(ratio, alpha, TL_RATIO(8, 100), 0, 0.999, \
	  "share of weight redistributed at each trial; share = variable: for a loss of one") \
	X(choice, share, TL_SHARE_FIXED, "fixed|variable|past", 2, \
	  "step 4: equally to all, by each expert's loss, or by past weights") \
	X(choice, loss, TL_EXPERTS_LOSS_NUNES2014, "nunes2014|squared|linear|absolute|pinball", 4, \
	  "step 2 of Algorithm 1: the loss") \
	X(ratio, over, TL_RATIO(1, 1), 0, 64, "cost of a tick too high, for the linear loss") \
	X(ratio, under, TL_RATIO(1, 1), 0, 64, "cost of a tick too low, for the linear loss") \
	X(ratio, quantile, TL_RATIO(1, 2), 0, 1, \
	  "tau of the pinball loss: tau a tick too low, 1 - tau a tick too high") \
	X(us, tick, 500000, 1, 1000000000, "tick") \
	X(count, scale, 1, 1, 1000, "ticks in a unit of the grid") \
	X(ratio, rtt_min, TL_RATIO(1, 1), 0, 2000, "RTTmin in units") \
	X(ratio, rtt_max, TL_RATIO(128, 1), 0.001, 2000, "RTTmax in units") \
	X(count, per_octave, 4, 1, 256, "experts in a factor of two: x_i = RTTmin + RTTmax 2^((i-N)/this)") \
	X(count, fit, 0, 0, 1024, "not 0: unit = first RTT / this, again whenever an RTT leaves the grid") \
	X(choice, variance, TL_VARIANCE_EQ2, "eq2|eq4", 1, "RTTVAR by equation 2 or 4") \
	X(ratio, beta, TL_RATIO(1, 4), 0, 1, "gain of RTTVAR") \
	X(ratio, k, TL_RATIO(4, 1), 0, 64, "RTTVARs added to the prediction (equation 3)") \
	X(us, rto_initial, 1000000, 1, 4294967296, "RTO before any sample") \
	X(us, rto_min, 1000000, 0, 4294967296, "floor of the RTO: 2 ticks of 500 ms (section 2.1)") \
	X(us, rto_max, 32000000, 1, 4294967296, "cap of the RTO: 64 ticks of 500 ms") \
	X(us, quantum, 0, 0, 10000000, "clock tick that samples are rounded up to, or counted in; 0: none") \
	X(choice, sampling, TL_EVERY_ACK, "every-ack|one-per-rtt|counted", 2, "which ACKs are timed")

struct TL(experts_params) {
	TL_EXPERTS_PARAMS(TL_FIELD)
};

struct TL(experts) {
	struct TL(experts_params) params;
	struct tl_sampler sampler;
	num_t rtt, rttvar;
	num_t last;
	int64_t unit_us; /* the length of one unit of the grid */
	uint32_t samples;
	uint32_t trials; /* with share = past: number of trials in the sums of weights */
	/* then the arrays: experts x[n] in units; with share = past, n sums of weights; weights w[n] */
};

TL_FN uint32_t TL(experts_bytes)(const struct TL(experts_params) *p)
{
	uint32_t each = sizeof(TL(tick)) + sizeof(TL(weight));

	if (p->share == TL_SHARE_PAST)
		each += sizeof(TL(weight_sum));
	return (uint32_t)sizeof(struct TL(experts)) + p->n * each;
}

TL_FN TL(tick) *TL(experts_grid)(const struct TL(experts) *s)
{
	return (TL(tick) *)(s + 1);
}

TL_FN TL(weight_sum) *TL(experts_past)(const struct TL(experts) *s)
{
	return (TL(weight_sum) *)(TL(experts_grid)(s) + s->params.n);
}

TL_FN TL(weight) *TL(experts_weights)(const struct TL(experts) *s)
{
	return (TL(weight) *)(TL(experts_past)(s) + (s->params.share == TL_SHARE_PAST ? s->params.n : 0));
}

TL_FN uint32_t TL(experts_count)(const struct TL(experts) *s)
{
	return s->params.n < TL_EXPERTS_MAX ? s->params.n : TL_EXPERTS_MAX;
}

TL_FN void TL(experts_defaults)(struct TL(experts_params) *p) { TL_EXPERTS_PARAMS(TL_DEFAULT) }

/* Preset `experts/fitted`: the algorithm on a grid fitted to the path. The first RTT is 16 units; the
 * experts reach from 1/6 to 8 times that RTT in steps of 4 %. The RTO is in [0 s, 60 s]. */
TL_FN void TL(experts_fitted)(struct TL(experts_params) *p)
{
	p->fit = 16;
	p->per_octave = 16;
	p->rto_min_us = 0;
	p->rto_max_us = 60000000;
}

/* Preset `experts/nunes2014-4ms` (nunes2014, section 6): the kernel's clock tick of 4 ms is the unit of
 * the grid, RTTVAR is by equation 4, and the bounds are those of Linux 2.6.28. RTTs are in microseconds,
 * as in current kernels. The grid ends at 8 s: 128 ticks, as in the paper's simulator, would be half a
 * second, and the errors that the paper reports could not occur. */
TL_FN void TL(experts_4ms)(struct TL(experts_params) *p)
{
	p->tick_us = 4000;
	p->rtt_max = TL_RATIO(2000, 1);
	p->variance = TL_VARIANCE_EQ4;
	p->rto_initial_us = 3000000;
	p->rto_min_us = 200000;
	p->rto_max_us = 120000000;
}

TL_FN void TL(experts_uniform)(struct TL(experts) *s)
{
	const TL(tick) *x = TL(experts_grid)(s);
	TL(weight) *w = TL(experts_weights)(s);
	uint32_t i, n = TL(experts_count)(s);
	TL(tick) sum = 0;

	for (i = 0; i < n; i++) { /* w_1,i = 1/N */
		w[i] = TL(weight_uniform)(n);
		if (s->params.share == TL_SHARE_PAST)
			TL(experts_past)(s)[i] = TL(weight_uniform)(n);
		sum += x[i];
	}
	s->trials = 1;
	s->rtt = TL(tick_to_num)(TL(tick_mean)(sum, n), s->unit_us);
}

TL_FN void TL(experts_init)(struct TL(experts) *s, const struct TL(experts_params) *p)
{
	TL(tick) *x;
	uint32_t i;

	s->params = *p;
	tl_sampler_init(&s->sampler);
	s->unit_us = tl_clamp_us(p->tick_us * (int64_t)p->scale, 1, TL_UNIT_MAX_US);
	s->rttvar = s->last = num_from_us(0);
	s->samples = 0;
	x = TL(experts_grid)(s);
	for (i = 0; i < TL(experts_count)(s);
	     i++) /* section 3.2: x_i = RTTmin + RTTmax 2^((i - N) / 4), i = 1 ... N */
		x[i] = TL(tick_of_grid)(p->rtt_min, p->rtt_max, p->n - 1 - i, p->per_octave);
	TL(experts_uniform)(s);
}
