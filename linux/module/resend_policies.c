// SPDX-License-Identifier: GPL-2.0-only
/* Made of the core's list alone: no line here names a policy. */
#include <linux/build_bug.h>
#include <linux/kernel.h>

#include <tcplearn/wrap.h>

#include "resend_policies.h"

#define TL_RESEND_LAYER(id, label, list, learned, summary, about) \
	static_assert(sizeof(struct tl_##id##_params_fix) <= TL_PARAMS_BYTES_MAX); \
	static const char *const id##_keys[] = { list(TL_KEY) };
TL_RESEND_POLICIES(TL_RESEND_LAYER)

#define TL_RESEND_ENTRY(id, label, from) \
	{ TL_ALGORITHM(id, label, tl_wrap_defaults_##from##_fix), tl_wrap_inherit_##id##_fix, tl_wrap_send_##id##_fix, \
	  tl_wrap_timer_##id##_fix, tl_wrap_ack_##id##_fix },
#define TL_RESEND_POLICY_ENTRY(id, label, ...) TL_RESEND_ENTRY(id, label, id)
#define TL_RESEND_PRESET_ENTRY(id, preset, label, ...) TL_RESEND_ENTRY(id, label, id##_##preset)

const struct tl_kernel_resend tl_kernel_resends[] = { TL_RESEND_POLICIES(TL_RESEND_POLICY_ENTRY)
							      TL_RESEND_PRESETS(TL_RESEND_PRESET_ENTRY) };
const u32 tl_kernel_resend_count = ARRAY_SIZE(tl_kernel_resends);

#define TL_RESEND_STATE(id, label, list, learned, summary, about) struct tl_##id##_fix id;
union tl_resend_states {
	TL_RESEND_POLICIES(TL_RESEND_STATE)
};
const u32 tl_kernel_resend_bytes_max = sizeof(union tl_resend_states);
