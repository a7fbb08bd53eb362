/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Runs an algorithm on bytes from a fuzzer. The bytes choose an estimator, parameters and samples; or a loss
 * classifier or a resend policy, parameters and events. Double precision and fixed point run side by side.
 * The test checks that answers are finite and within bounds, that guard bytes stay unchanged, and that the
 * two arithmetics agree where they should. Byte 0 is the index of an estimator or, above these, of a loss
 * classifier, then of a resend policy. Byte 1 is the number of parameters that are set; each has 1 byte of
 * index and 4 bytes of value. Samples follow: a byte of flags and the RTT in 4 bytes (8 bytes for hostile
 * samples). fuzz_loss() and fuzz_resend() define the events. */
#include "bytes.h"
#include "loss_check.h"
#include "resend_check.h"

static double param_value(const struct tl_param *p, uint32_t bits)
{
	double unit = (double)bits / 4294967295.0;

	/* half of the values are near the lower bound, where gains and times are small */
	return param_low(p) + (param_high(p) - param_low(p)) * (bits & 1 ? unit : unit * unit * unit * unit);
}

/* Sets some parameters of one algorithm. */
static void fuzz_set(struct bytes *b, const struct tl_algorithm *a, void *params)
{
	uint64_t count = take(b, 1) % 8;

	for (; count > 0; count--) {
		uint32_t k = (uint32_t)take(b, 1) % a->param_count;
		double value = param_value(&a->params[k], (uint32_t)take(b, 4));

		CHECK(a->set(params, k, value) == 0, "%s refuses %g", a->params[k].key, value);
	}
}

/* Sets the same parameters in both arithmetics, with values of at most 30 fractional bits. */
static void fuzz_params(struct bytes *b, struct subject *fix, struct subject *f64)
{
	uint64_t count = take(b, 1) % 8, k;

	for (k = 0; k < count; k++) {
		uint32_t index = (uint32_t)take(b, 1) % fix->e->algorithm.param_count;
		double value = param_value(&fix->e->algorithm.params[index], (uint32_t)take(b, 4));

		CHECK(fix->e->algorithm.set(fix->params, index, value) == 0, "%s refuses %g",
		      fix->e->algorithm.params[index].key, value);
		CHECK(f64->e->algorithm.set(f64->params, index, fix->e->algorithm.get(fix->params, index)) ==
			      0,
		      "not the same");
	}
}

/* Returns 1 for a sample that a path could give, 0 for a hostile one. */
static int fuzz_sample(struct bytes *b, struct tl_sample *in, int64_t *now_us)
{
	uint64_t flags = take(b, 1);

	memset(in, 0, sizeof(*in));
	in->ttl = (uint8_t)(flags * 37);
	in->hops = (uint8_t)(flags & 1 ? 0 : flags);
	if (flags >= 250) {
		in->time_us = (int64_t)take(b, 8);
		in->sent_us = (int64_t)take(b, 8);
		in->rtt_us = (int64_t)take(b, 8);
		in->ack_delay_us = (int64_t)take(b, 8);
		in->flight_segments = (uint32_t)take(b, 4);
		return 0;
	}
	*now_us += (int64_t)take(b, 2);
	in->rtt_us = 1 + (int64_t)(take(b, 4) >> (flags % 32));
	in->time_us = *now_us;
	in->sent_us = *now_us - in->rtt_us;
	in->ack_delay_us = in->rtt_us / 8;
	in->flight_segments = 1 + (uint32_t)flags * 2;
	return 1;
}

static void check_bounds(const struct subject *s, struct tl_prediction p)
{
	double high = subject_get(s, "rto_max_us"), low = subject_get(s, "rto_min_us");

	CHECK(isfinite(p.rtt_us) && isfinite(p.rto_us), "%s: not finite", s->e->algorithm.name);
	CHECK(fabs(p.rtt_us) < 4e13, "%s: predicts %g", s->e->algorithm.name, p.rtt_us);
	CHECK(p.rto_us >= 1, "%s: RTO %g", s->e->algorithm.name, p.rto_us);
	if (!isnan(high))
		CHECK(p.rto_us <= high, "%s: RTO %g above %g", s->e->algorithm.name, p.rto_us, high);
	if (!isnan(low) && low <= high)
		CHECK(p.rto_us >= low, "%s: RTO %g below %g", s->e->algorithm.name, p.rto_us, low);
}

/* The tolerance is relative to `scale`, the largest RTT or prediction so far: after it, small answers contain
 * its rounding error. */
static void check_close(const struct subject *s, struct tl_prediction p, struct tl_prediction q, double scale)
{
	CHECK(fabs(p.rtt_us - q.rtt_us) <= 1e-3 * scale + 0.1, "%s: rtt %.9g and %.9g", s->e->algorithm.name,
	      p.rtt_us, q.rtt_us);
	/* the variance of `eifel` waits until SRTT has fallen to the RTT, which happens sooner in fixed
	 * point */
	if (strcmp(s->e->algorithm.name, "eifel") == 0)
		return;
	CHECK(fabs(p.rto_us - q.rto_us) <= 1e-2 * (scale + q.rto_us) + 1, "%s: rto %.9g and %.9g",
	      s->e->algorithm.name, p.rto_us, q.rto_us);
}

/* A byte chooses the event: an ACK with 2 bytes of time and 4 of RTT, or with 8 bytes of each; or a decision
 * with counts of 4 bytes, and a change of state. */
static void fuzz_loss_event(struct bytes *b, struct classifier *s, int64_t *now_us)
{
	uint64_t what = take(b, 1);
	struct tl_loss_moment at;
	struct tl_loss_ack ack;
	struct tl_loss_decision d;

	if (what < 192) {
		*now_us += (int64_t)take(b, 2);
		ack.time_us = what < 8 ? (int64_t)take(b, 8) : *now_us;
		ack.rtt_us = what < 8 ? (int64_t)take(b, 8) : (int64_t)(take(b, 4) >> (what % 32));
		ack.delivered_segments = what < 8 ? (uint32_t)take(b, 4) : 1;
		ack.duplicate = (uint32_t)what & 1;
		s->c->observe(s->state, &ack);
		return;
	}
	at.time_us = what < 200 ? (int64_t)take(b, 8) : *now_us;
	at.flight_segments = (uint32_t)take(b, what & 1 ? 4 : 1);
	at.cwnd_segments = (uint32_t)take(b, what & 1 ? 4 : 1);
	at.ssthresh_segments = (uint32_t)take(b, 4);
	at.truth = (uint32_t)what % 3;
	d = classifier_decide(s, &at);
	s->c->change(s->state, &at, (enum tl_loss_change)(what / 2 % 4), d.cause);
}

/* A byte chooses the event: a transmission or a timeout with 3 bytes of time, or an ACK with 4 bytes of RTT;
 * or any of these with times of 8 bytes. */
static void fuzz_resend_event(struct bytes *b, struct resender *s, int64_t *now_us)
{
	const uint64_t what = take(b, 1);
	const uint32_t out = what < 8 ? (uint32_t)take(b, 4) : (uint32_t)what % 4;
	int64_t time_us;

	*now_us += (int64_t)take(b, 3);
	time_us = what < 8 ? (int64_t)take(b, 8) : *now_us;
	if (what % 3 == 0)
		resender_send(s, time_us, out);
	else if (what % 3 == 1)
		resender_timer(s, time_us, out);
	else
		resender_ack(s, time_us, what < 8 ? (int64_t)take(b, 8) : (int64_t)take(b, 4), out,
			     (uint32_t)what / 4 % 4);
}

/* Defines fuzz_loss() and fuzz_resend(), which read parameters, then events, and run both arithmetics. */
#define FUZZ(of, subject, type, at) \
	static void fuzz_##of(struct bytes *b, size_t index) \
	{ \
		const struct bytes start = *b; \
		int arithmetic; \
		for (arithmetic = 0; arithmetic < 2; arithmetic++) { \
			const struct type *chosen = at(index, arithmetic ? TL_FIX : TL_F64); \
			struct subject s; \
			int64_t now_us = 0; \
			*b = start; \
			subject##_defaults(&s, chosen); \
			fuzz_set(b, &chosen->algorithm, s.params); \
			subject##_start(&s); \
			while (b->left > 0) \
				fuzz_##of##_event(b, &s, &now_us); \
			subject##_stop(&s); \
		} \
		if (failures) \
			abort(); \
	}

FUZZ(loss, classifier, tl_loss_classifier, tl_loss_at)
FUZZ(resend, resender, tl_resend_policy, tl_resend_at)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	const size_t kinds[] = { COUNT(ESTIMATOR), COUNT(LOSS), COUNT(RESEND) };
	size_t index = (size_t)take(&b, 1) % (kinds[0] + kinds[1] + kinds[2]);
	struct subject fix, f64;
	int64_t now_us = 0;
	double scale = 0;
	int comparable;

	if (index >= kinds[0] + kinds[1]) {
		fuzz_resend(&b, index - kinds[0] - kinds[1]);
		return 0;
	}
	if (index >= kinds[0]) {
		fuzz_loss(&b, index - kinds[0]);
		return 0;
	}
	subject_defaults(&fix, tl_estimator_at(index, TL_FIX));
	subject_defaults(&f64, tl_estimator_at(index, TL_F64));
	fuzz_params(&b, &fix, &f64);
	/* The loss of nunes2014 is discontinuous where a sample equals an expert, the cells and signs of
	 * `tracking` and the misses of `conformal` where a difference is 0. There the two arithmetics may
	 * differ. */
	comparable = isnan(subject_get(&fix, "eta")) && isnan(subject_get(&fix, "miss"));
	subject_start(&fix);
	subject_start(&f64);
	check_bounds(&fix, subject_query(&fix));
	check_bounds(&f64, subject_query(&f64));
	while (b.left > 0) {
		struct tl_sample in;

		comparable &= fuzz_sample(&b, &in, &now_us);
		fix.e->update(fix.state, &in);
		f64.e->update(f64.state, &in);
		check_bounds(&fix, subject_query(&fix));
		check_bounds(&f64, subject_query(&f64));
		scale = fmax(scale, fmax((double)in.rtt_us, subject_query(&f64).rtt_us));
		if (comparable)
			check_close(&fix, subject_query(&fix), subject_query(&f64), scale);
	}
	subject_stop(&fix);
	subject_stop(&f64);
	if (failures)
		abort();
	return 0;
}
