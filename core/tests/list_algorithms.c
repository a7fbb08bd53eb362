/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A line for each algorithm: the folder of its page in docs/algorithms, its name, the keys of its parameters. */
#include <stdio.h>

#include "tcplearn/tcplearn.h"

static void line(const char *folder, const char *name, const struct tl_param *params, size_t count)
{
	size_t k;

	printf("%s %s", folder, name);
	for (k = 0; k < count; k++)
		printf(" %s", params[k].key);
	printf("\n");
}

int main(void)
{
	size_t i;

	for (i = 0; i < tl_estimator_count(); i++) {
		const struct tl_estimator *e = tl_estimator_at(i, TL_F64);
		line(".", e->name, e->params, e->param_count);
	}
	for (i = 0; i < tl_loss_count(); i++) {
		const struct tl_loss_classifier *c = tl_loss_at(i, TL_F64);
		line("loss", c->name, c->params, c->param_count);
	}
	for (i = 0; i < tl_resend_count(); i++) {
		const struct tl_resend_policy *p = tl_resend_at(i, TL_F64);
		line("resend", p->name, p->params, p->param_count);
	}
	return 0;
}
