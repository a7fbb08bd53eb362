/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The functions of the retry timer (retry.h), for programs that include the core as headers. Each request is a
 * flight of one segment (resend/flight.h), so that the resend policy `priced` serves many requests at once: the
 * fields of its state that belong to a flight are set before each of its functions is called. Fixed point. */
#ifndef TCPLEARN_RETRY_TIMER_H
#define TCPLEARN_RETRY_TIMER_H

#include "silence.h"

/* With a rate, a timer inherits a histogram of the width with at most this many samples. */
#define TL_RETRY_INHERITED 512
/* How much the number of misses (needless resends) changes the width: `gain` and `full` of tl_tail_raw_fix().
 * The change is smaller than in `conformal`, because the latencies of different requests are mostly
 * independent. */
#define TL_RETRY_GAIN 4
#define TL_RETRY_OCTAVES 1
/* At each answer the longest recent latency (`most`) loses 1/2^n of its value. n is at least this number.
 * With a rate a of needless resends, 2^n is also at least 4 / a, so that the timer remembers latencies as
 * rare as the needless resends that it may cause. */
#define TL_RETRY_FORGET 12

#include "../arithmetic/fixed.h"

TL_FN void tl_retry_defaults_fix(struct tl_retry_settings *how)
{
	how->rate_ppm = 0;
	how->price_us = 100000;
	how->budget = 40;
	how->first_wait_us = 1000000;
	how->min_wait_us = 1000;
	how->max_wait_us = 120000000;
}

TL_FN int tl_retry_in_range(const struct tl_retry_settings *how)
{
	const int64_t most_us = TL_RESEND_WAIT_MAX_US;

	if (how->rate_ppm != 0 && (how->rate_ppm < 100 || how->rate_ppm > 500000))
		return 0;
	return how->price_us >= 0 && how->price_us <= most_us && how->budget <= 100000 &&
	       how->first_wait_us >= 1 && how->first_wait_us <= most_us && how->min_wait_us >= 1 &&
	       how->max_wait_us <= most_us && how->min_wait_us <= how->max_wait_us;
}

TL_FN int tl_retry_init_fix(struct tl_retry *t, const struct tl_retry_settings *how)
{
	struct tl_resend_priced_fix *p = &t->policy;

	if (!tl_retry_in_range(how))
		return TL_RETRY_SETTINGS;
	tl_resend_priced_defaults_fix(&p->params);
	p->params.price_us = how->price_us;
	p->params.budget = how->budget;
	p->params.rto_max_us = how->max_wait_us;
	if (how->rate_ppm != 0) /* the rate decides the wait, also on a path that loses many packets */
		p->params.most_loss = p->params.most_loss_queued = ratio_from_whole(1);
	tl_resend_flight_init(&p->flight);
	tl_resend_priced_start_fix(p);
	p->rtt.params.rto_initial_us = how->first_wait_us;
	tl_tail_init_fix(&t->width, how->rate_ppm != 0
					    ? num_div_count(ratio_from_whole(how->rate_ppm), 1000000)
					    : TL_RATIO(1, 100));
	t->raw = t->most = 0;
	t->now_us = -TL_RETRY_TIME_MAX;
	tl_retry_silence_init(t);
	t->min_wait_us = how->min_wait_us;
	t->max_wait_us = how->max_wait_us;
	t->rate_ppm = how->rate_ppm;
	t->forget = TL_RETRY_FORGET;
	while (how->rate_ppm != 0 && ((uint64_t)how->rate_ppm << t->forget) < 4000000)
		t->forget++;
	t->begun = 0;
	t->counts.requests = t->counts.answers = t->counts.resends = 0;
	t->counts.needless = t->counts.unclear = 0;
	tl_retry_requests_init(&t->out);
	return TL_RETRY_OK;
}

/* Takes over the width of an earlier timer: its histogram, halved until it has at most TL_RETRY_INHERITED
 * samples, and the scale of its errors. The count of misses (needless resends) begins anew. */
TL_FN void tl_retry_inherit_width(struct tl_tail_fix *w, const struct tl_tail_fix *earlier)
{
	*w = *earlier;
	w->excess = w->deferred = 0;
	w->flight_q8 = 256;
	w->wide = w->stage = w->side_up = w->low = 0;
	while (w->total > TL_RETRY_INHERITED)
		tl_tail_halve_fix(w);
}

TL_FN void tl_retry_set_raw(struct tl_retry *t)
{
	t->raw = tl_tail_raw_fix(&t->width, t->width.level, TL_RETRY_GAIN, TL_RETRY_OCTAVES);
}

TL_FN int tl_retry_inherit_fix(struct tl_retry *t, const struct tl_retry *earlier)
{
	struct tl_linux_tcp_fix *rtt = &t->policy.rtt;
	const struct tl_linux_tcp_params_fix params = rtt->params;

	if (t->begun)
		return TL_RETRY_BEGUN;
	tl_resend_priced_inherit_fix(&t->policy, &earlier->policy);
	*rtt = earlier->policy.rtt;
	rtt->params = params;
	rtt->round_us = -TL_RETRY_TIME_MAX; /* the clocks may differ */
	t->silence.paused_q16 = earlier->silence.paused_q16;
	t->policy.min_rtt_us = earlier->policy.min_rtt_us;
	if (t->rate_ppm != 0 && t->rate_ppm == earlier->rate_ppm && earlier->width.samples > 0) {
		tl_retry_inherit_width(&t->width, &earlier->width);
		tl_retry_set_raw(t);
		t->most = earlier->most;
	}
	return TL_RETRY_OK;
}

/* Returns TL_RETRY_OK if `now_us` may be the time of a call, otherwise TL_RETRY_TIME. */
TL_FN int tl_retry_time(const struct tl_retry *t, int64_t now_us)
{
	return now_us < t->now_us || now_us > TL_RETRY_TIME_MAX ? TL_RETRY_TIME : TL_RETRY_OK;
}

/* Returns the longest first wait of a timer with a rate: 1.5 times the longest recent latency, and at least
 * the first wait of `stock`, the Linux rule. A longer wait would cause hardly fewer needless resends, and
 * lost requests would wait longer. */
TL_FN num_t tl_retry_cap(const struct tl_retry *t)
{
	return tl_max_fix(t->most + (t->most >> 1),
			  num_from_us(tl_resend_priced_stock_us_fix(&t->policy, 1)));
}

/* Returns the first wait in us of a timer with a rate, within its bounds. It is longer after an answer of
 * which it is not known which transmission it answers, and while the budget is spent; `raised` is then set to
 * 1. */
TL_FN int64_t tl_retry_first_by_rate(struct tl_retry *t, struct tl_retry_request *q)
{
	const struct tl_resend_priced_fix *p = &t->policy;
	const int64_t stock_us = tl_resend_priced_stock_us_fix(p, 1);
	const int64_t chosen_us = t->raw > 0
					  ? tl_retry_bound(t, num_to_us(tl_min_fix(t->raw, tl_retry_cap(t))))
					  : stock_us;
	int64_t us = chosen_us > p->hold_us ? chosen_us : p->hold_us;

	if (tl_resend_priced_careful_fix(p) && us < stock_us)
		us = stock_us;
	q->srtt = t->width.level;
	q->mdev4 = t->raw;
	q->stock_us = 0;
	q->raised = us != chosen_us;
	return us;
}

TL_FN int64_t tl_retry_first_by_price(struct tl_retry *t, struct tl_retry_request *q)
{
	struct tl_resend_priced_fix *p = &t->policy;
	const int64_t us = tl_resend_priced_first_fix(p, 1);

	q->srtt = p->scores.srtt;
	q->mdev4 = p->scores.mdev4;
	q->stock_us = p->scores.stock_us;
	q->raised = 0;
	return us;
}

TL_FN uint64_t tl_retry_sum(uint64_t a, uint64_t more)
{
	return a > ~(uint64_t)0 - more ? ~(uint64_t)0 : a + more;
}

TL_FN int tl_retry_sent_fix(struct tl_retry *t, uint64_t id, int64_t now_us)
{
	const uint32_t entry = tl_retry_entry(&t->out, id);
	struct tl_retry_request *q;
	int64_t us;

	if (tl_retry_time(t, now_us) != TL_RETRY_OK)
		return TL_RETRY_TIME;
	if (t->out.index[entry] != TL_RETRY_NO_PLACE)
		return TL_RETRY_TWICE;
	if (t->out.count == TL_RETRY_OUT)
		return TL_RETRY_FULL;
	q = tl_retry_enter(&t->out, entry, id);
	t->begun = 1;
	t->now_us = q->first_us = q->last_us = now_us;
	q->resends = q->late = 0;
	if (t->rate_ppm != 0) {
		tl_resend_priced_refill_fix(&t->policy, t->policy.params.refill);
		t->width.flight_q8 = (7 * t->width.flight_q8 + 256 * t->out.count) / 8;
		us = tl_retry_first_by_rate(t, q);
	} else {
		tl_resend_priced_open_fix(&t->policy, 1);
		us = tl_retry_first_by_price(t, q);
	}
	tl_retry_arm(&t->out, q, now_us, tl_retry_bound(t, us));
	t->counts.requests = tl_retry_sum(t->counts.requests, 1);
	return TL_RETRY_OK;
}

TL_FN int64_t tl_retry_deadline_fix(const struct tl_retry *t)
{
	return t->out.count == 0 ? TL_RETRY_NEVER : tl_retry_due(t, &t->out.at[tl_retry_soonest(&t->out)]);
}

TL_FN int64_t tl_retry_deadline_of_fix(const struct tl_retry *t, uint64_t id)
{
	const uint32_t place = t->out.index[tl_retry_entry(&t->out, id)];

	return place == TL_RETRY_NO_PLACE ? TL_RETRY_NEVER : tl_retry_due(t, &t->out.at[place]);
}

/* Returns the wait after the running one: twice the running one, and at least the RTO without backoff if the
 * budget is spent or many requests are lost. Unlike in `priced`, the wait after the first resend is doubled
 * too, because only in TCP is the first resend a tail loss probe. */
TL_FN int64_t tl_retry_doubled_us(struct tl_resend_priced_fix *p)
{
	const int64_t rto_us = tl_resend_rto_us_fix(&p->rtt);
	const int64_t us = tl_resend_doubled(p->flight.wait_us, 1, p->params.rto_max_us);

	if (tl_resend_priced_careful_fix(p))
		return us > rto_us ? us : rto_us;
	p->tokens -= ratio_from_whole(1);
	return us;
}

TL_FN int tl_retry_fired_fix(struct tl_retry *t, int64_t now_us, struct tl_retry_again *again)
{
	struct tl_resend_priced_fix *p = &t->policy;
	struct tl_retry_request *q;
	int64_t wait_us;

	if (tl_retry_time(t, now_us) != TL_RETRY_OK)
		return TL_RETRY_TIME;
	t->now_us = now_us;
	if (tl_retry_deadline_fix(t) > now_us)
		return TL_RETRY_OK;
	q = &t->out.at[tl_retry_soonest(&t->out)];
	p->flight.wait_us = q->wait_us;
	wait_us = tl_retry_bound(t, tl_retry_doubled_us(p));
	tl_retry_silent(t, q, now_us, wait_us);
	q->resends = tl_resend_more(q->resends);
	q->last_us = now_us;
	q->wait_us = wait_us;
	tl_retry_due_at(&t->out, q, now_us + wait_us);
	t->counts.resends = tl_retry_sum(t->counts.resends, 1);
	again->id = q->id;
	again->copy = q->resends;
	return TL_RETRY_DUE;
}

/* What an answer shows about its request. */
struct tl_retry_outcome {
	struct tl_resend_outcome of;
	int64_t latency_us; /* from the transmission that is taken to be answered; 0: not known */
	uint32_t needless;  /* resends after that transmission */
	uint32_t held;      /* 1: held: its first wait had ended, but it was not sent again (silence.h) */
};

/* Reads an answer as tl_resend_read() reads an ACK. An answer less than half of SRTT after the only resend is
 * taken to answer the first transmission. Its latency is then known, but is no sample for SRTT (RFC 8961,
 * section 4, requirement 2d). */
TL_FN void tl_retry_read(const struct tl_retry *t, const struct tl_retry_request *q, uint32_t copy,
			 int64_t now_us, struct tl_retry_outcome *out)
{
	const int64_t whole_us = tl_clamp_us(tl_resend_since(q->first_us, now_us), 1, TL_RTT_MAX_US);
	const int64_t last_us = tl_clamp_us(tl_resend_since(q->last_us, now_us), 1, TL_RTT_MAX_US);
	const uint32_t clear = q->resends == 0 || copy != TL_RETRY_ANY;
	const uint32_t early = !clear && q->resends == 1 &&
			       last_us < tl_resend_priced_early_us_fix(&t->policy);

	out->of.clear = clear;
	out->of.ended = 1;
	out->of.lost = q->resends > 0 && !early && copy != 0;
	out->of.waited_us = whole_us;
	out->of.rtt_us = 0;
	if (clear && (q->resends == 0 || copy == 0))
		out->of.rtt_us = whole_us;
	else if (clear && copy == q->resends)
		out->of.rtt_us = last_us;
	out->of.judged_us = out->of.rtt_us;
	out->of.episode_us = tl_resend_since(q->first_us,
					     out->of.rtt_us > 0 ? now_us - out->of.rtt_us : q->last_us);
	out->held = q->resends == 0 && (q->late || (q->due_us <= now_us && q->due_us < t->silence.until_us));
	out->latency_us = early ? whole_us : out->of.rtt_us;
	out->needless = early || !clear ? early : q->resends - (q->resends > 0 ? copy : 0);
}

/* Learns which share of the requests that are late in a silence is not lost (paused_q16). Requests that are
 * late but not lost mean that the server paused. */
TL_FN void tl_retry_learn_pauses(struct tl_retry_silence *s, const struct tl_retry_request *q,
				 const struct tl_retry_outcome *o)
{
	if (o->held || (q->late && o->needless > 0))
		s->paused_q16 += (65536 - s->paused_q16) / 8;
	else if (q->late && (o->of.clear || o->of.lost))
		s->paused_q16 -= s->paused_q16 / 8;
}

/* Learns the first wait of a timer with a rate. A miss is a needless resend. At most eight misses of a
 * request are counted, and none if its first wait, before its bounds, was above the greatest one. A request
 * without a miss is not counted if this wait was below the least one, if the budget or an unclear answer has
 * lengthened it (`raised`), or if the count of misses has already reduced the width to its minimum. A request
 * that was held counts as one without a miss, and its latency is not used for the width, because it would
 * have been held after any wait. */
TL_FN void tl_retry_learn_rate(struct tl_retry *t, const struct tl_retry_request *q,
			       const struct tl_retry_outcome *o)
{
	struct tl_tail_fix *w = &t->width;
	const num_t low = num_from_us(t->min_wait_us),
		    high = tl_min_fix(num_from_us(t->max_wait_us), tl_retry_cap(t));
	const num_t y = num_from_us(o->latency_us), p = w->level;
	const uint32_t n = o->needless < 8 ? o->needless : 8;

	if (o->latency_us == 0)
		return;
	t->most = tl_max_fix(y, t->most - (t->most >> t->forget));
	if (w->samples == 0) {
		tl_tail_start_fix(w, y);
		return;
	}
	if (q->mdev4 > 0) {
		if (!o->held)
			tl_tail_judge_fix(w, y, q->srtt, q->mdev4, low, high, 0);
		if ((n > 0 || !q->raised) && (n > 0 ? q->mdev4 <= high : q->mdev4 >= low && !w->low)) {
			const int64_t part = tl_level_shr_fix(w->miss, 1);

			w->excess += tl_level_of_fix(n, 1) - w->miss;
			w->deferred -= w->deferred < part ? w->deferred : part;
		}
	}
	if (!o->held)
		tl_tail_learn_fix(w, y, p, tl_abs_fix(y - p), n > 0, 0, 1);
}

/* Sets the values from which the waits of the candidates follow to those with which this request's first wait
 * was chosen, because its answer judges that choice. */
TL_FN void tl_retry_judge_price(struct tl_retry *t, const struct tl_retry_request *q)
{
	struct tl_resend_scores_fix *s = &t->policy.scores;

	s->srtt = q->srtt;
	s->mdev4 = q->mdev4;
	s->stock_us = q->stock_us;
}

TL_FN int tl_retry_answered_fix(struct tl_retry *t, uint64_t id, uint32_t copy, int64_t now_us)
{
	const uint32_t entry = tl_retry_entry(&t->out, id), place = t->out.index[entry];
	const int64_t early_us =
		tl_resend_priced_early_us_fix(&t->policy); /* half of SRTT before this answer changes it */
	struct tl_retry_outcome o;
	const struct tl_retry_request *q;
	int64_t sent_us;

	if (tl_retry_time(t, now_us) != TL_RETRY_OK)
		return TL_RETRY_TIME;
	if (place == TL_RETRY_NO_PLACE)
		return TL_RETRY_UNKNOWN;
	q = &t->out.at[place];
	if (copy != TL_RETRY_ANY && copy > q->resends)
		return TL_RETRY_COPY;
	t->now_us = now_us;
	tl_retry_read(t, q, copy, now_us, &o);
	t->counts.answers = tl_retry_sum(t->counts.answers, 1);
	t->counts.needless = tl_retry_sum(t->counts.needless, o.needless);
	t->counts.unclear = tl_retry_sum(t->counts.unclear, !o.of.clear);
	tl_retry_learn_pauses(&t->silence, q, &o);
	if (t->rate_ppm != 0)
		tl_retry_learn_rate(t, q, &o);
	else
		tl_retry_judge_price(t, q);
	if (t->rate_ppm != 0 || o.held)
		o.of.judged_us = 0;
	if (o.of.rtt_us > 0)
		tl_resend_priced_sample_fix(&t->policy, o.of.rtt_us, now_us);
	tl_resend_priced_end_fix(&t->policy, &o.of);
	if (t->rate_ppm != 0 && t->width.samples > 0)
		tl_retry_set_raw(t);
	sent_us = o.of.rtt_us > 0 ? now_us - o.of.rtt_us : q->first_us;
	tl_retry_remove(&t->out, entry);
	tl_retry_heard(t, now_us, sent_us, early_us);
	return TL_RETRY_OK;
}

TL_FN int tl_retry_cancelled_fix(struct tl_retry *t, uint64_t id)
{
	const uint32_t entry = tl_retry_entry(&t->out, id);

	if (t->out.index[entry] == TL_RETRY_NO_PLACE)
		return TL_RETRY_UNKNOWN;
	tl_retry_remove(&t->out, entry);
	if (t->out.count == 0)
		tl_retry_silence_end(&t->silence);
	return TL_RETRY_OK;
}

#include "../arithmetic/end.h"

#endif
