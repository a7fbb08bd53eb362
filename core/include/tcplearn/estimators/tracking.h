/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `tracking`: predictors that move (tracking_predictors.h), combined by discounted regret matching (Hart
 * and Mas-Colell 2000; the discount is fixed share's forgetting, put into the regret), and kept within
 * a budget of the last value. No learning rate, no scale, no exponential. docs/algorithms/tracking.md.
 * Included once for each arithmetic. */

#include "tracking_double.h"
#include "tracking_fixed.h"

#include "tracking_predictors.h"

#ifndef TCPLEARN_TRACKING_H
#define TCPLEARN_TRACKING_H
enum tl_combiner { TL_COMBINER_REGRET = 0, TL_COMBINER_FIXED_SHARE = 1 };
#endif

#define TL_TRACKING_PARAMS(X) \
	X(count, predictors, 3965, 1, 4095, \
	  "which predictors: bit k is the k-th; all but the EWMA of 1/8 and half way") \
	X(choice, combiner, TL_COMBINER_REGRET, "regret|fixed-share", 1, "what weighs them") \
	X(choice, budget, TL_ON, "on|off", 1, "bound on what may be lost against the last value") \
	X(choice, warm_up, TL_WARM_UP_MEDIAN, "median|first", 1, \
	  "the first five samples: median of them, or the first") \
	X(choice, dead_zone, TL_ON, "on|off", 1, "signs of differences below scale / 32 are 0") \
	X(ratio, eta, TL_RATIO(2, 1), 0, 64, "learning rate of fixed share, errors in scales") \
	X(ratio, alpha, TL_RATIO(8, 100), 0, 0.999, "sharing rate of fixed share") \
	X(ratio, beta, TL_RATIO(1, 4), 0, 1, "gain of RTTVAR, the mean of the errors") \
	X(ratio, k, TL_RATIO(4, 1), 0, 64, "RTTVARs added to the prediction") \
	X(us, granularity, 1, 0, 10000000, "clock granularity G (RFC 6298, 2.3)") \
	X(us, rto_initial, 1000000, 1, 4294967296, "RTO before any sample (RFC 6298, 2.1)") \
	X(us, rto_min, 0, 0, 4294967296, "floor of the RTO") \
	X(us, rto_max, 60000000, 1, 4294967296, "cap of the RTO (RFC 6298, 2.5)")

struct TL(tracking_params) {
	TL_TRACKING_PARAMS(TL_FIELD)
};

struct TL(tracking) {
	struct TL(tracking_params) params;
	struct TL(predictors) bank;
	union { /* by params.combiner; 0 of those not used */
		num_t regret[TL_PREDICTORS];
		TL(weight) weight[TL_PREDICTORS];
	} of;
	num_t mixture; /* the combiner's */
	num_t rtt;     /* within the budget */
	num_t budget;
	num_t rttvar;
};

TL_FN void TL(tracking_defaults)(struct TL(tracking_params) *p) { TL_TRACKING_PARAMS(TL_DEFAULT) }

/* As first studied: twelve predictors, no budget, no warm-up, no dead zone. */
TL_FN void TL(tracking_study)(struct TL(tracking_params) *p)
{
	p->predictors = 4095;
	p->budget = TL_OFF;
	p->warm_up = TL_WARM_UP_FIRST;
	p->dead_zone = TL_OFF;
}

TL_FN uint32_t TL(tracking_uses)(const struct TL(tracking) *s, uint32_t k)
{
	return (s->params.predictors >> k) & 1;
}

/* No regrets; of fixed share, equal weights. */
TL_FN void TL(tracking_uniform)(struct TL(tracking) *s)
{
	uint32_t k;

	for (k = 0; k < TL_PREDICTORS; k++) {
		if (s->params.combiner == TL_COMBINER_REGRET)
			s->of.regret[k] = num_from_us(0);
		else
			s->of.weight[k] = TL(tracking_uses)(s, k) ? TL(weight_uniform)(TL_PREDICTORS) : 0;
	}
}

TL_FN void TL(tracking_init)(struct TL(tracking) *s, const struct TL(tracking_params) *p)
{
	s->params = *p;
	TL(predictors_start)(&s->bank, num_from_us(0), p->warm_up, p->dead_zone == TL_OFF);
	TL(tracking_uniform)(s);
	s->mixture = s->rtt = s->budget = s->rttvar = num_from_us(0);
}

/* R_k += |mixture - y| - |x_k - y| - R_k / 128: what following x_k would have saved. */
TL_FN void TL(tracking_regrets)(struct TL(tracking) *s, num_t y)
{
	num_t lost = TL(abs)(s->mixture - y);
	uint32_t k;

	for (k = 0; k < TL_PREDICTORS; k++)
		if (TL(tracking_uses)(s, k))
			s->of.regret[k] += lost - TL(abs)(s->bank.x[k] - y) - num_shr(s->of.regret[k], 7);
}

/* nunes2014's steps 3 and 4 over the same predictors, for comparison: errors in running scales. */
TL_FN void TL(tracking_fixed_share)(struct TL(tracking) *s, num_t y)
{
	TL(loss) loss[TL_PREDICTORS], least = 0;
	TL(weight_sum) sum = 0;
	TL(weight_ratio) keep, share;
	TL(weight) *w = s->of.weight;
	const TL(rate) rate = TL(decay_rate)(s->params.eta);
	const TL(loss) limit = TL(decay_limit)(rate);
	uint32_t k, used = 0;

	for (k = 0; k < TL_PREDICTORS; k++) {
		if (!TL(tracking_uses)(s, k))
			continue;
		loss[k] = TL(loss_in_scales)(TL(min)(TL(abs)(s->bank.x[k] - y), 1024 * s->bank.scale),
					     s->bank.scale);
		least = used == 0 || loss[k] < least ? loss[k] : least;
		used++;
	}
	for (k = 0; k < TL_PREDICTORS; k++) {
		if (!TL(tracking_uses)(s, k))
			continue;
		w[k] = loss[k] - least <= limit ? TL(weight_decay)(w[k], loss[k] - least, rate) : 0;
		sum += w[k];
	}
	if (!TL(weights_alive)(sum)) { /* alpha is 0 or nearly: from the start again */
		TL(tracking_uniform)(s);
		return;
	}
	keep = TL(weight_keep)(s->params.alpha, sum);
	share = TL(weight_share)(s->params.alpha, used);
	for (k = 0; k < TL_PREDICTORS; k++)
		if (TL(tracking_uses)(s, k))
			w[k] = TL(weight_mix)(w[k], keep, share);
}

/* What following the mixture may still lose against the last value: a part of each change (RTT spikes
 * go up and come back, so more of upward ones), all that it has gained, and a grant at the start. */
TL_FN void TL(tracking_budget)(struct TL(tracking) *s, num_t y)
{
	num_t change = TL(abs)(y - s->bank.last), b = s->budget;

	b += num_shr(y > s->bank.last ? 5 * change : change, 4) + change - TL(abs)(s->rtt - y);
	if (s->bank.samples >= 2 && s->bank.samples <= 16)
		b += TL(min)(change, s->bank.scale);
	b = TL(max)(b, num_from_us(0));
	s->budget = b - num_shr(b, 8);
}

TL_FN num_t TL(tracking_mix)(const struct TL(tracking) *s)
{
	num_t fallback = s->params.warm_up == TL_WARM_UP_MEDIAN ? num_shr(s->bank.last + s->bank.hub, 1)
								: s->bank.last;
	num_t weight[TL_PREDICTORS];
	uint32_t k;

	if (s->params.combiner == TL_COMBINER_REGRET)
		return TL(positive_mean)(s->of.regret, s->bank.x, TL_PREDICTORS, fallback);
	for (k = 0; k < TL_PREDICTORS; k++)
		weight[k] = s->of.weight[k];
	return TL(positive_mean)(weight, s->bank.x, TL_PREDICTORS, fallback);
}

TL_FN void TL(tracking_update)(struct TL(tracking) *s, const struct tl_sample *in)
{
	num_t y = num_from_us(tl_clamp_us(in->rtt_us, 1, TL_RTT_MAX_US));

	if (s->bank.samples == 0) {
		TL(predictors_start)(&s->bank, y, s->params.warm_up, s->params.dead_zone == TL_OFF);
		s->mixture = s->rtt = y;
		s->rttvar = num_shr(y, 1); /* as RFC 6298, 2.2 */
	} else {
		s->rttvar += num_mul(TL(abs)(y - s->rtt) - s->rttvar, s->params.beta);
		TL(tracking_budget)(s, y);
		if (s->params.combiner == TL_COMBINER_REGRET)
			TL(tracking_regrets)(s, y);
		else
			TL(tracking_fixed_share)(s, y);
	}
	TL(predictors_update)(&s->bank, y);
	s->mixture = TL(tracking_mix)(s);
	s->rtt = s->params.budget == TL_ON
			 ? TL(clamp)(s->mixture, s->bank.last - s->budget, s->bank.last + s->budget)
			 : s->mixture;
}

TL_FN void TL(tracking_query)(const struct TL(tracking) *s, struct TL(prediction) *out)
{
	out->rtt = s->rtt;
	out->rto = TL(rto)(s->bank.samples, s->rtt, num_mul(s->rttvar, s->params.k), s->params.granularity_us,
			   s->params.rto_initial_us, s->params.rto_min_us, s->params.rto_max_us);
}
