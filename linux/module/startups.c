// SPDX-License-Identifier: GPL-2.0-only
/* Makes the module's table of startup policies from the core's list; no line here names a policy. */
#include <tcplearn/registry.h>
#include <tcplearn/wrap.h>

#include "startups.h"

#include <tcplearn/arithmetic/fixed.h>

TL_STARTUP_POLICIES(TL_TABLE_OF)
TL_STARTUP_POLICIES(TL_VERBS_OF)

#define TL_REMEMBERS_TL_STARTUP_STATIC false
#define TL_REMEMBERS_TL_STARTUP_REMEMBERING true
#define TL_REMEMBERS_OF(id, label, list, learned, summary, about, history) \
	enum { tl_remembers_##id = TL_REMEMBERS_##history };
TL_STARTUP_POLICIES(TL_REMEMBERS_OF)

#define TL_ENTRY_VERBS(id) tl_remembers_##id, TL(wrap_report_##id), TL(wrap_note_##id), TL(wrap_decide_##id)
const struct tl_kernel_startup tl_kernel_startups[] = { TL_STARTUP_POLICIES(TL_ENTRY_OF) TL_STARTUP_PRESETS(TL_PRESET_OF) };
TL_CHOOSABLE(tl_startups, tl_kernel_startups, "startup policy", "startup", "stock");
