/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The prediction of the estimators `tracking` and `conformal`: a mixture of predictors, corrected, and
 * kept within a budget (tracking.h). The caller passes the parameters; if they are constants, a compiler
 * removes the code that they do not select. Included twice: for double precision and for fixed point. */

#ifndef TCPLEARN_TRACKING_MIXTURE_H
#define TCPLEARN_TRACKING_MIXTURE_H
enum tl_combiner { TL_COMBINER_REGRET = 0, TL_COMBINER_FIXED_SHARE = 1 };
enum tl_budget { TL_BUDGET_ON = 0, TL_BUDGET_OFF = 1, TL_BUDGET_FIRST = 2 };
enum tl_memory { TL_MEMORY_TWO = 0, TL_MEMORY_ONE = 1 };
#endif

#define TL_MIXTURE_PARAMS(X) \
	X(count, predictors, 3965, 1, 4095, \
	  "which predictors: bit k is the k-th; all but the EWMA of 1/8 and half way") \
	X(choice, combiner, TL_COMBINER_REGRET, "regret|fixed-share", 1, "what weighs them") \
	X(choice, budget, TL_BUDGET_ON, "on|off|first", 2, \
	  "bound on what may be lost against the last value; first: the wider one of the first release") \
	X(choice, drift, TL_DRIFT_BY_TWO, "two|outlier", 1, \
	  "cells of the drift: by the last two deviations, or by outliers, kept short of the hub") \
	X(choice, memory, TL_MEMORY_TWO, "two|one", 1, \
	  "regrets that forget 1/32 and 1/512 of themselves a sample, or 1/128") \
	X(choice, correction, TL_ON, "on|off", 1, \
	  "of regret matching: one more prediction, the mixture corrected") \
	X(choice, warm_up, TL_WARM_UP_MEDIAN, "median|first", 1, \
	  "the first five samples: median of them, or the first") \
	X(choice, dead_zone, TL_ON, "on|off", 1, "signs of differences below scale / 32 are 0") \
	X(ratio, eta, TL_RATIO(2, 1), 0, 64, "learning rate of fixed share, errors in scales") \
	X(ratio, alpha, TL_RATIO(8, 100), 0, 0.999, "sharing rate of fixed share")

struct TL(mixture_params) {
	TL_MIXTURE_PARAMS(TL_FIELD)
};

/* State of the RTT prediction of `tracking` and `conformal`, a mixture of predictors. It has neither an RTO
 * nor the parameters (struct mixture_params), which the caller passes to each function. */
struct TL(mixture) {
	struct TL(predictors) bank;
	union { /* selected by the parameter `combiner` */
		struct {
			/* regret of each predictor; the last entry is the corrected mixture */
			num_t of[TL_PREDICTORS + 1];
			num_t mixture;
		} regret[2]; /* two memories: [0] short, [1] long; one memory: [0] */
		TL(weight) weight[TL_PREDICTORS];
	} by;
	num_t base, corrected; /* the mixture before and after the correction */
	ratio_t correction[3]; /* coefficients towards the predictors last value, slow hub, map of 16 cells */
	num_t rtt;             /* the mixture after correction and budget: the prediction */
	num_t budget;
};

TL_FN uint32_t TL(mixture_uses)(const struct TL(mixture_params) *p, uint32_t k)
{
	return (p->predictors >> k) & 1;
}

TL_FN uint32_t TL(mixture_corrects)(const struct TL(mixture_params) *p)
{
	return p->correction == TL_ON && p->combiner == TL_COMBINER_REGRET;
}

/* Sets all regrets to 0, or with fixed share all weights equal. */
TL_FN void TL(mixture_uniform)(struct TL(mixture) *s, const struct TL(mixture_params) *p)
{
	uint32_t k, m;

	for (m = 0; m < 2 && p->combiner == TL_COMBINER_REGRET; m++) {
		for (k = 0; k <= TL_PREDICTORS; k++)
			s->by.regret[m].of[k] = num_from_us(0);
	}
	for (k = 0; k < TL_PREDICTORS && p->combiner == TL_COMBINER_FIXED_SHARE; k++)
		s->by.weight[k] = TL(mixture_uses)(p, k) ? TL(weight_uniform)(TL_PREDICTORS) : 0;
}

TL_FN void TL(mixture_start)(struct TL(mixture) *s, const struct TL(mixture_params) *p, num_t y)
{
	uint32_t i;

	TL(predictors_start)(&s->bank, y);
	s->base = s->corrected = s->rtt = y;
	for (i = 0; i < 2 && p->combiner == TL_COMBINER_REGRET; i++)
		s->by.regret[i].mixture = y;
	for (i = 0; i < 3; i++)
		s->correction[i] = ratio_from_whole(0);
}

TL_FN void TL(mixture_init)(struct TL(mixture) *s, const struct TL(mixture_params) *p)
{
	TL(mixture_start)(s, p, num_from_us(0));
	TL(mixture_uniform)(s, p);
	s->budget = num_from_us(0);
}

/* R_k += |mixture - y| - |x_k - y| - R_k / 2^shift: the regret R_k is the decaying sum of the error that
 * predictor k would have saved. `error` is |x_k - y|, `lost` |mixture - y| for each memory. */
TL_FN void TL(mixture_regret)(struct TL(mixture) *s, const struct TL(mixture_params) *p, uint32_t k,
			      num_t error, const num_t *lost)
{
	num_t *r = &s->by.regret[0].of[k], *slow = &s->by.regret[1].of[k];

	if (p->memory == TL_MEMORY_ONE) {
		*r += lost[0] - error - num_shr(*r, 7);
		return;
	}
	*r += lost[0] - error - num_shr_down(*r, 5);
	*slow += lost[1] - error - num_shr_down(*slow, 9);
}

/* Updates all regrets with the sample `y`. `sums` gets the sum of positive regrets for each memory. */
TL_FN void TL(mixture_regrets)(struct TL(mixture) *s, const struct TL(mixture_params) *p, num_t y,
			       num_t *sums)
{
	const num_t lost[2] = { TL(abs)(s->by.regret[0].mixture - y), TL(abs)(s->by.regret[1].mixture - y) };
	uint32_t k;

	for (k = 0; k < TL_PREDICTORS; k++) {
		if (!TL(mixture_uses)(p, k))
			continue;
		TL(mixture_regret)(s, p, k, TL(abs)(s->bank.x[k] - y), lost);
		sums[0] += TL(max)(s->by.regret[0].of[k], num_from_us(0));
		sums[1] += TL(max)(s->by.regret[1].of[k], num_from_us(0));
	}
	if (TL(mixture_corrects)(p))
		TL(mixture_regret)(s, p, TL_PREDICTORS, TL(abs)(s->corrected - y), lost);
}

/* Updates the weights if the combiner is fixed share: steps 3 and 4 of nunes2014 over the predictors, with
 * errors in units of the running scale (the mean distance of the RTT from its level). */
TL_FN void TL(mixture_fixed_share)(struct TL(mixture) *s, const struct TL(mixture_params) *p, num_t y)
{
	TL(loss) loss[TL_PREDICTORS], least = 0;
	TL(weight_sum) sum = 0;
	TL(weight_ratio) keep, share;
	TL(weight) *w = s->by.weight;
	const TL(rate) rate = TL(decay_rate)(p->eta);
	const TL(loss) limit = TL(decay_limit)(rate);
	uint32_t k, used = 0;

	for (k = 0; k < TL_PREDICTORS; k++) {
		if (!TL(mixture_uses)(p, k))
			continue;
		loss[k] = TL(loss_in_scales)(TL(min)(TL(abs)(s->bank.x[k] - y), 1024 * s->bank.scale),
					     s->bank.scale);
		least = used == 0 || loss[k] < least ? loss[k] : least;
		used++;
	}
	for (k = 0; k < TL_PREDICTORS; k++) {
		if (!TL(mixture_uses)(p, k))
			continue;
		w[k] = loss[k] - least <= limit ? TL(weight_decay)(w[k], loss[k] - least, rate) : 0;
		sum += w[k];
	}
	if (!TL(weights_alive)(sum)) { /* no weight is left (alpha is about 0): start again */
		TL(mixture_uniform)(s, p);
		return;
	}
	keep = TL(weight_keep)(p->alpha, sum);
	share = TL(weight_share)(p->alpha, used);
	for (k = 0; k < TL_PREDICTORS; k++)
		if (TL(mixture_uses)(p, k))
			w[k] = TL(weight_mix)(w[k], keep, share);
}

/* Updates the budget: the total error by which the mixture may still exceed predicting the last value.
 * Each sample adds the difference of the two errors, and a part of the change of the RTT. The part is
 * larger upward, because RTT spikes go up and come back. The first 16 samples add more. */
TL_FN void TL(mixture_budget)(struct TL(mixture) *s, const struct TL(mixture_params) *p, num_t y)
{
	num_t change = TL(abs)(y - s->bank.x[TL_P_LAST]), b = s->budget;
	int32_t first = p->budget == TL_BUDGET_FIRST;

	b += num_shr(y > s->bank.x[TL_P_LAST] ? (first ? 5 : 2) * change : change, 4) + change -
	     TL(abs)(s->rtt - y);
	if (s->bank.samples >= 2 && s->bank.samples <= 16)
		b += TL(min)(change, s->bank.scale);
	b = TL(max)(b, num_from_us(0));
	/* in the first 256 samples all gains are recent, so the budget decays more slowly */
	s->budget = b - num_shr(b, first || s->bank.samples < 256 ? 8 : 6);
}

/* Learns the coefficients that move the mixture towards three of its predictors: the last value, a slowly
 * moving level, and a level plus the deviation that each of 16 states of the path has had so far. Each
 * step is the mixture's error times its distance from the predictor (least mean squares). Both are clipped
 * at the mean distance of the RTT from its level, so that no outlier dominates. */
TL_FN void TL(mixture_learn_correction)(struct TL(mixture) *s, num_t y)
{
	num_t scale = s->bank.scale, error = TL(clamp)(y - s->corrected, -scale, scale);
	const num_t towards[3] = { s->bank.x[TL_P_LAST], s->bank.x[TL_P_SLOW_HUB], s->bank.x[TL_P_MAP16] };
	uint32_t i;

	for (i = 0; i < 3; i++)
		s->correction[i] = TL(correction_step)(s->correction[i], error,
						       TL(clamp)(towards[i] - s->base, -scale, scale), scale);
}

TL_FN num_t TL(mixture_corrected)(const struct TL(mixture) *s)
{
	num_t reach = 4 * s->bank.scale, x = s->base;
	const num_t towards[3] = { s->bank.x[TL_P_LAST], s->bank.x[TL_P_SLOW_HUB], s->bank.x[TL_P_MAP16] };
	uint32_t i;

	for (i = 0; i < 3; i++)
		x += num_mul(TL(clamp)(towards[i] - s->base, -reach, reach), s->correction[i]);
	return TL(clamp)(x, num_from_us(0), num_from_us(TL_RTT_MAX_US));
}

/* Returns the mixture. For each memory, it is the mean of the predictors and of the corrected mixture,
 * weighted by their positive regrets; with two memories, the mean of both. */
TL_FN num_t TL(mixture_mix_regrets)(struct TL(mixture) *s, const struct TL(mixture_params) *p, num_t fallback,
				    const num_t *sums)
{
	uint32_t m, memories = p->memory == TL_MEMORY_TWO ? 2 : 1;
	num_t mean = num_from_us(0);

	for (m = 0; m < memories; m++) {
		s->by.regret[m].mixture = memories == 2 ? TL(summed_mean)(s->by.regret[m].of, s->bank.x,
									  TL_PREDICTORS, fallback, sums[m])
							: TL(positive_mean)(s->by.regret[m].of, s->bank.x,
									    TL_PREDICTORS, fallback);
		mean += s->by.regret[m].mixture;
	}
	s->base = memories == 2 ? num_shr(mean, 1) : mean;
	if (!TL(mixture_corrects)(p))
		return s->base;
	s->corrected = TL(mixture_corrected)(s);
	for (m = 0, mean = num_from_us(0); m < memories; m++) {
		num_t w = s->by.regret[m].of[TL_PREDICTORS];
		if (w > num_from_us(0))
			s->by.regret[m].mixture += num_mul(s->corrected - s->by.regret[m].mixture,
							   TL(share_of)(w, sums[m]));
		mean += s->by.regret[m].mixture;
	}
	return memories == 2 ? num_shr(mean, 1) : mean;
}

TL_FN num_t TL(mixture_mix)(struct TL(mixture) *s, const struct TL(mixture_params) *p, const num_t *sums)
{
	num_t fallback = p->warm_up == TL_WARM_UP_MEDIAN ? num_shr(s->bank.x[TL_P_LAST] + s->bank.hub, 1)
							 : s->bank.x[TL_P_LAST];
	num_t weight[TL_PREDICTORS];
	uint32_t k;

	if (p->combiner == TL_COMBINER_REGRET)
		return TL(mixture_mix_regrets)(s, p, fallback, sums);
	for (k = 0; k < TL_PREDICTORS; k++)
		weight[k] = s->by.weight[k];
	return TL(positive_mean)(weight, s->bank.x, TL_PREDICTORS, fallback);
}

/* Learns from the sample `y` and computes the next prediction, but no RTO. */
TL_FN void TL(mixture_learn)(struct TL(mixture) *s, const struct TL(mixture_params) *p, num_t y)
{
	const struct tl_predictor_choices how = {
		p->warm_up,
		p->dead_zone == TL_OFF,
		p->drift == TL_DRIFT_BY_OUTLIER,
	};
	num_t sums[2] = { num_from_us(0), num_from_us(0) };

	if (s->bank.samples == 0) {
		TL(mixture_start)(s, p, y);
	} else {
		TL(mixture_budget)(s, p, y);
		if (p->combiner == TL_COMBINER_REGRET)
			TL(mixture_regrets)(s, p, y, sums);
		else
			TL(mixture_fixed_share)(s, p, y);
		if (TL(mixture_corrects)(p))
			TL(mixture_learn_correction)(s, y);
	}
	TL(predictors_update)(&s->bank, &how, y);
	s->rtt = TL(mixture_mix)(s, p, sums);
	if (p->budget != TL_BUDGET_OFF)
		s->rtt = TL(clamp)(s->rtt, s->bank.x[TL_P_LAST] - s->budget,
				   s->bank.x[TL_P_LAST] + s->budget);
}
