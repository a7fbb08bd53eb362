/* SPDX-License-Identifier: GPL-2.0-only */
/* Table of the core's estimators, presets included, in fixed point, as the module uses them. */
#ifndef TCPLEARN_MODULE_ESTIMATORS_H
#define TCPLEARN_MODULE_ESTIMATORS_H

#include <linux/types.h>

#include <tcplearn/sample.h>

#include "choice.h"

/* An estimator's prediction. Durations are in 2^-8 us, as in the core's fixed point. */
struct tl_answer {
	s64 rtt_q8;
	s64 rto_q8;
};

struct tl_kernel_estimator {
	struct tl_algorithm algorithm;
	bool timer_from_head; /* the timer runs for the RTO minus the age of the oldest segment in flight */
	/* stores the new prediction in `answer` */
	void (*update)(void *state, const struct tl_sample *sample, struct tl_answer *answer);
	void (*query)(const void *state, struct tl_answer *answer);
};

extern const struct tl_kernel_estimator tl_kernel_estimators[];
extern const struct tl_choosable tl_estimators;

#endif
