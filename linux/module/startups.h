/* SPDX-License-Identifier: GPL-2.0-only */
/* The core's startup policies as the kernel sees them: each one and its presets. */
#ifndef TCPLEARN_MODULE_STARTUPS_H
#define TCPLEARN_MODULE_STARTUPS_H

#include <linux/types.h>

#include <tcplearn/params.h>
#include <tcplearn/sample.h>
#include <tcplearn/startup/handshake.h>

#define TL_STARTUP_NAME_BYTES 32
#define TL_STARTUP_STATE_BYTES_MAX 256

struct tl_kernel_startup {
	const char *name;
	bool remembers; /* reports and handshakes change its answers */
	const char *const *keys; /* of the parameters, in the order of their indices */
	u32 key_count;
	void (*defaults)(void *params);
	int (*set)(void *params, u32 index, s64 q30); /* any type, with 30 fractional bits */
	u32 (*state_bytes)(const void *params);
	void (*init)(void *state, const void *params);
	void (*report)(void *state, const struct tl_startup_report *in);
	void (*note)(void *state, const struct tl_handshake *in);
	void (*decide)(const void *state, const struct tl_handshake *in, struct tl_startup_window *out);
};

extern const struct tl_kernel_startup tl_kernel_startups[];
extern const u32 tl_kernel_startup_count;

#endif
