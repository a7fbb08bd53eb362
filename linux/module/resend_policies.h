/* SPDX-License-Identifier: GPL-2.0-only */
/* Table of the core's resend policies, presets included, in fixed point, as the module uses them. */
#ifndef TCPLEARN_MODULE_RESEND_POLICIES_H
#define TCPLEARN_MODULE_RESEND_POLICIES_H

#include <tcplearn/resend/events.h>

#include "choice.h"

struct tl_kernel_resend {
	struct tl_algorithm algorithm;
	void (*inherit)(void *state, const void *earlier);
	void (*send)(void *state, const struct tl_resend_event *in, struct tl_resend_wait *out);
	void (*timer)(void *state, const struct tl_resend_event *in, struct tl_resend_wait *out);
	void (*ack)(void *state, const struct tl_resend_ack *in, struct tl_resend_wait *out);
};

extern const struct tl_kernel_resend tl_kernel_resends[];
extern const struct tl_choosable tl_resends;
extern const u32 tl_kernel_resend_bytes_max; /* size of the largest state */

#endif
