/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The estimator `jacobson`: SRTT, RTTVAR and RTO by RFC 6298, without the RFC's minimum RTO of one second.
 * Presets add this minimum, or use nunes2014's equations. Included twice: for double precision and for fixed
 * point. */

#define TL_JACOBSON_PARAMS(X) \
	X(ratio, alpha, TL_RATIO(1, 8), 0, 1, "gain of SRTT") \
	X(ratio, beta, TL_RATIO(1, 4), 0, 1, "gain of RTTVAR") \
	X(ratio, k, TL_RATIO(4, 1), 0, 64, "RTTVARs added to SRTT") \
	X(us, granularity, 1, 0, 10000000, "clock granularity G (RFC 6298, 2.3)") \
	X(us, rto_initial, 1000000, 1, 4294967296, "RTO before any sample (RFC 6298, 2.1)") \
	X(us, rto_min, 0, 0, 4294967296, "floor of the RTO (RFC 6298, 2.4 asks for 1 s)") \
	X(us, rto_max, 60000000, 1, 4294967296, "cap of the RTO (RFC 6298, 2.5)") \
	X(us, quantum, 0, 0, 10000000, "clock tick that samples are rounded up to, or counted in; 0: none") \
	X(choice, sampling, TL_EVERY_ACK, "every-ack|one-per-rtt|counted", 2, "which ACKs are timed")

struct TL(jacobson_params) {
	TL_JACOBSON_PARAMS(TL_FIELD)
};

struct TL(jacobson) {
	struct TL(jacobson_params) params;
	struct tl_sampler sampler;
	num_t srtt, rttvar;
	uint32_t samples;
};

TL_FN void TL(jacobson_defaults)(struct TL(jacobson_params) *p) { TL_JACOBSON_PARAMS(TL_DEFAULT) }

/* Preset `jacobson/rfc6298`. RFC 6298, 2.4: an RTO below one second should be rounded up to one second. */
TL_FN void TL(jacobson_rfc6298)(struct TL(jacobson_params) *p)
{
	p->rto_min_us = 1000000;
}

/* Preset `jacobson/nunes2014`: equations 1 to 3; bounds of section 2.1: 2 and 64 ticks of 500 ms. */
TL_FN void TL(jacobson_nunes2014)(struct TL(jacobson_params) *p)
{
	p->granularity_us = 0;
	p->rto_min_us = 1000000;
	p->rto_max_us = 32000000;
}

TL_FN void TL(jacobson_init)(struct TL(jacobson) *s, const struct TL(jacobson_params) *p)
{
	s->params = *p;
	tl_sampler_init(&s->sampler);
	s->srtt = num_from_us(0);
	s->rttvar = num_from_us(0);
	s->samples = 0;
}

TL_FN void TL(jacobson_update)(struct TL(jacobson) *s, const struct tl_sample *in)
{
	int64_t rtt_us = tl_sampler_take(&s->sampler, in, s->params.sampling, s->params.quantum_us);
	num_t r = num_from_us(rtt_us);

	if (rtt_us == 0)
		return;
	if (s->samples == 0) { /* RFC 6298, 2.2 */
		s->srtt = r;
		s->rttvar = num_shr(r, 1);
	} else { /* RFC 6298, 2.3: RTTVAR first, from the SRTT before this sample */
		s->rttvar += num_mul(TL(abs)(s->srtt - r) - s->rttvar, s->params.beta);
		s->srtt += num_mul(r - s->srtt, s->params.alpha);
	}
	s->samples += s->samples == 0;
}

TL_FN void TL(jacobson_query)(const struct TL(jacobson) *s, struct TL(prediction) *out)
{
	out->rtt = s->srtt;
	out->rto = TL(rto)(s->samples, s->srtt, num_mul(s->rttvar, s->params.k), s->params.granularity_us,
			   s->params.rto_initial_us, s->params.rto_min_us, s->params.rto_max_us);
}
