// SPDX-License-Identifier: GPL-2.0-only
/* Makes the module's table of resend policies from the core's list; no line here names a policy. */
#include <tcplearn/registry.h>
#include <tcplearn/wrap.h>

#include "resend_policies.h"

#include <tcplearn/arithmetic/fixed.h>

TL_RESEND_POLICIES(TL_TABLE_OF)
TL_RESEND_POLICIES(TL_VERBS_OF)

#define TL_ENTRY_VERBS(id) TL(wrap_inherit_##id), TL(wrap_send_##id), TL(wrap_timer_##id), TL(wrap_ack_##id)
const struct tl_kernel_resend tl_kernel_resends[] = { TL_RESEND_POLICIES(TL_ENTRY_OF) TL_RESEND_PRESETS(TL_PRESET_OF) };
TL_CHOOSABLE(tl_resends, tl_kernel_resends, "resend policy", "resend", "none");

#define TL_RESEND_STATE(id, ...) struct TL(id) id;
union tl_resend_states {
	TL_RESEND_POLICIES(TL_RESEND_STATE)
};
const u32 tl_kernel_resend_bytes_max = sizeof(union tl_resend_states);
