// SPDX-License-Identifier: GPL-2.0-only
/* Made of the core's list alone: no line here names a classifier. */
#include <linux/build_bug.h>
#include <linux/kernel.h>

#include <tcplearn/wrap.h>

#include "loss_classifiers.h"

#define TL_LOSS_LAYER(id, label, list, learns, learned, summary, about) \
	static_assert(sizeof(struct tl_##id##_params_fix) <= TL_PARAMS_BYTES_MAX); \
	static_assert(offsetof(struct tl_##id##_fix, path) == 0); \
	static const char *const id##_keys[] = { list(TL_KEY) }; \
	static void id##_judge(const void *s, const s64 *f, const struct tl_loss_moment *at, \
			       struct tl_loss_answer *out) \
	{ \
		struct tl_loss_decision_fix d; \
		tl_wrap_judge_##id##_fix(s, f, at, &d); \
		out->congestion_q30 = d.congestion; \
		out->cause = d.cause; \
	}
TL_LOSS_CLASSIFIERS(TL_LOSS_LAYER)

#define TL_LOSS_ENTRY(id, label, defaults) \
	{ TL_ALGORITHM(id, label, defaults), id##_judge, tl_wrap_change_##id##_fix },
#define TL_LOSS_CLASSIFIER_ENTRY(id, label, list, learns, learned, summary, about) \
	TL_LOSS_ENTRY(id, label, tl_wrap_defaults_##id##_fix)
#define TL_LOSS_PRESET_ENTRY(id, preset, label, summary) \
	TL_LOSS_ENTRY(id, label, tl_wrap_defaults_##id##_##preset##_fix)

const struct tl_kernel_loss tl_kernel_losses[] = {
	TL_LOSS_CLASSIFIERS(TL_LOSS_CLASSIFIER_ENTRY)
	TL_LOSS_PRESETS(TL_LOSS_PRESET_ENTRY)
};
const u32 tl_kernel_loss_count = ARRAY_SIZE(tl_kernel_losses);

#define TL_LOSS_STATE(id, label, list, learns, learned, summary, about) struct tl_##id##_fix id;
union tl_loss_states {
	TL_LOSS_CLASSIFIERS(TL_LOSS_STATE)
};
const u32 tl_kernel_loss_bytes_max = sizeof(union tl_loss_states);

void tl_kernel_loss_observe(void *state, const struct tl_loss_ack *ack)
{
	tl_loss_path_observe_fix(state, ack);
}

void tl_kernel_loss_features(const void *state, const struct tl_loss_moment *at, s64 *features_q30)
{
	tl_loss_features_fix(state, at, features_q30);
}
