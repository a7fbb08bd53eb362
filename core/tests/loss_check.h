/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A loss classifier with its state in guarded memory, for the tests. */
#ifndef TCPLEARN_TESTS_LOSS_CHECK_H
#define TCPLEARN_TESTS_LOSS_CHECK_H

#include "check.h"

FENCED(classifier, tl_loss_classifier, c)

/* Returns the classifier's decision, after checks that hold for every decision. */
static inline struct tl_loss_decision classifier_decide(const struct classifier *s,
							const struct tl_loss_moment *at)
{
	struct tl_loss_decision d;

	s->c->decide(s->state, at, &d);
	CHECK(d.congestion >= 0 && d.congestion <= 1, "%s: probability %g", s->c->algorithm.name,
	      d.congestion);
	CHECK(d.cause == TL_LOSS_CONGESTION || d.cause == TL_LOSS_RANDOM, "%s: cause %d",
	      s->c->algorithm.name, (int)d.cause);
	return d;
}

#endif
