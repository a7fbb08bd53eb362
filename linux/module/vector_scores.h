/* SPDX-License-Identifier: GPL-2.0-only */
/* What the replays of golden vectors count of each algorithm of a kind, and parameters by a line. */
#ifndef TCPLEARN_VECTOR_SCORES_H
#define TCPLEARN_VECTOR_SCORES_H

#include <linux/seq_file.h>

#include "algorithm.h"

struct tl_score {
	u32 cases, answers, wrong;
};

struct tl_scores {
	const char *kind;
	const struct tl_algorithm *(*at)(u32 i);
	struct tl_score *of; /* of each */
	u32 count;
	char wrong[200]; /* the first one */
};

int tl_scores_init(struct tl_scores *s, u32 count);
int tl_scores_find(const struct tl_scores *s, const char *name); /* its index */
void tl_scores_show(const struct tl_scores *s, struct seq_file *out);

/* "KEY VALUE", times 2^30 */
int tl_vector_parameter(const struct tl_algorithm *a, void *params, const char *text);

#endif
