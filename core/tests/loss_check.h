/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A classifier of losses with its memory fenced, for the tests. */
#ifndef TCPLEARN_TESTS_LOSS_CHECK_H
#define TCPLEARN_TESTS_LOSS_CHECK_H

#include "check.h"

struct classifier {
	const struct tl_loss_classifier *c;
	int64_t params[TL_PARAMS_BYTES_MAX / 8];
	unsigned char *state;
	size_t bytes;
};

static inline void classifier_defaults(struct classifier *s, const struct tl_loss_classifier *c)
{
	memset(s, 0, sizeof(*s));
	s->c = c;
	c->defaults(s->params);
}

static inline int classifier_set(struct classifier *s, const char *key, double value)
{
	size_t i = 0;

	while (i < s->c->param_count && strcmp(s->c->params[i].key, key) != 0)
		i++;
	return s->c->set(s->params, i, value);
}

static inline void classifier_stop(struct classifier *s)
{
	fenced_free(s->c->name, s->state, s->bytes);
}

static inline void classifier_start(struct classifier *s)
{
	s->bytes = s->c->state_bytes(s->params);
	s->state = fenced(s->bytes);
	s->c->init(s->state, s->params);
}

/* A decision with what holds for every one. */
static inline struct tl_loss_decision classifier_decide(const struct classifier *s,
							const struct tl_loss_moment *at)
{
	struct tl_loss_decision d;

	s->c->decide(s->state, at, &d);
	CHECK(d.congestion >= 0 && d.congestion <= 1, "%s: probability %g", s->c->name, d.congestion);
	CHECK(d.cause == TL_LOSS_CONGESTION || d.cause == TL_LOSS_RANDOM, "%s: cause %d", s->c->name,
	      (int)d.cause);
	return d;
}

#endif
