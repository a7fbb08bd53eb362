/* SPDX-License-Identifier: GPL-2.0-only */
/* The core's estimators as the kernel sees them, presets too, in fixed point. */
#ifndef TCPLEARN_MODULE_ESTIMATORS_H
#define TCPLEARN_MODULE_ESTIMATORS_H

#include <linux/types.h>

#include <tcplearn/sample.h>

#include "choice.h"

/* Durations in 2^-8 us, as the core's fixed point has them. */
struct tl_answer {
	s64 rtt_q8;
	s64 rto_q8;
};

struct tl_kernel_estimator {
	struct tl_algorithm algorithm;
	bool timer_from_head; /* the timer runs for the RTO less the age of the oldest segment out */
	void (*update)(void *state, const struct tl_sample *sample, struct tl_answer *answer); /* gives query's answer */
	void (*query)(const void *state, struct tl_answer *answer);
};

extern const struct tl_kernel_estimator tl_kernel_estimators[];
extern const struct tl_choosable tl_estimators;

#endif
