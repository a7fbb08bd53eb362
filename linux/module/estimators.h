/* SPDX-License-Identifier: GPL-2.0-only */
/* The core's registry as the kernel sees it: every estimator and preset, in fixed point. */
#ifndef TCPLEARN_MODULE_ESTIMATORS_H
#define TCPLEARN_MODULE_ESTIMATORS_H

#include <linux/types.h>

#include <tcplearn/params.h>
#include <tcplearn/sample.h>

#define TL_NAME_BYTES 32

/* Durations in 2^-8 us, as the core's fixed point has them. */
struct tl_answer {
	s64 rtt_q8;
	s64 rto_q8;
};

struct tl_kernel_estimator {
	const char *name;
	bool timer_from_head; /* the timer runs for the RTO less the age of the oldest segment out */
	const char *const *keys; /* of the parameters, in the order of their indices */
	u32 key_count;
	void (*defaults)(void *params);
	int (*set)(void *params, u32 index, s64 q30); /* any type, with 30 fractional bits */
	u32 (*state_bytes)(const void *params);
	void (*init)(void *state, const void *params);
	void (*update)(void *state, const struct tl_sample *sample, struct tl_answer *answer); /* which is query's */
	void (*query)(const void *state, struct tl_answer *answer);
};

extern const struct tl_kernel_estimator tl_kernel_estimators[];
extern const u32 tl_kernel_estimator_count;

/* -EINVAL: no such key, or out of range. */
int tl_kernel_set(const struct tl_kernel_estimator *e, void *params, const char *key, s64 q30);

#endif
