/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The estimator `jacobson/freebsd-2.2`: Jacobson's averages in scaled integers, in ticks of a coarse
 * clock, as 4.4BSD and its descendants computed them (Stevens, TCP/IP Illustrated, volume 2, 25.3 to
 * 25.10). The simulator of nunes2014 had such a TCP. Both arithmetics use the same integers. Included
 * twice: for double precision and for fixed point. */

#ifndef TCPLEARN_FREEBSD_H
#define TCPLEARN_FREEBSD_H
enum tl_fraction { TL_FRACTION_CUT = 0, TL_FRACTION_KEPT = 1 };
#endif

#define TL_FREEBSD_PARAMS(X) \
	X(us, tick, 500000, 1000, 10000000, "tick of the slow timer") \
	X(choice, sampling, TL_COUNTED, "every-ack|one-per-rtt|counted", 2, "which ACKs are timed") \
	X(choice, fraction, TL_FRACTION_CUT, "cut|kept", 1, \
	  "whether the predicted RTT has fractions of a tick") \
	X(count, above_rtt, 2, 0, 64, "ticks by which the RTO is at least above the last RTT") \
	X(count, rto_min, 2, 1, 64, "floor of the RTO in ticks") \
	X(count, rto_max, 128, 1, 4096, "cap of the RTO in ticks") \
	X(us, rto_initial, 3000000, 1, 4294967296, "RTO before any sample")

struct TL(freebsd_params) {
	TL_FREEBSD_PARAMS(TL_FIELD)
};

struct TL(freebsd) {
	struct TL(freebsd_params) params;
	struct tl_sampler sampler;
	int64_t srtt;   /* in 1/32 tick, from the tick count minus one; 0: no sample yet */
	int64_t rttvar; /* in 1/16 tick */
	int64_t ticks;  /* ticks counted for the last sample */
};

TL_FN void TL(freebsd_defaults)(struct TL(freebsd_params) *p) { TL_FREEBSD_PARAMS(TL_DEFAULT) }

TL_FN void TL(freebsd_fraction)(struct TL(freebsd_params) *p)
{
	p->fraction = TL_FRACTION_KEPT;
}

TL_FN void TL(freebsd_init)(struct TL(freebsd) *s, const struct TL(freebsd_params) *p)
{
	s->params = *p;
	tl_sampler_init(&s->sampler);
	s->srtt = s->rttvar = s->ticks = 0;
}

TL_FN void TL(freebsd_update)(struct TL(freebsd) *s, const struct tl_sample *in)
{
	int64_t tick_us = s->params.tick_us;
	int64_t rtt_us = tl_sampler_take(&s->sampler, in, s->params.sampling, tick_us);
	int64_t error;

	if (rtt_us == 0)
		return;
	/* exact, because the sampler returns whole ticks */
	s->ticks = (int64_t)((uint64_t)rtt_us / (uint64_t)tick_us);
	if (s->srtt == 0) {
		s->srtt = s->ticks * 32;
		s->rttvar = s->ticks * 8;
		return;
	}
	error = (s->ticks - 1) * 4 - (s->srtt >> 3); /* in 1/4 tick, which makes the gains 1/8 and 1/4 */
	s->srtt += error;
	if (s->srtt < 1)
		s->srtt = 1;
	s->rttvar += (error < 0 ? -error : error) - (s->rttvar >> 2);
	if (s->rttvar < 1)
		s->rttvar = 1;
}

TL_FN void TL(freebsd_query)(const struct TL(freebsd) *s, struct TL(prediction) *out)
{
	const struct TL(freebsd_params) *p = &s->params;
	int64_t floor = s->ticks + p->above_rtt, rto = ((s->srtt >> 3) + s->rttvar) >> 2;
	int64_t srtt = p->fraction == TL_FRACTION_KEPT ? s->srtt : s->srtt & ~(int64_t)31;

	if (s->srtt == 0) {
		out->rtt = num_from_us(0);
		out->rto = num_from_us(p->rto_initial_us);
		return;
	}
	/* a prediction below one tick becomes 1 us, because 0 means that there is no prediction */
	out->rtt = srtt == 0 ? num_from_us(1)
			     : num_shr(num_mul_count(num_from_us(p->tick_us), (uint32_t)srtt), 5);
	rto = tl_clamp_us(rto, floor > p->rto_min ? floor : p->rto_min, p->rto_max);
	out->rto = num_from_us((rto < p->rto_max ? rto : p->rto_max) * p->tick_us);
}
