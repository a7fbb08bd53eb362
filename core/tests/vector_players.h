/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Runs each kind of algorithm for the reader of golden vectors (tcplearn/vectors.h), in double precision and
 * in fixed point, with states in guarded memory. */
#ifndef TCPLEARN_TESTS_VECTOR_PLAYERS_H
#define TCPLEARN_TESTS_VECTOR_PLAYERS_H

#include "check.h"
#include "tcplearn/vectors.h"

/* The first-RTO vectors use four states; other kinds use one. */
#define STATES_MAX 4

struct memory {
	const struct tl_algorithm *algorithm;
	int64_t params[TL_PARAMS_BYTES_MAX / 8];
	unsigned char *state[STATES_MAX];
	size_t bytes;
	struct tl_loss_decision said;
};

static inline void memory_free(struct memory *m)
{
	size_t i;

	for (i = 0; i < STATES_MAX && m->state[i]; i++) {
		fenced_free(m->algorithm->name, m->state[i], m->bytes);
		m->state[i] = NULL;
	}
}

static inline int memory_begin(void *host, const struct tl_algorithm *a, const void *params)
{
	struct memory *m = host;
	size_t i;

	memory_free(m);
	m->algorithm = a;
	memcpy(m->params, params, sizeof(m->params));
	m->bytes = a->state_bytes(params);
	for (i = 0; i < STATES_MAX; i++) {
		m->state[i] = fenced(m->bytes);
		a->init(m->state[i], params);
	}
	memset(&m->said, 0, sizeof(m->said));
	return 0;
}

/* Adds a value of double precision to the answer, and the value in fixed point, where 1 is `units`. */
static inline void answer_add(struct tl_vector_answer *a, double value, double units)
{
	a->whole[a->count] = (int64_t)(value * units);
	a->real[a->count++] = value;
}

static inline int play_estimator(void *host, const struct tl_algorithm *a, const struct tl_vector_event *e,
				 struct tl_vector_answer *out)
{
	const struct tl_estimator *estimator = (const struct tl_estimator *)a;
	struct memory *m = host;
	struct tl_prediction p;
	struct tl_sample in;

	if (e->word != TL_VECTOR_BEGIN) {
		if (e->count != 7)
			return -1;
		in.time_us = e->number[0] + e->later_us;
		in.sent_us = e->number[1] + e->later_us;
		in.rtt_us = e->number[2];
		in.ack_delay_us = e->number[3];
		in.flight_segments = (uint32_t)e->number[4];
		in.ttl = (uint8_t)e->number[5];
		in.hops = (uint8_t)e->number[6];
		estimator->update(m->state[0], &in);
	}
	if (!e->asked)
		return 0;
	estimator->query(m->state[0], &p);
	out->count = 0;
	answer_add(out, p.rtt_us, 256);
	answer_add(out, p.rto_us, 256);
	return 1;
}

/* Plays an event: ack, decide or change. With `features`, also returns the features, which are the same for
 * every classifier. */
static inline int play_loss_event(struct memory *m, const struct tl_vector_event *e,
				  struct tl_vector_answer *features)
{
	const struct tl_loss_classifier *c = (const struct tl_loss_classifier *)m->algorithm;
	double f[TL_LOSS_FEATURE_COUNT];
	struct tl_loss_ack ack;
	struct tl_loss_moment at;
	size_t i;

	ack.time_us = at.time_us = e->number[0];
	ack.rtt_us = e->number[1];
	ack.delivered_segments = (uint32_t)e->number[2];
	ack.duplicate = (uint32_t)e->number[3];
	at.flight_segments = (uint32_t)e->number[1];
	at.cwnd_segments = (uint32_t)e->number[2];
	at.ssthresh_segments = (uint32_t)e->number[3];
	at.truth = e->word == 1 ? (uint32_t)e->number[4] : TL_LOSS_UNKNOWN;
	if (e->word == 0) {
		c->observe(m->state[0], &ack);
		return 0;
	}
	if (e->word == 2) {
		c->change(m->state[0], &at, (enum tl_loss_change)e->number[4],
			  e->number[5] < 2 ? (enum tl_loss_cause)e->number[5] : m->said.cause);
		return 0;
	}
	c->features(m->state[0], &at, f);
	c->decide(m->state[0], &at, &m->said);
	CHECK(m->said.congestion >= 0 && m->said.congestion <= 1, "%s: probability %g", m->algorithm->name,
	      m->said.congestion);
	features->count = 0;
	for (i = 0; i < TL_LOSS_FEATURE_COUNT; i++)
		answer_add(features, f[i], 1073741824.0);
	return 1;
}

static inline int is_loss_event(const struct tl_vector_event *e)
{
	return e->count == (e->word == 0 ? 4 : e->word == 1 ? 5 : 6);
}

static inline int play_features(void *host, const struct tl_algorithm *a, const struct tl_vector_event *e,
				struct tl_vector_answer *out)
{
	(void)a;
	if (e->word == TL_VECTOR_BEGIN)
		return 0;
	return is_loss_event(e) ? play_loss_event(host, e, out) : -1;
}

static inline int play_loss(void *host, const struct tl_algorithm *a, const struct tl_vector_event *e,
			    struct tl_vector_answer *out)
{
	struct memory *m = host;
	const int said = play_features(host, a, e, out);

	if (said != 1)
		return said;
	out->count = 0;
	answer_add(out, (double)m->said.cause, 1);
	answer_add(out, m->said.congestion, 1073741824.0);
	return 1;
}

static inline int play_startup(void *host, const struct tl_algorithm *a, const struct tl_vector_event *e,
			       struct tl_vector_answer *out)
{
	const struct tl_startup_policy *p = (const struct tl_startup_policy *)a;
	struct memory *m = host;
	struct tl_handshake h;
	struct tl_startup_report r;
	struct tl_startup_window w;

	if (e->word == TL_VECTOR_BEGIN)
		return 0;
	if (e->count != (e->word == 0 ? 6 : 5))
		return -1;
	h.time_us = r.time_us = e->number[0];
	h.took_us = e->number[1];
	h.loss = (uint32_t)e->number[2];
	h.resends = (uint32_t)e->number[3];
	h.iw_segments = (uint32_t)e->number[4];
	h.ssthresh_segments = (uint32_t)e->number[5];
	r.sent_segments = (uint32_t)e->number[1];
	r.resent_segments = (uint32_t)e->number[2];
	r.rtt_us = e->number[3];
	r.rtt_min_us = e->number[4];
	if (e->word == 1) {
		p->report(m->state[0], &r);
		return 0;
	}
	p->decide(m->state[0], &h, &w);
	p->note(m->state[0], &h);
	CHECK(w.iw_segments >= 1 && w.ssthresh_segments >= 1, "%s: a window of nothing", a->name);
	out->count = 0;
	answer_add(out, w.iw_segments, 1);
	answer_add(out, w.ssthresh_segments, 1);
	return 1;
}

static inline void next_connection(struct memory *m, const struct tl_resend_policy *p)
{
	unsigned char *earlier = m->state[0];

	m->state[0] = m->state[1];
	m->state[1] = earlier;
	m->algorithm->init(m->state[0], m->params);
	p->inherit(m->state[0], earlier);
}

static inline int play_resend(void *host, const struct tl_algorithm *a, const struct tl_vector_event *e,
			      struct tl_vector_answer *out)
{
	const struct tl_resend_policy *p = (const struct tl_resend_policy *)a;
	struct memory *m = host;
	struct tl_resend_event sent;
	struct tl_resend_ack ack;
	struct tl_resend_wait w = { 0, 0 };

	if (e->word == TL_VECTOR_BEGIN)
		return 0;
	if (e->count != (e->word == 3 ? 0 : e->word == 2 ? 4 : 2))
		return -1;
	sent.time_us = ack.time_us = e->number[0];
	sent.out_segments = (uint32_t)e->number[1];
	ack.rtt_us = e->number[1];
	ack.out_segments = (uint32_t)e->number[2];
	ack.answers = (uint32_t)e->number[3];
	if (e->word == 0)
		p->send(m->state[0], &sent, &w);
	else if (e->word == 1)
		p->timer(m->state[0], &sent, &w);
	else if (e->word == 2)
		p->ack(m->state[0], &ack, &w);
	else
		next_connection(m, p);
	out->count = 0;
	answer_add(out, (double)w.wait_us, 1);
	answer_add(out, w.probe, 1);
	return 1;
}

/* report,PLACE,RTT,NOW doubt,PLACE,NOW resent,PLACE,RTT,RTO,NOW query,PLACE,PREFIX,NOW,HOPS,ACCEPTS */
static inline int play_first_rto(void *host, const struct tl_algorithm *a, const struct tl_vector_event *e,
				 struct tl_vector_answer *out)
{
	static const uint32_t counts[] = { 3, 2, 4, 5 };
	const struct tl_first_rto_policy *p = (const struct tl_first_rto_policy *)a;
	struct memory *m = host;
	const int64_t *n = e->number;
	void *place;

	if (e->word == TL_VECTOR_BEGIN)
		return 0;
	if (e->count != counts[e->word] || n[0] < 0 || n[0] >= STATES_MAX)
		return -1;
	place = m->state[n[0]];
	if (e->word == 0)
		p->report(place, n[1], n[2]);
	else if (e->word == 1)
		p->doubt(place, n[1]);
	else if (e->word == 2)
		p->resent(place, n[1], n[2], n[3]);
	else if (n[1] < 0 || n[1] >= STATES_MAX)
		return -1;
	if (e->word < 3)
		return 0;
	out->count = 0;
	answer_add(out, (double)p->rto_us(place, m->state[n[1]], (int32_t)n[3], (uint32_t)n[4], n[2]), 1);
	return 1;
}

struct kind_of_vectors {
	enum tl_kind_of kind;
	const char *folder; /* of the answers */
	const char *words;
	int (*play)(void *host, const struct tl_algorithm *a, const struct tl_vector_event *e,
		    struct tl_vector_answer *out);
	uint32_t least_answers;
};

static const struct kind_of_vectors kinds_of_vectors[] = {
	{ TL_KIND_ESTIMATOR, "expected", "sample", play_estimator, 1000 },
	{ TL_KIND_LOSS, "features", "ack|decide|change", play_features, 50 },
	{ TL_KIND_LOSS, "expected", "ack|decide|change", play_loss, 50 },
	{ TL_KIND_STARTUP, "expected", "handshake|report", play_startup, 100 },
	{ TL_KIND_RESEND, "expected", "send|timer|ack|next", play_resend, 1000 },
	{ TL_KIND_FIRST_RTO, "expected", "report|doubt|resent|query", play_first_rto, 500 },
};

#endif
