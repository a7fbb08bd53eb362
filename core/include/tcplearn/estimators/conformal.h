/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The estimator `conformal`: an RTO with a chosen rate of misses (samples longer than the RTO). For any
 * prediction p of the next RTT, RTO = clamp(p + width, rto_min, rto_max). The width is a quantile of the
 * errors so far, adjusted by the count of misses (conformal_quantile.h); in the preset `conformal/first`
 * it is a multiple of the mean error (conformal_scales.h). docs/algorithms/conformal.md has the guarantee
 * and its proof. Included twice: for double precision and for fixed point. */

#include "conformal_double.h"
#include "conformal_fixed.h"

#include "conformal_quantile.h"
#include "conformal_scales.h"

#ifndef TCPLEARN_CONFORMAL_H
#define TCPLEARN_CONFORMAL_H
enum tl_over { TL_OVER_TRACKING = 0, TL_OVER_JACOBSON = 1, TL_OVER_LAST = 2, TL_OVER_TRACKING_FIRST = 3 };
enum tl_width { TL_WIDTH_QUANTILE = 0, TL_WIDTH_SCALES = 1 };
enum tl_at { TL_AT_ACK = 0, TL_AT_SEND = 1 };
#endif

#define TL_CONFORMAL_PARAMS(X) \
	X(ratio, miss, TL_RATIO(1, 100), 1.0 / 16384, 0.5, "share of samples that may outlast the RTO") \
	X(choice, over, TL_OVER_TRACKING, "tracking|jacobson|last|tracking-first", 3, "the predictor") \
	X(choice, integral, TL_ON, "on|off", 1, "with scales: the second integrator") \
	X(choice, steps, TL_ON, "on|off", 1, "whether a lasting change of level is learned again") \
	X(choice, width, TL_WIDTH_QUANTILE, "quantile|scales", 1, \
	  "from a histogram of errors above the prediction, or, in the first form, from the errors' scale") \
	X(choice, at, TL_AT_ACK, "ack|send", 1, \
	  "when the chosen share holds: just before each sample, or also when sent, updated once a " \
	  "flight") \
	X(choice, count, TL_ON, "on|off", 1, "with quantile: the count of misses steers the width") \
	X(choice, wary, TL_ON, "on|off", 1, "with quantile: wider for two samples after a miss") \
	X(us, rto_initial, 1000000, 1, 4294967296, "RTO before any sample (RFC 6298, 2.1)") \
	X(us, rto_min, 1000, 1, 4294967296, "floor of the RTO") \
	X(us, rto_max, 60000000, 1, 4294967296, "cap of the RTO, part of the guarantee")

struct TL(conformal_params) {
	TL_CONFORMAL_PARAMS(TL_FIELD)
};

struct TL(conformal) {
	struct TL(conformal_params) params;
	union { /* selected by params.width */
		struct TL(tail) quantile;
		struct TL(interval) scales;
	} timer;
	union {
		struct TL(mixture) tracking;
		struct TL(jacobson) jacobson;
		struct TL(last) last;
	} inner;
	num_t rtt;
	num_t raw; /* the RTO before it is limited to rto_min and rto_max */
	/* With TL_AT_SEND: prediction, RTO before its limits, and largest error of the flight whose samples
	 * arrive now. This flight was sent before the last change of the RTO. */
	num_t flight_rtt, flight_raw, flight_error;
	int64_t next_sent_us; /* segments sent from this time on have the current RTO */
	uint32_t flight_segments, flight_missed;
};

TL_FN void TL(conformal_defaults)(struct TL(conformal_params) *p) { TL_CONFORMAL_PARAMS(TL_DEFAULT) }

/* Preset `conformal/thousandth`: one sample in a thousand may be longer than the RTO. */
TL_FN void TL(conformal_thousandth)(struct TL(conformal_params) *p)
{
	p->miss = TL_RATIO(1, 1000);
}

TL_FN void TL(conformal_over_jacobson)(struct TL(conformal_params) *p)
{
	p->over = TL_OVER_JACOBSON;
}

/* Preset `conformal/first`: the width is a multiple of the mean error, not a quantile. */
TL_FN void TL(conformal_first)(struct TL(conformal_params) *p)
{
	p->over = TL_OVER_TRACKING_FIRST;
	p->width = TL_WIDTH_SCALES;
}

TL_FN void TL(conformal_at_send)(struct TL(conformal_params) *p)
{
	p->at = TL_AT_SEND;
}

TL_FN struct TL(mixture_params) TL(conformal_mixture)(uint32_t first)
{
	struct TL(tracking_params) p;

	TL(tracking_defaults)(&p);
	if (first)
		TL(tracking_first)(&p);
	return TL(mixture_params_of)(&p);
}

/* One function for each predictor, so that the predictor's parameters are compile-time constants. */
TL_FN void TL(conformal_mix)(struct TL(mixture) *s, num_t y)
{
	const struct TL(mixture_params) p = TL(conformal_mixture)(0);

	TL(mixture_learn)(s, &p, y);
}

TL_FN_APART void TL(conformal_mix_first)(struct TL(mixture) *s, num_t y)
{
	const struct TL(mixture_params) p = TL(conformal_mixture)(1);

	TL(mixture_learn)(s, &p, y);
}

TL_FN void TL(conformal_init_inner)(struct TL(conformal) *s)
{
	if (s->params.over == TL_OVER_JACOBSON) {
		struct TL(jacobson_params) inner;
		TL(jacobson_defaults)(&inner);
		TL(jacobson_init)(&s->inner.jacobson, &inner);
	} else if (s->params.over == TL_OVER_LAST) {
		struct TL(last_params) inner;
		TL(last_defaults)(&inner);
		TL(last_init)(&s->inner.last, &inner);
	} else {
		const struct TL(mixture_params) inner = TL(conformal_mixture)(s->params.over ==
									      TL_OVER_TRACKING_FIRST);
		TL(mixture_init)(&s->inner.tracking, &inner);
	}
}

TL_FN void TL(conformal_init)(struct TL(conformal) *s, const struct TL(conformal_params) *p)
{
	s->params = *p;
	if (s->params.rto_min_us > s->params.rto_max_us) /* the maximum applies */
		s->params.rto_min_us = s->params.rto_max_us;
	if (p->width == TL_WIDTH_SCALES)
		TL(interval_init)(&s->timer.scales, p->miss);
	else
		TL(tail_init)(&s->timer.quantile, p->miss);
	TL(conformal_init_inner)(s);
	s->rtt = s->flight_rtt = s->flight_error = num_from_us(0);
	s->raw = s->flight_raw =
		num_from_us(tl_clamp_us(p->rto_initial_us, s->params.rto_min_us, s->params.rto_max_us));
	s->next_sent_us = 0;
	s->flight_segments = s->flight_missed = 0;
}

TL_FN num_t TL(conformal_predict)(struct TL(conformal) *s, const struct tl_sample *in, num_t y)
{
	if (s->params.over == TL_OVER_JACOBSON) {
		struct TL(prediction) a;
		TL(jacobson_update)(&s->inner.jacobson, in);
		TL(jacobson_query)(&s->inner.jacobson, &a);
		return a.rtt;
	}
	if (s->params.over == TL_OVER_LAST)
		return y;
	if (s->params.over == TL_OVER_TRACKING_FIRST)
		TL(conformal_mix_first)(&s->inner.tracking, y);
	else
		TL(conformal_mix)(&s->inner.tracking, y);
	return s->inner.tracking.rtt;
}

TL_FN void TL(conformal_update_scales)(struct TL(conformal) *s, const struct tl_sample *in, num_t y,
				       num_t low, num_t high)
{
	struct TL(interval) *t = &s->timer.scales;

	TL(interval_update)(t, y, t->samples == 0 ? y : s->rtt, low, high, s->params.integral == TL_ON,
			    s->params.steps == TL_ON);
	s->rtt = TL(conformal_predict)(s, in, y);
	s->raw = TL(interval_raw)(t, s->rtt);
}

/* Compares the sample `y` with the RTO and learns from it. Returns 1 if a new RTO is due: after every sample,
 * or with TL_AT_SEND (parameter `at` = send) once in each flight, at the first sample that was sent under the
 * current RTO. With TL_AT_SEND, each sample enters the histogram and the count of misses, but the mean error,
 * the level and the caution learn from a flight as from one sample: with its largest error, and as from a
 * miss if any of its samples exceeds the RTO under which it was sent. */
TL_FN uint32_t TL(conformal_judge)(struct TL(conformal) *s, const struct tl_sample *in, num_t y, num_t low,
				   num_t high)
{
	struct TL(tail) *t = &s->timer.quantile;
	uint32_t at_send = s->params.at == TL_AT_SEND, counts = s->params.count == TL_ON, n, missed;
	uint32_t turns = !at_send || in->sent_us >= s->next_sent_us;
	num_t p = turns ? s->rtt : s->flight_rtt, error = TL(abs)(y - p);

	missed = TL(tail_judge)(t, y, p, turns ? s->raw : s->flight_raw, low, high, counts);
	if (at_send) {
		s->flight_segments += s->flight_segments < TL_FLIGHT_MAX;
		s->flight_missed |= missed;
		s->flight_error = TL(max)(s->flight_error, error);
		if (!turns)
			return 0;
		error = s->flight_error;
		missed = s->flight_missed;
		n = t->samples < 7 ? t->samples + 1 : 8;
		t->flight_q8 = ((n - 1) * t->flight_q8 + 256 * s->flight_segments) / n;
	}
	TL(tail_learn)(t, y, s->rtt, error, missed, s->params.wary == TL_ON, s->params.steps == TL_ON);
	return 1;
}

TL_FN void TL(conformal_update)(struct TL(conformal) *s, const struct tl_sample *in)
{
	num_t y = num_from_us(tl_clamp_us(in->rtt_us, 1, TL_RTT_MAX_US));
	num_t low = num_from_us(s->params.rto_min_us), high = num_from_us(s->params.rto_max_us);

	if (s->params.width == TL_WIDTH_SCALES) {
		TL(conformal_update_scales)(s, in, y, low, high);
		return;
	}
	if (s->timer.quantile.samples == 0) {
		TL(tail_start)(&s->timer.quantile, y);
		s->flight_rtt = y;
	} else {
		if (!TL(conformal_judge)(s, in, y, low, high))
			return;
		s->flight_rtt = s->rtt;
		s->flight_raw = s->raw;
	}
	s->flight_error = num_from_us(0);
	s->flight_segments = s->flight_missed = 0;
	s->next_sent_us = in->time_us;
	s->rtt = TL(conformal_predict)(s, in, y);
	s->raw = TL(tail_raw)(&s->timer.quantile, s->rtt, TL_PUSH_GAIN, 0);
}

TL_FN void TL(conformal_query)(const struct TL(conformal) *s, struct TL(prediction) *out)
{
	out->rtt = s->rtt;
	out->rto = TL(clamp)(s->raw, num_from_us(s->params.rto_min_us), num_from_us(s->params.rto_max_us));
}
