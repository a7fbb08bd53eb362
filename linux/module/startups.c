// SPDX-License-Identifier: GPL-2.0-only
/* Made of the list of startup policies alone: no line here names one. */
#include <linux/build_bug.h>
#include <linux/kernel.h>

#include <tcplearn/wrap.h>

#include "startups.h"

#define TL_REMEMBERS_TL_STARTUP_STATIC false
#define TL_REMEMBERS_TL_STARTUP_REMEMBERING true

#define TL_STARTUP_LAYER(id, label, list, history, summary, about) \
	static_assert(sizeof(struct tl_##id##_params_fix) <= TL_PARAMS_BYTES_MAX); \
	static_assert(sizeof(struct tl_##id##_fix) <= TL_STARTUP_STATE_BYTES_MAX); \
	enum { tl_remembers_##id = TL_REMEMBERS_##history }; \
	static const char *const id##_keys[] = { list(TL_KEY) };
TL_STARTUP_POLICIES(TL_STARTUP_LAYER)

#define TL_STARTUP_ENTRY(id, label, defaults) \
	{ label, tl_remembers_##id, id##_keys, ARRAY_SIZE(id##_keys), defaults, tl_wrap_set_##id##_fix, \
	  tl_wrap_state_bytes_##id##_fix, tl_wrap_init_##id##_fix, tl_wrap_report_##id##_fix, \
	  tl_wrap_note_##id##_fix, tl_wrap_decide_##id##_fix },
#define TL_STARTUP_POLICY_ENTRY(id, label, list, history, summary, about) \
	TL_STARTUP_ENTRY(id, label, tl_wrap_defaults_##id##_fix)
#define TL_STARTUP_PRESET_ENTRY(id, preset, label, summary) \
	TL_STARTUP_ENTRY(id, label, tl_wrap_defaults_##id##_##preset##_fix)

const struct tl_kernel_startup tl_kernel_startups[] = {
	TL_STARTUP_POLICIES(TL_STARTUP_POLICY_ENTRY)
	TL_STARTUP_PRESETS(TL_STARTUP_PRESET_ENTRY)
};
const u32 tl_kernel_startup_count = ARRAY_SIZE(tl_kernel_startups);
