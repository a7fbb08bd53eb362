/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The output of a loss classifier: the probability that congestion caused the loss, and the cause that
 * follows from the classifier's threshold. Included twice: for double precision and for fixed point. */

struct TL(loss_decision) {
	ratio_t congestion; /* probability, in [0, 1] */
	uint32_t cause;     /* TL_LOSS_CONGESTION or TL_LOSS_RANDOM */
};

/* Decides for congestion if its probability is at least `threshold`. */
TL_FN void TL(loss_decide)(struct TL(loss_decision) *out, ratio_t congestion, ratio_t threshold)
{
	out->congestion = congestion;
	out->cause = congestion >= threshold ? (uint32_t)TL_LOSS_CONGESTION : (uint32_t)TL_LOSS_RANDOM;
}

/* Stores the decision of a rule that has no probability; the probability is then 0 or 1. */
TL_FN void TL(loss_decide_rule)(struct TL(loss_decision) *out, int congestion)
{
	TL(loss_decide)(out, ratio_from_whole(congestion ? 1 : 0), ratio_from_whole(1));
}

/* Returns whether the connection has an RTT sample. With a sample, min RTT / RTT is above 0; without one
 * it is 0 or NaN, and classifiers answer as TCP's standard does: congestion. */
TL_FN int TL(loss_known)(const ratio_t *f)
{
	return f[TL_LOSS_F_rtt_min_to_rtt] > ratio_from_whole(0);
}

/* Defines parameters, defaults and state struct of a classifier that has no state of its own. */
#ifndef TL_LOSS_PLAIN
#define TL_LOSS_PLAIN(id, list) \
	struct TL(id##_params) { \
		list(TL_FIELD) \
	}; \
	struct TL(id) { \
		struct TL(loss_path) path; \
		struct TL(id##_params) params; \
	}; \
	TL_FN void TL(id##_defaults)(struct TL(id##_params) *p) \
	{ \
		list(TL_DEFAULT) \
	}
#endif
