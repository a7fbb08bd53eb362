/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The loss classifier `adaptive`: the network `mlp` with a threshold that adapts to the connection.
 * Keeping cwnd after a "random" loss counts as wrong if another loss follows within a window of packets.
 * A wrong decision lowers the threshold, so that more losses count as congestion; a right one raises it
 * (docs/algorithms/loss/adaptive.md). Included twice: for double precision and for fixed point. */

#define TL_LOSS_ADAPTIVE_PARAMS(X) \
	X(choice, model, TL_MLP_WIDE, TL_MLP_MODEL_NAMES, TL_MLP_MODEL_COUNT - 1, "which trained weights") \
	X(ratio, threshold, TL_RATIO(3, 10), 0, 1, "at the start") \
	X(ratio, lowest, TL_RATIO(1, 20), 0, 1, "least threshold") \
	X(ratio, highest, TL_RATIO(1, 2), 0, 1, "largest threshold") \
	X(ratio, fall, TL_RATIO(1, 2), 0, 1, "factor of the threshold after a wrong keep") \
	X(ratio, rise, TL_RATIO(1, 8), 0, 1, "part of the way to the largest threshold after a right keep") \
	X(ratio, soon, TL_RATIO(1, 1), 0, 64, \
	  "windows of packets within which another loss makes a keep wrong") \
	X(count, keeps, 3, 0, 1000, \
	  "wrong keeps in a row after which the next loss is congestion; 0: no limit")

struct TL(loss_adaptive_params) {
	TL_LOSS_ADAPTIVE_PARAMS(TL_FIELD)
};

struct TL(loss_adaptive) {
	struct TL(loss_path) path;
	struct TL(loss_adaptive_params) params;
	ratio_t threshold;
	uint32_t window; /* cwnd at the last recovery that kept it; 0: no decision to judge */
	uint32_t wrong;  /* wrong decisions to keep cwnd, in a row */
};

TL_FN void TL(loss_adaptive_defaults)(struct TL(loss_adaptive_params) *p) {
	TL_LOSS_ADAPTIVE_PARAMS(TL_DEFAULT)
}

TL_FN void TL(loss_adaptive_start)(struct TL(loss_adaptive) *s)
{
	s->threshold = s->params.threshold;
	s->window = s->wrong = 0;
}

TL_FN void TL(loss_adaptive_learn)(struct TL(loss_adaptive) *s, const struct tl_loss_moment *at,
				   uint32_t change, uint32_t cause)
{
	if (change == TL_LOSS_UNDONE)
		s->window = 0; /* no packet was lost, so there is no outcome */
	if (change != TL_LOSS_BEGUN && change != TL_LOSS_TIMEOUT)
		return;
	if (s->window > 0) {
		/* subtract one window: the packets that were in flight at the last recovery */
		const ratio_t windows = num_div_count(ratio_from_whole(s->path.packets_since), s->window) -
					ratio_from_whole(1);
		const int wrong = change == TL_LOSS_TIMEOUT || windows < s->params.soon;

		if (wrong)
			s->threshold = num_mul(s->threshold, s->params.fall);
		else
			s->threshold += num_mul(s->params.highest - s->threshold, s->params.rise);
		s->threshold = s->threshold < s->params.lowest ? s->params.lowest : s->threshold;
		s->wrong = wrong ? s->wrong + 1 : 0;
	}
	if (cause == TL_LOSS_CONGESTION)
		s->wrong = 0;
	s->window = change == TL_LOSS_BEGUN && cause == TL_LOSS_RANDOM ? TL(loss_count)(at->cwnd_segments)
								       : 0;
}

TL_FN void TL(loss_adaptive_judge)(const struct TL(loss_adaptive) *s, const ratio_t *f,
				   const struct tl_loss_moment *at, struct TL(loss_decision) *out)
{
	(void)at;
	if (!TL(mlp_ready)(&s->path, s->params.model, f)) {
		TL(loss_decide_rule)(out, 1);
		return;
	}
	TL(loss_decide)(out, TL(mlp_congestion)(&s->path, s->params.model, f), s->threshold);
	if (s->params.keeps > 0 && s->wrong >= s->params.keeps)
		out->cause = TL_LOSS_CONGESTION;
}
