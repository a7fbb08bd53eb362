/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A line for each estimator: its name, then the keys of its parameters. */
#include <stdio.h>

#include "tcplearn/tcplearn.h"

int main(void)
{
	size_t i, k;

	for (i = 0; i < tl_estimator_count(); i++) {
		const struct tl_estimator *e = tl_estimator_at(i, TL_F64);

		printf("%s", e->name);
		for (k = 0; k < e->param_count; k++)
			printf(" %s", e->params[k].key);
		printf("\n");
	}
	return 0;
}
