/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "lookup.h"
#include "tcplearn/wrap.h"

#define TL_ENTRY_VERBS(id) TL(wrap_report_##id), TL(wrap_decide_##id), TL(wrap_note_##id)
/* integers in both arithmetics */
#define tl_startup_registry_f64 tl_startup_registry_fix

TL_STARTUP_POLICIES(TL_TABLE_OF)

#include "tcplearn/arithmetic/fixed.h"
TL_REGISTRY(tl_startup_policy, tl_startup_registry_fix, TL_STARTUP_POLICIES, TL_STARTUP_PRESETS)
#include "tcplearn/arithmetic/end.h"

TL_LOOK_UP(tl_startup, tl_startup_policy, tl_startup_registry, "startup policy", "startup")
