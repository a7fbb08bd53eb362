// SPDX-License-Identifier: GPL-2.0-only
/* What the replays of golden vectors have in common. */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "vector_scores.h"

int tl_scores_init(struct tl_scores *s, u32 count)
{
	s->count = count;
	s->of = kcalloc(count, sizeof(*s->of), GFP_KERNEL);
	return s->of ? 0 : -ENOMEM;
}

int tl_scores_find(const struct tl_scores *s, const char *name)
{
	u32 i;

	for (i = 0; i < s->count; i++)
		if (!strcmp(s->at(i)->name, name))
			return i;
	return -EINVAL;
}

void tl_scores_show(const struct tl_scores *s, struct seq_file *out)
{
	struct tl_score all = {};
	u32 i, silent = 0;

	for (i = 0; i < s->count; i++) {
		const struct tl_score *one = &s->of[i];

		seq_printf(out, "%s/%s cases %u answers %u wrong %u\n", s->kind, s->at(i)->name, one->cases,
			   one->answers, one->wrong);
		all.cases += one->cases;
		all.answers += one->answers;
		all.wrong += one->wrong;
		silent += !one->answers;
	}
	seq_printf(out, "%s/all cases %u answers %u wrong %u untried %u\n", s->kind, all.cases, all.answers, all.wrong,
		   silent);
	if (s->wrong[0])
		seq_printf(out, "first wrong: %s\n", s->wrong);
}

int tl_vector_parameter(const struct tl_algorithm *a, void *params, const char *text)
{
	char key[64];
	s64 q30;

	return sscanf(text, "%63s %lld", key, &q30) == 2 ? tl_algorithm_set(a, params, key, q30) : -EINVAL;
}
