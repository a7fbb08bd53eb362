/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The loss classifiers `congestion` and `random` (a preset): the trivial baselines, which give one answer
 * for every loss. `congestion` is TCP's standard; with `random` no loss ever reduces cwnd. Included
 * twice: for double precision and for fixed point. */

#define TL_LOSS_ALWAYS_PARAMS(X) \
	X(choice, cause, TL_LOSS_CONGESTION, "congestion|random", 1, "the answer for every loss")

TL_LOSS_PLAIN(loss_always, TL_LOSS_ALWAYS_PARAMS)

TL_FN void TL(loss_always_random)(struct TL(loss_always_params) *p)
{
	p->cause = TL_LOSS_RANDOM;
}

TL_FN void TL(loss_always_judge)(const struct TL(loss_always) *s, const ratio_t *f,
				 const struct tl_loss_moment *at, struct TL(loss_decision) *out)
{
	(void)f;
	(void)at;
	TL(loss_decide_rule)(out, s->params.cause == TL_LOSS_CONGESTION);
}
