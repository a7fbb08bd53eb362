/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The estimator `tracking`. It combines several small predictors that move with the path
 * (tracking_predictors.h) by regret matching (Hart and Mas-Colell 2000) with regrets that decay, one set
 * slowly and one fast. It then adds a correction from three of the predictors, and keeps the result
 * within a budget: its total error may exceed that of predicting the last RTT only by a limited amount.
 * There is no learning rate and no exponential. docs/algorithms/tracking.md. Included twice: for double
 * precision and for fixed point. */

#include "tracking_double.h"
#include "tracking_fixed.h"

#include "tracking_predictors.h"

#include "tracking_mixture.h"

#define TL_TRACKING_PARAMS(X) \
	TL_MIXTURE_PARAMS(X) \
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
	struct TL(mixture) mixture;
	num_t rttvar;
};

TL_FN void TL(tracking_defaults)(struct TL(tracking_params) *p) { TL_TRACKING_PARAMS(TL_DEFAULT) }

/* Preset `tracking/first`: one set of regrets, no correction, and other rules for drift and budget. */
TL_FN void TL(tracking_first)(struct TL(tracking_params) *p)
{
	p->budget = TL_BUDGET_FIRST;
	p->drift = TL_DRIFT_BY_OUTLIER;
	p->memory = TL_MEMORY_ONE;
	p->correction = TL_OFF;
}

/* Preset `tracking/study`: as `tracking/first`, with twelve predictors, no budget, warm-up or dead zone. */
TL_FN void TL(tracking_study)(struct TL(tracking_params) *p)
{
	TL(tracking_first)(p);
	p->predictors = 4095;
	p->budget = TL_BUDGET_OFF;
	p->warm_up = TL_WARM_UP_FIRST;
	p->dead_zone = TL_OFF;
}

TL_FN struct TL(mixture_params) TL(mixture_params_of)(const struct TL(tracking_params) *p)
{
	struct TL(mixture_params) m;
#define TL_TAKE(type, name, value, low, high, text) m.name = p->name;
	TL_MIXTURE_PARAMS(TL_TAKE)
#undef TL_TAKE
	return m;
}

TL_FN void TL(tracking_init)(struct TL(tracking) *s, const struct TL(tracking_params) *p)
{
	const struct TL(mixture_params) m = TL(mixture_params_of)(p);

	s->params = *p;
	TL(mixture_init)(&s->mixture, &m);
	s->rttvar = num_from_us(0);
}

TL_FN void TL(tracking_update)(struct TL(tracking) *s, const struct tl_sample *in)
{
	const struct TL(mixture_params) m = TL(mixture_params_of)(&s->params);
	num_t y = num_from_us(tl_clamp_us(in->rtt_us, 1, TL_RTT_MAX_US));

	if (s->mixture.bank.samples > 0)
		s->rttvar += num_mul(TL(abs)(y - s->mixture.rtt) - s->rttvar, s->params.beta);
	else
		s->rttvar = num_shr(y, 1); /* as RFC 6298, 2.2 */
	TL(mixture_learn)(&s->mixture, &m, y);
}

TL_FN void TL(tracking_query)(const struct TL(tracking) *s, struct TL(prediction) *out)
{
	out->rtt = s->mixture.rtt;
	out->rto = TL(rto)(s->mixture.bank.samples, s->mixture.rtt, num_mul(s->rttvar, s->params.k),
			   s->params.granularity_us, s->params.rto_initial_us, s->params.rto_min_us,
			   s->params.rto_max_us);
}
