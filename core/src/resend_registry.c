/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "lookup.h"
#include "tcplearn/wrap.h"

#define TL_ENTRY_VERBS(id) TL(wrap_inherit_##id), TL(wrap_send_##id), TL(wrap_timer_##id), TL(wrap_ack_##id)

TL_RESEND_POLICIES(TL_TABLE_OF)

#include "tcplearn/arithmetic/double.h"
TL_REGISTRY(tl_resend_policy, tl_resend_registry_f64, TL_RESEND_POLICIES, TL_RESEND_PRESETS)
#include "tcplearn/arithmetic/end.h"

#include "tcplearn/arithmetic/fixed.h"
TL_REGISTRY(tl_resend_policy, tl_resend_registry_fix, TL_RESEND_POLICIES, TL_RESEND_PRESETS)
#include "tcplearn/arithmetic/end.h"

TL_LOOK_UP(tl_resend, tl_resend_policy, tl_resend_registry, "resend policy", "resend")
