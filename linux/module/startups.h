/* SPDX-License-Identifier: GPL-2.0-only */
/* Table of the core's startup policies, presets included, as the module uses them. */
#ifndef TCPLEARN_MODULE_STARTUPS_H
#define TCPLEARN_MODULE_STARTUPS_H

#include <linux/types.h>

#include <tcplearn/sample.h>
#include <tcplearn/startup/handshake.h>

#include "choice.h"

struct tl_kernel_startup {
	struct tl_algorithm algorithm;
	bool remembers; /* reports and handshakes affect its decisions */
	void (*report)(void *state, const struct tl_startup_report *in);
	void (*note)(void *state, const struct tl_handshake *in);
	void (*decide)(const void *state, const struct tl_handshake *in, struct tl_startup_window *out);
};

extern const struct tl_kernel_startup tl_kernel_startups[];
extern const struct tl_choosable tl_startups;

#endif
