/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The estimator `linux`: the timer of the Linux kernel, from the description in Sarolahti and Kuznetsov,
 * "Congestion Control in Linux TCP" (USENIX 2002, section 4). Unlike RFC 6298 it has a mean deviation that
 * rises slowly when the RTT falls, the maximum of that deviation over each round trip, and a minimum of the
 * variance term (`rto_min`), not of the RTO. Included twice: for double precision and for fixed point. */

#define TL_LINUX_TCP_PARAMS(X) \
	X(us, variance_floor, 200000, 0, 4294967296, "floor of the variance term (tcp_rto_min_us)") \
	X(us, rto_initial, 1000000, 1, 4294967296, "RTO before any sample") \
	X(us, rto_max, 120000000, 1, 4294967296, "cap of the RTO (TCP_RTO_MAX)")

struct TL(linux_tcp_params) {
	TL_LINUX_TCP_PARAMS(TL_FIELD)
};

struct TL(linux_tcp) {
	struct TL(linux_tcp_params) params;
	num_t srtt;
	num_t mdev4;      /* four times the mean deviation, as in the kernel */
	num_t mdev4_max;  /* the largest mdev4 of this round trip */
	num_t rttvar;     /* the term added to SRTT */
	int64_t round_us; /* the round trip ends with the first ACK of data sent after this */
	uint32_t samples;
};

TL_FN void TL(linux_tcp_defaults)(struct TL(linux_tcp_params) *p) { TL_LINUX_TCP_PARAMS(TL_DEFAULT) }

/* Preset `linux/floor-5ms`, for data centres, as `ip route … rto_min 5ms` sets it. */
TL_FN void TL(linux_tcp_floor_5ms)(struct TL(linux_tcp_params) *p)
{
	p->variance_floor_us = 5000;
}

TL_FN void TL(linux_tcp_init)(struct TL(linux_tcp) *s, const struct TL(linux_tcp_params) *p)
{
	s->params = *p;
	s->srtt = num_from_us(0);
	s->mdev4 = s->mdev4_max = s->rttvar = num_from_us(0);
	s->round_us = 0;
	s->samples = 0;
}

TL_FN void TL(linux_tcp_update)(struct TL(linux_tcp) *s, const struct tl_sample *in)
{
	num_t y = num_from_us(tl_clamp_us(in->rtt_us, 1, TL_RTT_MAX_US));
	num_t floor = num_from_us(s->params.variance_floor_us);
	num_t err = y - s->srtt;

	if (s->samples == 0) { /* RTO = 3 RTT */
		s->samples = 1;
		s->srtt = y;
		s->mdev4 = y + y;
		s->rttvar = s->mdev4_max = TL(max)(s->mdev4, floor);
		s->round_us = in->time_us;
		return;
	}
	if (err < num_from_us(0)) {
		num_t below = num_from_us(0) - err, rise = below - num_shr_positive(s->mdev4, 2);
		s->srtt -= num_shr_positive(below, 3);
		/* a falling RTT raises the deviation with gain 1/32 instead of 1/4 */
		s->mdev4 += rise > num_from_us(0) ? num_shr_positive(rise, 3) : rise;
	} else {
		s->srtt += num_shr_positive(err, 3);
		s->mdev4 += err - num_shr_positive(s->mdev4, 2);
	}
	if (s->mdev4 > s->mdev4_max) {
		s->mdev4_max = s->mdev4;
		s->rttvar = TL(max)(s->rttvar, s->mdev4_max);
	}
	if (in->sent_us >= s->round_us) { /* once a round trip, rttvar may fall towards mdev4_max */
		if (s->mdev4_max < s->rttvar)
			s->rttvar -= num_shr_positive(s->rttvar - s->mdev4_max, 2);
		s->round_us = in->time_us;
		s->mdev4_max = floor;
	}
}

TL_FN void TL(linux_tcp_query)(const struct TL(linux_tcp) *s, struct TL(prediction) *out)
{
	out->rtt = s->srtt;
	out->rto = TL(rto)(s->samples, s->srtt, s->rttvar, 0, s->params.rto_initial_us, 0,
			   s->params.rto_max_us);
}
