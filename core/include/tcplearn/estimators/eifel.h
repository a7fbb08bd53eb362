/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The estimator `eifel`: the Eifel retransmission timer (Ludwig and Sklower, CCR 30(3), 2000). Its gains
 * depend on the flight size, so that its memory lasts a number of round trips, not of samples. The caller
 * sets the timer to the RTO minus the age of the oldest unacknowledged segment (TL_TIMER_FROM_HEAD).
 * Included twice: for double precision and for fixed point. */

#include "eifel_double.h"
#include "eifel_fixed.h"

#define TL_EIFEL_PARAMS(X) \
	X(count, segments_per_ack, 1, 1, 64, "segments an ACK stands for: gain = this / flight") \
	X(ratio, gain_max, TL_RATIO(1, 3), 0.001, 1, "gain at one sample per round trip") \
	X(us, tick, 1, 0, 10000000, "clock tick: the RTO is at least RTT + 2 ticks") \
	X(us, rto_initial, 1000000, 1, 4294967296, "RTO before any sample") \
	X(us, rto_max, 60000000, 1, 4294967296, "cap of the RTO")

struct TL(eifel_params) {
	TL_EIFEL_PARAMS(TL_FIELD)
};

struct TL(eifel) {
	struct TL(eifel_params) params;
	/* 16 more fractional bits, so that a small gain or its square still has an effect */
	num_t srtt_fine, rttvar_fine;
	num_t rto;
	uint32_t samples;
};

TL_FN void TL(eifel_defaults)(struct TL(eifel_params) *p) { TL_EIFEL_PARAMS(TL_DEFAULT) }

TL_FN void TL(eifel_init)(struct TL(eifel) *s, const struct TL(eifel_params) *p)
{
	s->params = *p;
	s->srtt_fine = num_from_us(0);
	s->rttvar_fine = num_from_us(0);
	s->rto = num_from_us(p->rto_initial_us < p->rto_max_us ? p->rto_initial_us : p->rto_max_us);
	s->samples = 0;
}

TL_FN void TL(eifel_update)(struct TL(eifel) *s, const struct tl_sample *in)
{
	num_t y = num_from_us(tl_clamp_us(in->rtt_us, 1, TL_RTT_MAX_US));
	num_t least = y + num_from_us(2 * s->params.tick_us);
	num_t delta = num_fine(y) - s->srtt_fine;
	uint32_t flight = in->flight_segments == 0 ? 1 : in->flight_segments;
	ratio_t gain;
	num_t var;

	if (flight > TL_FLIGHT_MAX)
		flight = TL_FLIGHT_MAX;
	gain = TL(ratio_of_counts)(s->params.segments_per_ack, flight);
	if (gain > s->params.gain_max) { /* fewer than three samples per round trip */
		gain = s->params.gain_max;
		flight = 0;
	}
	if (s->samples == 0) {
		s->samples = 1;
		s->srtt_fine = num_fine(y);
		/* as RFC 6298, 2.2: RTO = 3 RTT, so RTTVAR / gain = 2 RTT */
		s->rttvar_fine = num_mul(num_fine(y + y), gain);
	} else {
		s->srtt_fine += num_mul(delta, gain);
		if (delta >= num_from_us(0)) {
			num_t step = delta - s->rttvar_fine;
			/* the squared gain of a falling RTTVAR makes it fall over many round trips */
			s->rttvar_fine += num_mul(step < num_from_us(0) ? num_mul(step, gain) : step, gain);
		}
	}
	/* RTTVAR / gain; with flight > 0 computed from integers */
	if (flight == 0)
		var = TL(coarse_over)(s->rttvar_fine, s->params.gain_max);
	else
		var = num_coarse(
			num_div_count(num_mul_count(s->rttvar_fine, flight), s->params.segments_per_ack));
	s->rto = TL(min)(TL(max)(num_coarse(s->srtt_fine) + var, least), num_from_us(s->params.rto_max_us));
}

TL_FN void TL(eifel_query)(const struct TL(eifel) *s, struct TL(prediction) *out)
{
	out->rtt = num_coarse(s->srtt_fine);
	out->rto = s->rto;
}
