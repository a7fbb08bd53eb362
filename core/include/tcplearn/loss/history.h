/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The loss classifier `history`: adds the log odds of the network `mlp` for this loss and their mean over
 * the connection's earlier losses, each with a weight. On a path with random losses most losses occur
 * while the queue is empty, so earlier losses tell what this loss is likely to be.
 * docs/algorithms/loss/history.md. Included twice: for double precision and for fixed point. */

#define TL_LOSS_HISTORY_PARAMS(X) \
	X(choice, model, TL_MLP_WIDE, TL_MLP_MODEL_NAMES, TL_MLP_MODEL_COUNT - 1, "which trained weights") \
	X(ratio, threshold, TL_RATIO(35, 100), 0, 1, "least probability that counts as congestion") \
	X(ratio, answer, TL_RATIO(3, 4), 0, 4, "weight of the network's log odds") \
	X(ratio, past, TL_RATIO(45, 100), 0, 4, "weight of their mean over earlier losses") \
	X(ratio, bias, -TL_RATIO(1, 4), -8, 8, "added to both") \
	X(count, memory, 16, 2, 100000, "approximate number of losses in the mean") \
	X(ratio, most, TL_RATIO(3, 1), 0, 24, "largest log odds of a loss in the mean, either way")

struct TL(loss_history_params) {
	TL_LOSS_HISTORY_PARAMS(TL_FIELD)
};

struct TL(loss_history) {
	struct TL(loss_path) path;
	struct TL(loss_history_params) params;
	ratio_t past; /* mean log odds over earlier losses; begins as one loss with log odds 0 */
	uint32_t losses;
};

TL_FN void TL(loss_history_defaults)(struct TL(loss_history_params) *p) { TL_LOSS_HISTORY_PARAMS(TL_DEFAULT) }

TL_FN void TL(loss_history_start)(struct TL(loss_history) *s)
{
	s->past = ratio_from_whole(0);
	s->losses = 0;
}

/* These functions are not inlined, because the features take half of a BPF program's stack. */
TL_FN_APART void TL(loss_history_features)(const struct TL(loss_path) *path, const struct tl_loss_moment *at,
					   ratio_t *f)
{
	TL(loss_features)(path, at, f);
}

TL_FN_APART ratio_t TL(loss_history_odds)(const struct TL(loss_history) *s, const struct tl_loss_moment *at)
{
	ratio_t f[TL_LOSS_FEATURE_COUNT];

	TL(loss_history_features)(&s->path, at, f);
	return TL(mlp_log_odds)(&s->path, s->params.model, f);
}

/* Adds the log odds of this loss to the mean. A timeout is not added, because there are no duplicate ACKs
 * from which to compute the features. */
TL_FN void TL(loss_history_learn)(struct TL(loss_history) *s, const struct tl_loss_moment *at,
				  uint32_t change, uint32_t cause)
{
	const ratio_t most = s->params.most;
	const uint32_t n = TL(loss_add)(s->losses, 1) + 1;
	ratio_t odds;

	(void)cause;
	if (change != TL_LOSS_BEGUN || s->path.rtts == 0)
		return;
	odds = TL(loss_history_odds)(s, at);
	odds = odds > most ? most : odds < -most ? -most : odds;
	s->past += num_div_count(odds - s->past, n < s->params.memory ? n : s->params.memory);
	s->losses = n - 1;
}

TL_FN void TL(loss_history_judge)(const struct TL(loss_history) *s, const ratio_t *f,
				  const struct tl_loss_moment *at, struct TL(loss_decision) *out)
{
	ratio_t odds;

	(void)at;
	if (!TL(mlp_ready)(&s->path, s->params.model, f)) {
		TL(loss_decide_rule)(out, 1);
		return;
	}
	odds = num_mul(TL(mlp_log_odds)(&s->path, s->params.model, f), s->params.answer) +
	       num_mul(s->past, s->params.past) + s->params.bias;
	TL(loss_decide)(out, TL(mlp_probability)(TL(mlp_sum_of)(odds)), s->params.threshold);
}
