/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes the library's table of loss classifiers for one arithmetic from loss/wrap.h, with probabilities
 * and features as doubles. Included twice, so only its macros have an include guard. */

#ifndef TCPLEARN_LOSS_REGISTRY_ARITHMETIC_H
#define TCPLEARN_LOSS_REGISTRY_ARITHMETIC_H

/* Converts a feature given as a double, clipped to the feature's bounds. Replaces NaN in fixed point. */
#define TL_CLIPPED(name, low, high, text) \
	f[TL_LOSS_F_##name] = ratio_from_double(x[TL_LOSS_F_##name] < (low)    ? (low) \
						: x[TL_LOSS_F_##name] > (high) ? (high) \
						: x[TL_LOSS_F_##name] == x[TL_LOSS_F_##name] || \
								(int)TL_ARITHMETIC == (int)TL_F64 \
							? x[TL_LOSS_F_##name] \
							: (low));

/* clang-format off */
#define TL_LOSS_VERBS(id, ...) \
	static void TL(features_##id)(const void *s, const struct tl_loss_moment *at, double *out) \
	{ \
		ratio_t f[TL_LOSS_FEATURE_COUNT]; \
		size_t i; \
		TL(wrap_features_##id)(s, at, f); \
		for (i = 0; i < TL_LOSS_FEATURE_COUNT; i++) \
			out[i] = ratio_to_double(f[i]); \
	} \
	static void TL(judge_##id)(const void *s, const double *x, const struct tl_loss_moment *at, \
				   struct tl_loss_decision *out) \
	{ \
		ratio_t f[TL_LOSS_FEATURE_COUNT]; \
		struct TL(loss_decision) d; \
		TL_LOSS_FEATURES(TL_CLIPPED) \
		TL(wrap_judge_##id)(s, f, at, &d); \
		out->congestion = ratio_to_double(d.congestion); \
		out->cause = (enum tl_loss_cause)d.cause; \
	} \
	static void TL(decide_##id)(const void *s, const struct tl_loss_moment *at, struct tl_loss_decision *out) \
	{ \
		struct TL(loss_decision) d; \
		TL(wrap_decide_##id)(s, at, &d); \
		out->congestion = ratio_to_double(d.congestion); \
		out->cause = (enum tl_loss_cause)d.cause; \
	} \
	static void TL(change_##id)(void *s, const struct tl_loss_moment *at, enum tl_loss_change change, \
				    enum tl_loss_cause cause) \
	{ \
		TL(wrap_change_##id)(s, at, (uint32_t)change, (uint32_t)cause); \
	}

#define TL_ENTRY_VERBS(id) \
	TL(wrap_observe_##id), TL(decide_##id), TL(change_##id), TL(features_##id), TL(judge_##id)
#endif

TL_LOSS_CLASSIFIERS(TL_LOSS_VERBS)

TL_REGISTRY(tl_loss_classifier, TL(loss_registry), TL_LOSS_CLASSIFIERS, TL_LOSS_PRESETS)
/* clang-format on */
