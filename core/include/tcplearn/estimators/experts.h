/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The estimator `experts`: Algorithm 1 of nunes2014. Each trial is one RTT sample; the prediction is the
 * weighted mean of experts, each a fixed RTT. Parameters and grid are in experts_grid.h, the steps of a
 * trial in experts_steps.h. Included twice: for double precision and for fixed point. */

#include "experts_grid.h"
#include "experts_steps.h"

/* Runs one trial with the sample `y`. The weights sum to 1 before and after. */
TL_FN void TL(experts_trial)(struct TL(experts) *s, TL(tick) y)
{
	const struct TL(experts_params) *p = &s->params;
	const TL(tick) *x = TL(experts_grid)(s);
	TL(weight) *w = TL(experts_weights)(s);
	const TL(rate) rate = TL(decay_rate)(p->eta);
	const TL(loss) limit = TL(decay_limit)(rate);
	uint32_t n = TL(experts_count)(s), first, reach;
	TL(weight_sum) sum;
	TL(loss) least;

	first = TL(experts_first)(x, n, y);
	/* the least loss is that of the nearest expert above or below y */
	least = first == n ? TL(experts_loss_under)(p, y - x[n - 1], y)
			   : TL(experts_loss_over)(p, x[first] - y);
	if (first > 0 && first < n) {
		TL(loss) under = TL(experts_loss_under)(p, y - x[first - 1], y);
		least = under < least ? under : least;
	}
	reach = TL(experts_reach)(s, first, y, limit + least);
	TL(experts_punish_under)(s, first, y, least, rate, limit);
	TL(experts_punish_over)(s, first, reach, y, least, rate);
	sum = TL(experts_sum)(w, reach);
	if (!TL(weights_alive)(sum)) { /* every weight is 0, which happens only if alpha is about 0 */
		TL(experts_uniform)(s);
		return;
	}
	if (p->share == TL_SHARE_FIXED) {
		s->rtt = TL(tick_to_num)(TL(experts_share_fixed)(s, reach, sum), s->unit_us);
		return;
	}
	if (p->share == TL_SHARE_VARIABLE)
		TL(experts_share_variable)(s, reach, sum, y);
	else
		TL(experts_share_past)(s, reach, sum);
	/* step 1 of the next trial; divided by the sum, which rounding has made differ from 1 */
	s->rtt = TL(tick_to_num)(TL(weight_mean)(TL(experts_dot)(w, x, n), TL(experts_sum)(w, n)),
				 s->unit_us);
}

TL_FN void TL(experts_update)(struct TL(experts) *s, const struct tl_sample *in)
{
	const struct TL(experts_params) *p = &s->params;
	int64_t rtt_us = tl_sampler_take(&s->sampler, in, p->sampling, p->quantum_us);
	num_t r = num_from_us(rtt_us);
	const TL(tick) *x = TL(experts_grid)(s);
	TL(tick) y;

	if (rtt_us == 0)
		return;
	y = TL(tick_from_us)(rtt_us, s->unit_us);
	if (p->fit != 0 && (s->samples == 0 || y < x[0] || y > x[p->n - 1])) {
		s->unit_us = tl_clamp_us((int64_t)((uint64_t)rtt_us / p->fit), 1, TL_UNIT_MAX_US);
		y = TL(tick_from_us)(rtt_us, s->unit_us);
		TL(experts_uniform)(s);
	}
	if (s->samples == 0) /* as RFC 6298, 2.2; nunes2014 does not state it */
		s->rttvar = num_shr(r, 1);
	else /* equation 2 with the prediction before this sample, or equation 4 */
		s->rttvar +=
			num_mul(TL(abs)(r - (p->variance == TL_VARIANCE_EQ2 ? s->rtt : s->last)) - s->rttvar,
				p->beta);
	s->last = r;
	s->samples += s->samples == 0;
	TL(experts_trial)(s, y);
}

TL_FN void TL(experts_query)(const struct TL(experts) *s, struct TL(prediction) *out)
{
	out->rtt = s->rtt;
	out->rto = TL(rto)(s->samples, s->rtt, num_mul(s->rttvar, s->params.k), 0, s->params.rto_initial_us,
			   s->params.rto_min_us, s->params.rto_max_us);
}
