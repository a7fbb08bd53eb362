// SPDX-License-Identifier: GPL-2.0-only
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "counters.h"

DEFINE_PER_CPU(struct tl_counter_set, tl_counts);

static const char *const counter_names[] = {
#define TL_COUNTER_NAME(name, text) #name,
	TL_COUNTERS(TL_COUNTER_NAME)
};

static int counters_show(struct seq_file *file, void *unused)
{
	int i, cpu;

	for (i = 0; i < TL_COUNTER_COUNT; i++) {
		u64 sum = 0;

		for_each_possible_cpu(cpu)
			sum += per_cpu(tl_counts, cpu).of[i];
		seq_printf(file, "%s %llu\n", counter_names[i], sum);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

void tl_counters_create(struct dentry *folder)
{
	debugfs_create_file("counters", 0400, folder, NULL, &counters_fops);
}
