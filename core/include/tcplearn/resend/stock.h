/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The resend policy `stock`, the rule of the Linux kernel: first a tail loss probe (RFC 8985, section 7),
 * then the RTO of its estimator. The RTO doubles at each expiry (RFC 6298, 5.5), or stays constant for
 * the first expiries (thin linear timeouts). Included twice: for double precision and for fixed point. */

#define TL_RESEND_STOCK_PARAMS(X) \
	X(us, rto_min, 200000, 1, 4294967296, \
	  "floor of the RTO's variance term, which a lone segment's probe adds to 2 SRTT") \
	X(choice, probe, TL_ON, "on|off", 1, "the first resend is a tail loss probe") \
	X(us, probe_min, 8000, 1, 4294967296, \
	  "addition to 2 SRTT of a probe with more segments out (two jiffies)") \
	X(count, linear, 0, 0, 1000, "timeouts before the wait begins to double (thin linear timeouts: 6)") \
	X(us, rto_max, 120000000, 1, 4294967296, "cap of every wait (TCP_RTO_MAX)") \
	X(choice, lone, TL_ON, "on|off", 1, \
	  "the probe of a lone segment waits for its delayed ACK: 2 SRTT + rto_min, not + probe_min")

struct TL(resend_stock_params) {
	TL_RESEND_STOCK_PARAMS(TL_FIELD)
};

struct TL(resend_stock) {
	struct tl_resend_flight flight;
	struct TL(resend_stock_params) params;
	struct TL(linux_tcp) rtt;
	int64_t hold_us; /* minimum RTO until an unambiguous RTT sample (Karn's rule) */
};

TL_FN void TL(resend_stock_defaults)(struct TL(resend_stock_params) *p) { TL_RESEND_STOCK_PARAMS(TL_DEFAULT) }

/* The preset `floor`, as `ip route … rto_min 5ms` sets it. */
TL_FN void TL(resend_stock_floor)(struct TL(resend_stock_params) *p)
{
	p->rto_min_us = 5000;
}

/* The preset `linear`, as net.ipv4.tcp_thin_linear_timeouts sets it. */
TL_FN void TL(resend_stock_linear)(struct TL(resend_stock_params) *p)
{
	p->linear = 6;
}

/* The preset `stock/no-probe`, as net.ipv4.tcp_early_retrans = 0 sets it. */
TL_FN void TL(resend_stock_no_probe)(struct TL(resend_stock_params) *p)
{
	p->probe = TL_OFF;
}

/* The preset `s-rto` (Zhou et al., CoNEXT 2015): the probe is sent after 2 SRTT, or after the RTO if that is
 * shorter. S-RTO also reduces the window then; that is left to the program that runs the policy. */
TL_FN void TL(resend_stock_s_rto)(struct TL(resend_stock_params) *p)
{
	p->lone = TL_OFF;
	p->probe_min_us = 1;
}

/* Initializes the kernel's RTT estimator with these bounds. The policy `priced` uses it too, because its
 * first waits never exceed those of `stock`. */
TL_FN void TL(resend_rtt_init)(struct TL(linux_tcp) *rtt, int64_t rto_min_us, int64_t rto_max_us)
{
	struct TL(linux_tcp_params) p;

	TL(linux_tcp_defaults)(&p);
	p.variance_floor_us = rto_min_us;
	p.rto_max_us = rto_max_us;
	TL(linux_tcp_init)(rtt, &p);
}

TL_FN void TL(resend_rtt_sample)(struct TL(linux_tcp) *rtt, int64_t rtt_us, int64_t time_us)
{
	struct tl_sample in;

	in.time_us = time_us;
	in.rtt_us = rtt_us;
	in.sent_us = (int64_t)((uint64_t)time_us - (uint64_t)rtt_us);
	in.ack_delay_us = 0;
	in.flight_segments = 0;
	in.ttl = in.hops = 0;
	TL(linux_tcp_update)(rtt, &in);
}

TL_FN int64_t TL(resend_rto_us)(const struct TL(linux_tcp) *rtt)
{
	struct TL(prediction) p;

	TL(linux_tcp_query)(rtt, &p);
	return num_to_us(p.rto);
}

/* Returns the kernel's first wait in microseconds: the RTO, or the probe timeout if that is shorter. */
TL_FN int64_t TL(resend_stock_wait_us)(const struct TL(linux_tcp) *rtt, uint32_t probe, int64_t probe_min_us,
				       uint32_t out_segments, int64_t rto_us)
{
	int64_t pto_us;

	if (probe != TL_ON || rtt->samples == 0)
		return rto_us;
	pto_us = num_to_us(rtt->srtt + rtt->srtt) +
		 (out_segments > 1 ? probe_min_us : rtt->params.variance_floor_us);
	return pto_us < rto_us ? pto_us : rto_us;
}

TL_FN void TL(resend_stock_start)(struct TL(resend_stock) *s)
{
	TL(resend_rtt_init)(&s->rtt, s->params.rto_min_us, s->params.rto_max_us);
	s->hold_us = 0;
}

TL_FN void TL(resend_stock_inherit)(struct TL(resend_stock) *s, const struct TL(resend_stock) *earlier)
{
	(void)s, (void)earlier;
}

TL_FN void TL(resend_stock_open)(struct TL(resend_stock) *s, uint32_t out_segments)
{
	(void)s, (void)out_segments;
}

TL_FN int64_t TL(resend_stock_first)(const struct TL(resend_stock) *s, uint32_t out_segments)
{
	const int64_t rto_us = TL(resend_rto_us)(&s->rtt);

	if (s->params.lone != TL_ON)
		out_segments = 2; /* a lone segment is probed as if more were in flight */
	return TL(resend_stock_wait_us)(&s->rtt, s->params.probe, s->params.probe_min_us, out_segments,
					rto_us > s->hold_us ? rto_us : s->hold_us);
}

/* Returns the wait after a retransmission in us: the RTO after the tail loss probe, doubled later. */
TL_FN int64_t TL(resend_stock_next)(struct TL(resend_stock) *s, int64_t waited_us, uint32_t out_segments)
{
	const struct TL(resend_stock_params) *p = &s->params;
	const uint32_t probes = p->probe == TL_ON, resends = s->flight.resends;
	const uint32_t timeouts = resends > probes ? resends - probes : 0;
	const uint32_t doublings = timeouts > p->linear ? timeouts - p->linear : 0;
	const int64_t rto_us = TL(resend_rto_us)(&s->rtt);

	(void)waited_us, (void)out_segments;
	return tl_resend_doubled(rto_us > s->hold_us ? rto_us : s->hold_us, doublings, p->rto_max_us);
}

TL_FN void TL(resend_stock_sample)(struct TL(resend_stock) *s, int64_t rtt_us, int64_t time_us)
{
	TL(resend_rtt_sample)(&s->rtt, rtt_us, time_us);
	s->hold_us = 0;
}

/* Keeps the doubled RTO until it is clear which transmission is answered (RFC 6298, section 3 and 5.5). */
TL_FN void TL(resend_stock_end)(struct TL(resend_stock) *s, const struct tl_resend_outcome *in)
{
	if (!in->clear && s->flight.resends > 1)
		s->hold_us = s->flight.wait_us;
}

TL_FN int64_t TL(resend_stock_early_us)(const struct TL(resend_stock) *s)
{
	(void)s;
	return 0;
}
