/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The estimator `last`, the trivial baseline: it predicts the last RTT. Its RTO adds K times the mean
 * step between samples (nunes2014, equation 4). Included twice: for double precision and for fixed point. */

#define TL_LAST_PARAMS(X) \
	X(ratio, beta, TL_RATIO(1, 4), 0, 1, "gain of the mean step") \
	X(ratio, k, TL_RATIO(4, 1), 0, 64, "mean steps added to the RTT") \
	X(us, granularity, 1, 0, 10000000, "clock granularity G (RFC 6298, 2.3)") \
	X(us, rto_initial, 1000000, 1, 4294967296, "RTO before any sample (RFC 6298, 2.1)") \
	X(us, rto_min, 0, 0, 4294967296, "floor of the RTO") \
	X(us, rto_max, 60000000, 1, 4294967296, "cap of the RTO (RFC 6298, 2.5)")

struct TL(last_params) {
	TL_LAST_PARAMS(TL_FIELD)
};

struct TL(last) {
	struct TL(last_params) params;
	num_t rtt, step; /* step: mean |y_t - y_(t-1)| */
	uint32_t samples;
};

TL_FN void TL(last_defaults)(struct TL(last_params) *p) { TL_LAST_PARAMS(TL_DEFAULT) }

TL_FN void TL(last_init)(struct TL(last) *s, const struct TL(last_params) *p)
{
	s->params = *p;
	s->rtt = num_from_us(0);
	s->step = num_from_us(0);
	s->samples = 0;
}

TL_FN void TL(last_update)(struct TL(last) *s, const struct tl_sample *in)
{
	num_t y = num_from_us(tl_clamp_us(in->rtt_us, 1, TL_RTT_MAX_US));

	if (s->samples == 0)
		s->step = num_shr(y, 1); /* as RFC 6298, 2.2 */
	else
		s->step += num_mul(TL(abs)(y - s->rtt) - s->step, s->params.beta);
	s->rtt = y;
	s->samples += s->samples == 0;
}

TL_FN void TL(last_query)(const struct TL(last) *s, struct TL(prediction) *out)
{
	out->rtt = s->rtt;
	out->rto = TL(rto)(s->samples, s->rtt, num_mul(s->step, s->params.k), s->params.granularity_us,
			   s->params.rto_initial_us, s->params.rto_min_us, s->params.rto_max_us);
}
