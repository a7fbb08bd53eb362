// SPDX-License-Identifier: GPL-2.0-only
/* Makes the module's table of loss classifiers from the core's list; no line here names a classifier. */
#include <tcplearn/registry.h>
#include <tcplearn/wrap.h>

#include "loss_classifiers.h"

#include <tcplearn/arithmetic/fixed.h>

TL_LOSS_CLASSIFIERS(TL_TABLE_OF)
TL_LOSS_CLASSIFIERS(TL_VERBS_OF)

#define TL_LOSS_JUDGE(id, ...) \
	static_assert(offsetof(struct TL(id), path) == 0); \
	static void id##_judge(const void *s, const s64 *f, const struct tl_loss_moment *at, \
			       struct tl_loss_answer *out) \
	{ \
		struct TL(loss_decision) d; \
		TL(wrap_judge_##id)(s, f, at, &d); \
		out->congestion_q30 = d.congestion; \
		out->cause = d.cause; \
	}
TL_LOSS_CLASSIFIERS(TL_LOSS_JUDGE)

#define TL_ENTRY_VERBS(id) id##_judge, TL(wrap_observe_##id), TL(wrap_change_##id)
const struct tl_kernel_loss tl_kernel_losses[] = { TL_LOSS_CLASSIFIERS(TL_ENTRY_OF) TL_LOSS_PRESETS(TL_PRESET_OF) };
TL_CHOOSABLE(tl_losses, tl_kernel_losses, "loss classifier", "loss", "none");

#define TL_LOSS_STATE(id, ...) struct TL(id) id;
union tl_loss_states {
	TL_LOSS_CLASSIFIERS(TL_LOSS_STATE)
};
const u32 tl_kernel_loss_bytes_max = sizeof(union tl_loss_states);

void tl_kernel_loss_features(const void *state, const struct tl_loss_moment *at, s64 *features_q30)
{
	tl_loss_features_fix(state, at, features_q30);
}
