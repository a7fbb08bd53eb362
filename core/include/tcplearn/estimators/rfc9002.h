/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The estimator `rfc9002`: QUIC's RTT estimator (RFC 9002), which subtracts the peer's ACK delay. Its
 * probe timeout (PTO) is used as the RTO. Included twice: for double precision and for fixed point. */

#define TL_RFC9002_PARAMS(X) \
	X(us, granularity, 1000, 0, 10000000, "kGranularity (RFC 9002, 6.1.2)") \
	X(us, max_ack_delay, 25000, 0, 16384000, "the peer's max_ack_delay (RFC 9000, 18.2)") \
	X(us, rtt_initial, 333000, 1, 4294967296, "kInitialRtt (RFC 9002, 6.2.2)")

struct TL(rfc9002_params) {
	TL_RFC9002_PARAMS(TL_FIELD)
};

struct TL(rfc9002) {
	struct TL(rfc9002_params) params;
	int64_t min_rtt_us;
	num_t smoothed_rtt, rttvar;
	uint32_t samples;
};

TL_FN void TL(rfc9002_defaults)(struct TL(rfc9002_params) *p) { TL_RFC9002_PARAMS(TL_DEFAULT) }

TL_FN void TL(rfc9002_init)(struct TL(rfc9002) *s, const struct TL(rfc9002_params) *p)
{
	s->params = *p;
	s->min_rtt_us = 0;
	s->smoothed_rtt = num_from_us(p->rtt_initial_us); /* RFC 9002, 5.3 */
	s->rttvar = num_shr(s->smoothed_rtt, 1);
	s->samples = 0;
}

TL_FN void TL(rfc9002_update)(struct TL(rfc9002) *s, const struct tl_sample *in)
{
	int64_t latest_us = tl_clamp_us(in->rtt_us, 1, TL_RTT_MAX_US);
	int64_t delay_us = tl_clamp_us(in->ack_delay_us, 0, s->params.max_ack_delay_us);
	num_t adjusted;

	if (s->samples == 0) { /* RFC 9002, 5.2 and 5.3 */
		s->samples = 1;
		s->min_rtt_us = latest_us;
		s->smoothed_rtt = num_from_us(latest_us);
		s->rttvar = num_shr(s->smoothed_rtt, 1);
		return;
	}
	if (latest_us < s->min_rtt_us) /* RFC 9002, 5.2: min_rtt ignores the ACK delay */
		s->min_rtt_us = latest_us;
	if (latest_us >= s->min_rtt_us + delay_us)
		latest_us -= delay_us;
	adjusted = num_from_us(latest_us);
	/* RFC 9002, A.7: the deviation is from the smoothed_rtt before this sample */
	s->rttvar += num_shr(TL(abs)(s->smoothed_rtt - adjusted) - s->rttvar, 2);
	s->smoothed_rtt += num_shr(adjusted - s->smoothed_rtt, 3);
}

TL_FN void TL(rfc9002_query)(const struct TL(rfc9002) *s, struct TL(prediction) *out)
{
	out->rtt = s->smoothed_rtt;
	/* RFC 9002, 6.2.1: PTO = smoothed_rtt + max(4 rttvar, kGranularity) + max_ack_delay */
	out->rto = s->smoothed_rtt +
		   TL(max)(num_mul_count(s->rttvar, 4), num_from_us(s->params.granularity_us)) +
		   num_from_us(s->params.max_ack_delay_us);
}
