/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The loss classifier `oracle`: the true cause, known from the simulator. It is the upper bound for any
 * classifier. Included twice: for double precision and for fixed point. */

#define TL_LOSS_ORACLE_PARAMS(X) \
	X(choice, otherwise, TL_LOSS_CONGESTION, "congestion|random", 1, \
	  "answer if the host does not know the cause either")

TL_LOSS_PLAIN(loss_oracle, TL_LOSS_ORACLE_PARAMS)

TL_FN void TL(loss_oracle_judge)(const struct TL(loss_oracle) *s, const ratio_t *f,
				 const struct tl_loss_moment *at, struct TL(loss_decision) *out)
{
	(void)f;
	TL(loss_decide_rule)(out, (at->truth <= (uint32_t)TL_LOSS_RANDOM ? at->truth : s->params.otherwise) ==
					  TL_LOSS_CONGESTION);
}
