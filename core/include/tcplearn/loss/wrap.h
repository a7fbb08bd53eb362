/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes the functions of every loss classifier with void pointers, in the arithmetic (double precision or
 * fixed point) that was included last. tcplearn/wrap.h includes this file. */

#ifndef TCPLEARN_LOSS_WRAP_H
#define TCPLEARN_LOSS_WRAP_H
#define TL_LOSS_STATIC_start(id, s)
#define TL_LOSS_STATIC_learn(id, s, at, change, cause) (void)(cause)
#define TL_LOSS_STATIC_observe(id, s, in)
#define TL_LOSS_LEARNING_observe(id, s, in)
#define TL_LOSS_LEARNING_start(id, s) TL(id##_start)(s)
#define TL_LOSS_LEARNING_learn(id, s, at, change, cause) TL(id##_learn)(s, at, change, cause)
#define TL_LOSS_COUNTING_start(id, s) TL(id##_start)(s)
#define TL_LOSS_COUNTING_observe(id, s, in) TL(id##_observe)(s, in)
#define TL_LOSS_COUNTING_learn(id, s, at, change, cause) TL(id##_learn)(s, at, change, cause)

#define TL_WRAP_LOSS(id, label, list, learned, summary, about, learns) \
	TL_WRAP_PARAMS(id, list) \
	TL_FN void TL(wrap_init_##id)(void *state, const void *params) \
	{ \
		struct TL(id) *s = (struct TL(id) *)state; \
		TL(loss_path_init)(&s->path); \
		s->params = *(const struct TL(id##_params) *)params; \
		learns##_start(id, s); \
	} \
	TL_FN void TL(wrap_observe_##id)(void *state, const struct tl_loss_ack *in) \
	{ \
		struct TL(id) *s = (struct TL(id) *)state; \
		TL(loss_path_observe)(&s->path, in); \
		learns##_observe(id, s, in); \
	} \
	TL_WRAP_STATE_BYTES(id) \
	TL_FN void TL(wrap_features_##id)(const void *state, const struct tl_loss_moment *at, ratio_t *f) \
	{ \
		TL(loss_features)(&((const struct TL(id) *)state)->path, at, f); \
	} \
	TL_FN void TL(wrap_judge_##id)(const void *state, const ratio_t *f, const struct tl_loss_moment *at, \
				       struct TL(loss_decision) *out) \
	{ \
		TL(id##_judge)((const struct TL(id) *)state, f, at, out); \
	} \
	TL_FN void TL(wrap_decide_##id)(const void *state, const struct tl_loss_moment *at, \
					struct TL(loss_decision) *out) \
	{ \
		ratio_t f[TL_LOSS_FEATURE_COUNT]; \
		TL(wrap_features_##id)(state, at, f); \
		TL(wrap_judge_##id)(state, f, at, out); \
	} \
	TL_FN void TL(wrap_change_##id)(void *state, const struct tl_loss_moment *at, uint32_t change, \
					uint32_t cause) \
	{ \
		struct TL(id) *s = (struct TL(id) *)state; \
		learns##_learn(id, s, at, change, cause); \
		TL(loss_path_change)(&s->path, at, change); \
	}
#define TL_WRAP_LOSS_PRESET(id, preset, label, summary) TL_WRAP_PRESET(id, preset)
#endif

TL_LOSS_CLASSIFIERS(TL_WRAP_LOSS)
TL_LOSS_PRESETS(TL_WRAP_LOSS_PRESET)
