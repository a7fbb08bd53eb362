/* SPDX-License-Identifier: GPL-2.0-only */
/* The core's policies of the first RTO as the kernel sees them: only their golden vectors run here, as a congestion
 * control begins with the connection, when the SYN's timer is past (linux/bpf/first_rto.bpf.c sets it). */
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
