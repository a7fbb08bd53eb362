/* SPDX-License-Identifier: GPL-2.0-only */
/* The core's startup policies as the kernel sees them, presets too. */
#ifndef TCPLEARN_MODULE_STARTUPS_H
#define TCPLEARN_MODULE_STARTUPS_H

#include <linux/types.h>

#include <tcplearn/sample.h>
#include <tcplearn/startup/handshake.h>

#include "choice.h"

struct tl_kernel_startup {
	struct tl_algorithm algorithm;
	bool remembers; /* reports and handshakes change its answers */
	void (*report)(void *state, const struct tl_startup_report *in);
	void (*note)(void *state, const struct tl_handshake *in);
	void (*decide)(const void *state, const struct tl_handshake *in, struct tl_startup_window *out);
};

extern const struct tl_kernel_startup tl_kernel_startups[];
extern const struct tl_choosable tl_startups;

#endif
