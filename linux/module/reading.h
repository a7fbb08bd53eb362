/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a spec such as "conformal:miss=0.001" with the core's reader (tcplearn/spec.h). The message for
 * an invalid spec goes to the kernel's log. */
#ifndef TCPLEARN_MODULE_READING_H
#define TCPLEARN_MODULE_READING_H

#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <tcplearn/spec.h>

/* The longest spec that is read. */
#define TL_READING_TEXT_BYTES 1024

/* The result of reading; too large for the stack. */
struct tl_reading {
	struct tl_spec spec;
	u64 params[TL_PARAMS_BYTES_MAX / sizeof(u64)];
	char error[320];
	char text[TL_READING_TEXT_BYTES]; /* the spec */
};

/* Returns 0 or -EINVAL. */
static inline int tl_read(struct tl_reading *reading, const struct tl_kind *kind, const char *text)
{
	if (!tl_spec_read(kind, text, strlen(text), &reading->spec, reading->params, reading->error,
			  sizeof(reading->error)))
		return 0;
	pr_notice("tcplearn: %s\n", reading->error);
	return -EINVAL;
}

#endif
