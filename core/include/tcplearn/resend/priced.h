/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The resend policy `priced`. It has seven candidates for a flight's first wait and uses the cheapest.
 * The cost of a candidate is the time it makes lost segments wait plus the price of its spurious
 * retransmissions. No wait is longer than that of `stock`, the Linux rule, except that `hold_us` can make a
 * first wait longer. The wait after the tail loss probe equals the first; later ones double (RFC 6298, 5.5)
 * unless another growth or learned spacing is requested. Equations: docs/algorithms/resend/priced.md. Included
 * twice: for double precision and for fixed point. */

#define TL_RESEND_PRICED_PARAMS(X) \
	X(us, price, 100000, 0, 4294967296, \
	  "price of a spurious retransmission: the expected waiting that is worth one") \
	X(choice, spacing, TL_RESEND_DOUBLING, "doubling|hazard|quarter", 2, "waits after the first resend") \
	X(choice, probe, TL_ON, "on|off", 1, "the first resend is a probe, and stock's too") \
	X(count, budget, 40, 0, 100000, "resends before the wait is at least doubled and at least stock's") \
	X(ratio, refill, TL_RATIO(1, 5), 0, 1, "part of a resend that each flight adds to the budget") \
	X(ratio, prior_misses, TL_RATIO(1, 4), 0, 1000, \
	  "prior of the shortest floor's spurious retransmissions, a fifth of it if RTTs hardly vary") \
	X(ratio, prior_loss, TL_RATIO(1, 250), 0, 1, "initial share of lost segments") \
	X(ratio, most_loss, TL_RATIO(11, 100), 0, 1, \
	  "share of the last flights lost above which every wait is stock's: a full queue") \
	X(ratio, most_loss_queued, TL_RATIO(6, 100), 0, 1, \
	  "the same, if lower, while SRTT is more than a quarter above the minimum RTT (a standing " \
	  "queue), and in the first 64 flights") \
	X(us, probe_min, 8000, 1, 4294967296, "parameter of stock's probe, which no first wait exceeds") \
	X(us, rto_min, 200000, 1, 4294967296, "parameter of stock's RTO, likewise") \
	X(us, rto_max, 120000000, 1, 4294967296, "cap of every wait") \
	X(count, backoff_percent, 200, 100, 200, "a later wait in per cent of the one before: 200 doubles it")

#ifndef TCPLEARN_RESEND_SPACING
#define TCPLEARN_RESEND_SPACING
enum tl_resend_spacing { TL_RESEND_DOUBLING = 0, TL_RESEND_HAZARD = 1, TL_RESEND_QUARTER = 2 };
/* A first wait is at least SRTT plus this time, the granularity of a timer. */
#define TL_RESEND_GRAIN_US 1000
/* `recent`, the share of flights with a loss, is an average over about this many flights. */
#define TL_RESEND_RECENT 64
/* `recent` begins at 7/5 of the lower loss limit: above that limit for 22 flights without a loss. */
#define TL_RESEND_RECENT_FIFTHS 7
/* With more than three segments in flight, three duplicate ACKs can show a loss, so all waits are those of
 * `stock`, the Linux rule. Flights of up to three segments are called thin, as in Linux
 * (tcp_stream_is_thin). */
#define TL_RESEND_THIN 3
#endif

struct TL(resend_priced_params) {
	TL_RESEND_PRICED_PARAMS(TL_FIELD)
};

struct TL(resend_priced) {
	struct tl_resend_flight flight;
	struct TL(resend_priced_params) params;
	struct TL(linux_tcp) rtt;
	struct TL(resend_scores) scores;
	int64_t hold_us;     /* least first wait of thin flights until an unambiguous RTT sample; 0: none */
	int64_t kept_rto_us; /* minimum RTO of `stock` until an unambiguous RTT sample (Karn's rule) */
	int64_t first_us;    /* first wait of the flight, before `hold_us` is applied */
	int64_t min_rtt_us;  /* minimum RTT of the connection; 0: none yet */
	ratio_t tokens;      /* tokens left in the budget of retransmissions */
	ratio_t recent;      /* share of recent flights whose timed segment was lost */
	struct tl_resend_counts counts;
};

TL_FN void TL(resend_priced_defaults)(struct TL(resend_priced_params) *p) {
	TL_RESEND_PRICED_PARAMS(TL_DEFAULT)
}

/* The preset `priced/backoff-1.5`: each later wait is 1.5 times the one before. It does not meet RFC 6298,
 * 5.5, which requires doubling, so users must choose it by name. */
TL_FN void TL(resend_priced_slower)(struct TL(resend_priced_params) *p)
{
	p->backoff_percent = 150;
}

/* The presets `priced/spaced` and `priced/quarter` do not double later waits. They do not meet RFC 8961,
 * requirement 4, and RFC 6298, 5.5, so users must choose them by name. */
TL_FN void TL(resend_priced_spaced)(struct TL(resend_priced_params) *p)
{
	p->spacing = TL_RESEND_HAZARD;
}

TL_FN void TL(resend_priced_quarter)(struct TL(resend_priced_params) *p)
{
	p->spacing = TL_RESEND_QUARTER;
}

TL_FN ratio_t TL(resend_priced_lower_limit)(const struct TL(resend_priced) *s)
{
	return s->params.most_loss_queued < s->params.most_loss ? s->params.most_loss_queued
								: s->params.most_loss;
}

TL_FN void TL(resend_priced_start)(struct TL(resend_priced) *s)
{
	TL(resend_rtt_init)(&s->rtt, s->params.rto_min_us, s->params.rto_max_us);
	TL(resend_scores_init)(&s->scores, s->params.prior_misses, s->params.prior_loss);
	tl_resend_counts_init(&s->counts);
	s->tokens = ratio_from_whole((int64_t)s->params.budget);
	s->recent = num_div_count(num_mul_count(TL(resend_priced_lower_limit)(s), TL_RESEND_RECENT_FIFTHS),
				  5);
	s->recent = s->recent < ratio_from_whole(1) ? s->recent : ratio_from_whole(1);
	s->hold_us = s->kept_rto_us = s->first_us = s->min_rtt_us = 0;
}

/* Takes over what an earlier connection has learned, including `recent`, its share of recent flights with a
 * loss. The RTT (which the handshake has measured), the budget, `hold_us` and `kept_rto_us` are not taken
 * over. */
TL_FN void TL(resend_priced_inherit)(struct TL(resend_priced) *s, const struct TL(resend_priced) *earlier)
{
	const struct tl_resend_share share = tl_resend_share_of(earlier->scores.flights);

	s->recent = earlier->recent;
	TL(resend_scores_inherit)(&s->scores, &earlier->scores, share);
	tl_resend_counts_inherit(&s->counts, &earlier->counts, share.n, share.d);
}

TL_FN void TL(resend_priced_refill)(struct TL(resend_priced) *s, ratio_t by)
{
	const ratio_t full = ratio_from_whole((int64_t)s->params.budget);

	s->tokens = s->tokens + by < full ? s->tokens + by : full;
}

TL_FN int64_t TL(resend_priced_rto_us)(const struct TL(resend_priced) *s)
{
	const int64_t rto_us = TL(resend_rto_us)(&s->rtt);

	return rto_us > s->kept_rto_us ? rto_us : s->kept_rto_us;
}

TL_FN int64_t TL(resend_priced_stock_us)(const struct TL(resend_priced) *s, uint32_t out_segments)
{
	return TL(resend_stock_wait_us)(&s->rtt, s->params.probe, s->params.probe_min_us, out_segments,
					TL(resend_priced_rto_us)(s));
}

TL_FN void TL(resend_priced_open)(struct TL(resend_priced) *s, uint32_t out_segments)
{
	TL(resend_priced_refill)(s, s->params.refill);
	if (s->rtt.samples > 0)
		TL(resend_scores_choose)(&s->scores, &s->rtt, TL(resend_priced_stock_us)(s, out_segments),
					 s->params.price_us, s->params.prior_misses);
}

/* Returns whether SRTT shows a standing queue, or the RTT without a queue is not known yet. */
TL_FN int TL(resend_priced_queued)(const struct TL(resend_priced) *s)
{
	const int64_t quarter_us = s->min_rtt_us >> 2;
	const int64_t slack_us = quarter_us > TL_RESEND_GRAIN_US ? quarter_us : TL_RESEND_GRAIN_US;

	return s->scores.flights < TL_RESEND_RECENT || num_to_us(s->rtt.srtt) > s->min_rtt_us + slack_us;
}

/* Returns whether all waits must be those of `stock`, the Linux rule. This is so if the budget of
 * retransmissions is spent, or if the share of recent flights with a loss is above a limit, as at an
 * overloaded queue. */
TL_FN int TL(resend_priced_careful)(const struct TL(resend_priced) *s)
{
	return s->tokens < ratio_from_whole(1) ||
	       s->recent >
		       (TL(resend_priced_queued)(s) ? TL(resend_priced_lower_limit)(s) : s->params.most_loss);
}

/* Returns the first wait in us: at most that of `stock`, the Linux rule, but at least `hold_us` in a flight
 * of up to three segments. */
TL_FN int64_t TL(resend_priced_first)(struct TL(resend_priced) *s, uint32_t out_segments)
{
	const int64_t stock_us = TL(resend_priced_stock_us)(s, out_segments);
	const int64_t least_us = num_to_us(s->rtt.srtt) + TL_RESEND_GRAIN_US;
	int64_t us = TL(resend_scores_wait_us)(
		&s->scores, s->scores.chosen); /* 0: the flight began before the first RTT sample */

	if (us == 0 || out_segments > TL_RESEND_THIN || TL(resend_priced_careful)(s)) {
		us = stock_us;
	} else {
		us = us > least_us ? us : least_us;
		us = us < stock_us ? us : stock_us;
	}
	s->first_us = us;
	return out_segments <= TL_RESEND_THIN && us < s->hold_us ? s->hold_us : us;
}

/* Returns the next wait by learned spacing, in microseconds. Learned spacing applies while "the segment
 * is lost and the loss episode still lasts" is more likely than "the answer is late". Otherwise the wait
 * is `longer_us`, and at least the whole time waited. */
TL_FN int64_t TL(resend_priced_spacing)(const struct TL(resend_priced) *s, int64_t waited_us,
					int64_t longer_us)
{
	const int64_t all_us = waited_us > s->first_us ? waited_us : s->first_us;
	int64_t us, least_us = s->params.spacing == TL_RESEND_HAZARD ? waited_us >> 3 : waited_us >> 2;
	struct tl_resend_tail lost, late;

	least_us = least_us > s->first_us ? least_us : s->first_us;
	us = least_us;
	if (s->params.spacing == TL_RESEND_HAZARD)
		us = tl_clamp_us(tl_resend_hazard_us(&s->counts, waited_us, s->first_us), least_us, all_us);
	tl_resend_longer_episodes(&s->counts, waited_us + us, &lost);
	tl_resend_later_rtts(&s->counts, waited_us + us, &late);
	if (num_mul(num_div_count(ratio_from_whole(lost.beyond), (int64_t)lost.all), s->scores.loss) >
	    num_div_count(ratio_from_whole(late.beyond), (int64_t)late.all))
		return us;
	return longer_us > all_us ? longer_us : all_us;
}

/* Returns the next wait as the kernel chooses it: after a tail loss probe the RTO, after that a doubled
 * wait. If the first retransmission came no sooner than the RTO although a probe was due before, it was
 * not a probe, because the kernel sends none while it repairs losses. */
TL_FN int64_t TL(resend_priced_stock_next)(struct TL(resend_priced) *s, int64_t waited_us, int64_t rto_us)
{
	const int64_t wait_us = s->flight.wait_us;

	if (s->flight.resends == 1 && s->params.probe == TL_ON && (waited_us < rto_us || wait_us >= rto_us))
		return rto_us;
	return tl_resend_doubled(wait_us > rto_us ? wait_us : rto_us, 1, s->params.rto_max_us);
}

/* Returns the wait after the running one. After a tail loss probe, which is no timeout, it is as long as the
 * running one; otherwise it is longer. RFC 8985 (7.3) waits an undoubled RTO after the probe, which is mostly
 * longer than this wait. */
TL_FN int64_t TL(resend_priced_longer)(const struct TL(resend_priced) *s)
{
	const int64_t wait_us = s->flight.wait_us;

	if (s->flight.resends == 1 && s->params.probe == TL_ON)
		return wait_us;
	return (int64_t)((uint64_t)wait_us * s->params.backoff_percent / 100);
}

TL_FN int64_t TL(resend_priced_next)(struct TL(resend_priced) *s, int64_t waited_us, uint32_t out_segments)
{
	int64_t us;

	if (out_segments > TL_RESEND_THIN || TL(resend_priced_careful)(s))
		return TL(resend_priced_stock_next)(s, waited_us, TL(resend_priced_rto_us)(s));
	s->tokens -= ratio_from_whole(1);
	us = TL(resend_priced_longer)(s);
	if (s->params.spacing != TL_RESEND_DOUBLING)
		us = TL(resend_priced_spacing)(s, waited_us, us);
	return us < s->params.rto_max_us ? us : s->params.rto_max_us;
}

TL_FN void TL(resend_priced_sample)(struct TL(resend_priced) *s, int64_t rtt_us, int64_t time_us)
{
	TL(resend_rtt_sample)(&s->rtt, rtt_us, time_us);
	if (s->min_rtt_us == 0 || rtt_us < s->min_rtt_us)
		s->min_rtt_us = rtt_us;
	s->hold_us = s->kept_rto_us = 0;
}

/* Makes later waits longer after an ambiguous ACK, because without timestamps no flight gives an RTT sample
 * while the waits are below the RTT. `hold_us`, the least first wait of flights of up to three segments,
 * becomes the time waited in this flight, but at most twice the longer of the earlier `hold_us` and the wait
 * of `stock`. So it is soon longer than an RTT that has risen, and a lost segment adds little to it. */
TL_FN void TL(resend_priced_unclear)(struct TL(resend_priced) *s, int64_t waited_us)
{
	const int64_t stock_us = TL(resend_priced_stock_us)(s, s->flight.segments);
	const int64_t most_us = tl_resend_doubled(s->hold_us > stock_us ? s->hold_us : stock_us, 1,
						  s->params.rto_max_us);

	if (s->flight.segments <= TL_RESEND_THIN)
		s->hold_us = waited_us < most_us ? waited_us : most_us;
	if (s->flight.resends > 1)
		s->kept_rto_us = s->flight.wait_us;
}

/* Learns from the end of a flight. A retransmission known to be needed returns its token to the budget. */
TL_FN void TL(resend_priced_end)(struct TL(resend_priced) *s, const struct tl_resend_outcome *in)
{
	if (in->judged_us > 0) {
		TL(resend_scores_judge)(&s->scores, in->judged_us);
		tl_resend_count_rtt(&s->counts, in->judged_us);
	}
	TL(resend_scores_flight)(&s->scores, in->lost);
	s->recent += num_div_count(ratio_from_whole(in->lost ? 1 : 0) - s->recent, TL_RESEND_RECENT);
	if (in->lost)
		tl_resend_count_episode(&s->counts, in->episode_us);
	if (in->lost && in->clear)
		TL(resend_priced_refill)(s, ratio_from_whole(1));
	if (!in->clear)
		TL(resend_priced_unclear)(s, in->waited_us);
}

/* Returns the time after a retransmission in which an ACK cannot answer it: half of SRTT. */
TL_FN int64_t TL(resend_priced_early_us)(const struct TL(resend_priced) *s)
{
	return num_to_us(s->rtt.srtt) >> 1;
}
