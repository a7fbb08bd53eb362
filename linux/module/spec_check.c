// SPDX-License-Identifier: GPL-2.0-only
/* Checks specs of any kind, also of kinds without a setting. A text such as "first-rto
 * rfc6298:cap_us=500000", written to /sys/kernel/debug/tcplearn_specs, is accepted, or refused with
 * EINVAL and a line in the kernel's log. */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "reading.h"
#include "spec_check.h"
#include "vector_players.h"

static struct dentry *file;

static int tl_check(struct tl_reading *reading)
{
	char *spec = reading->text;
	const char *key = strsep(&spec, " ");
	u32 k;

	for (k = 0; spec && k < TL_VECTOR_KINDS; k++)
		if (!strcmp(tl_vector_kinds[k].name, key))
			return tl_read(reading, tl_vector_kinds[k].player.kind, spec);
	return -ENOENT;
}

static ssize_t tl_write(struct file *unused, const char __user *from, size_t count, loff_t *position)
{
	struct tl_reading *reading;
	int error = -EFAULT;

	if (count >= TL_READING_TEXT_BYTES)
		return -E2BIG;
	reading = kzalloc(sizeof(*reading), GFP_KERNEL);
	if (!reading)
		return -ENOMEM;
	if (!copy_from_user(reading->text, from, count))
		error = tl_check(reading);
	kfree(reading);
	return error ?: count;
}

static const struct file_operations tl_file = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = tl_write,
};

void tl_spec_check_init(void)
{
	file = debugfs_create_file("tcplearn_specs", 0200, NULL, NULL, &tl_file);
}

void tl_spec_check_exit(void)
{
	debugfs_remove(file);
}
