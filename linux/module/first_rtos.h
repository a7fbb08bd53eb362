/* SPDX-License-Identifier: GPL-2.0-only */
/* Table of the core's first-RTO policies. The module only replays their golden vectors: a congestion
 * control starts after the timer of the SYN, so linux/bpf/first_rto.bpf.c sets the first RTO instead. */
#ifndef TCPLEARN_MODULE_FIRST_RTOS_H
#define TCPLEARN_MODULE_FIRST_RTOS_H

#include <linux/types.h>

#include "choice.h"

struct tl_kernel_first_rto {
	struct tl_algorithm algorithm;
	void (*report)(void *place, s64 rtt_us, s64 time_us);
	void (*doubt)(void *place, s64 time_us);
	void (*resent)(void *place, s64 rtt_us, s64 rto_us, s64 time_us);
	s64 (*rto_us)(const void *place, const void *prefix, s32 hops, u32 accepts, s64 time_us);
};

extern const struct tl_choosable tl_first_rtos;

#endif
