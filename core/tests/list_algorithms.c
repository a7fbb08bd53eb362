/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Prints a line for each algorithm: kind, name and the keys of its parameters. */
#include <stdio.h>

#include "tcplearn/tcplearn.h"

int main(void)
{
	uint32_t k, i, j;

	for (k = 0; k < TL_KINDS; k++) {
		const struct tl_kind *kind = tl_kind_at((enum tl_kind_of)k, TL_FIX);

		for (i = 0; i < kind->count; i++) {
			const struct tl_algorithm *a = kind->at(i);

			printf("%s %s", kind->key, a->name);
			for (j = 0; j < a->param_count; j++)
				printf(" %s", a->params[j].key);
			printf("\n");
		}
	}
	return 0;
}
