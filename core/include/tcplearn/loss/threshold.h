/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The loss classifier `threshold`: compares one feature of feature_list.h with one limit. It is the
 * baseline for learned classifiers. Included twice: for double precision and for fixed point. */

#ifndef TCPLEARN_LOSS_THRESHOLD_H
#define TCPLEARN_LOSS_THRESHOLD_H
enum tl_loss_side { TL_LOSS_BELOW = 0, TL_LOSS_ABOVE = 1 };

/* The names of all features as "name|name|...". The index [1] skips the separator before the first name. */
#define TL_LOSS_FEATURE_BAR(name, low, high, text) "|" #name
#define TL_LOSS_FEATURE_NAMES (&("" TL_LOSS_FEATURES(TL_LOSS_FEATURE_BAR))[1])
#endif

#define TL_LOSS_THRESHOLD_PARAMS(X) \
	X(choice, feature, TL_LOSS_F_rtt_min_to_srtt, TL_LOSS_FEATURE_NAMES, TL_LOSS_FEATURE_COUNT - 1, \
	  "which feature") \
	X(ratio, limit, TL_RATIO(8, 10), -64, 4294968, "of the feature") \
	X(choice, side, TL_LOSS_BELOW, "below|above", 1, "the side of congestion, including the limit")

TL_LOSS_PLAIN(loss_threshold, TL_LOSS_THRESHOLD_PARAMS)

/* Decides from the feature; NaN counts as congestion. */
TL_FN void TL(loss_threshold_judge)(const struct TL(loss_threshold) *s, const ratio_t *f,
				    const struct tl_loss_moment *at, struct TL(loss_decision) *out)
{
	const ratio_t x = f[s->params.feature], limit = s->params.limit;

	(void)at;
	TL(loss_decide_rule)(out, !TL(loss_known)(f) ||
					  !(s->params.side == TL_LOSS_BELOW ? x > limit : x < limit));
}
