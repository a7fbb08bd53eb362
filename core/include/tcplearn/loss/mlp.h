/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The loss classifier `mlp`: a neural network (perceptron) with one hidden layer and sigmoids, as in
 * ML-TCP (hwang2018). Its inputs are z-scores of the features in docs/algorithms/loss/features.md; its
 * output is the probability that congestion caused the loss. The trained weights come from core/models/.
 * Included twice: for double precision and for fixed point. */

#include "mlp_double.h"
#include "mlp_fixed.h"
#include "mlp_models.h"

#define TL_LOSS_MLP_PARAMS(X) \
	X(choice, model, TL_MLP_WIDE, TL_MLP_MODEL_NAMES, TL_MLP_MODEL_COUNT - 1, "which trained weights") \
	X(ratio, threshold, TL_RATIO(4, 10), 0, 1, "least probability that counts as congestion")

TL_LOSS_PLAIN(loss_mlp, TL_LOSS_MLP_PARAMS)

/* The preset `mlp/hwang2018`: the two inputs of hwang2018, trained on the topology of that paper. */
TL_FN void TL(loss_mlp_hwang2018)(struct TL(loss_mlp_params) *p)
{
	p->model = TL_MLP_HWANG2018;
	p->threshold = TL_RATIO(1, 2);
}

/* Returns the weighted sum of one unit. `weights` has the bias first, then the weights of the `n` inputs. */
TL_FN TL(mlp_sum) TL(mlp_dot)(const int32_t *weights, const TL(mlp_value) *x, uint32_t n)
{
	TL(mlp_sum) sum = TL(mlp_bias)(weights[0]);
	uint32_t i;

	for (i = 0; i < n; i++)
		sum += TL(mlp_weigh)(weights[i + 1], x[i]);
	return sum;
}

/* Returns whether the network can decide: there are an RTT sample and weights. If not, classifiers answer as
 * TCP's standard does: congestion. */
TL_FN int TL(mlp_ready)(const struct TL(loss_path) *path, uint32_t model, const ratio_t *f)
{
	return TL(loss_known)(f) && (model != TL_MLP_OWN || path->own);
}

/* Returns the output unit's sum; 0 without weights. */
TL_FN_APART TL(mlp_sum) TL(mlp_output)(const struct TL(loss_path) *path, uint32_t model, const ratio_t *f)
{
	TL(mlp_value) z[TL_LOSS_FEATURE_COUNT];
	TL(mlp_sum) sum;
	struct tl_mlp net;
	uint32_t i;

	if (model != TL_MLP_OWN)
		tl_mlp_model(model, &net);
	else if (path->own)
		net = *path->own;
	else
		return TL(mlp_bias)(0);
	for (i = 0; i < net.inputs; i++)
		z[i] = TL(mlp_score)(f[net.input[i]], net.mean_q30[i], net.gain_q30[i]);
	sum = TL(mlp_bias)(net.output_q24[0]);
	for (i = 0; i < net.hidden; i++)
		sum += TL(mlp_weigh)(
			net.output_q24[i + 1],
			TL(mlp_unit)(TL(mlp_dot)(net.hidden_q24 + i * (net.inputs + 1), z, net.inputs)));
	return sum;
}

TL_FN ratio_t TL(mlp_congestion)(const struct TL(loss_path) *path, uint32_t model, const ratio_t *f)
{
	return TL(mlp_probability)(TL(mlp_output)(path, model, f));
}

/* Returns the log odds of congestion, log P / (1 - P), clamped to [-32, 32]. */
TL_FN ratio_t TL(mlp_log_odds)(const struct TL(loss_path) *path, uint32_t model, const ratio_t *f)
{
	return TL(mlp_odds_of)(TL(mlp_output)(path, model, f));
}

TL_FN void TL(loss_mlp_judge)(const struct TL(loss_mlp) *s, const ratio_t *f, const struct tl_loss_moment *at,
			      struct TL(loss_decision) *out)
{
	(void)at;
	if (TL(mlp_ready)(&s->path, s->params.model, f))
		TL(loss_decide)(out, TL(mlp_congestion)(&s->path, s->params.model, f), s->params.threshold);
	else
		TL(loss_decide_rule)(out, 1);
}
