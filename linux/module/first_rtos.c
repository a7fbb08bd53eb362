// SPDX-License-Identifier: GPL-2.0-only
/* Makes the module's table of first-RTO policies from the core's list; no line here names a policy. */
#include <tcplearn/registry.h>
#include <tcplearn/wrap.h>

#include "first_rtos.h"

#include <tcplearn/arithmetic/fixed.h>

TL_FIRST_RTO_POLICIES(TL_TABLE_OF)
TL_FIRST_RTO_POLICIES(TL_VERBS_OF)

#define TL_ENTRY_VERBS(id) TL(wrap_report_##id), TL(wrap_doubt_##id), TL(wrap_resent_##id), TL(wrap_rto_us_##id)
static const struct tl_kernel_first_rto first_rtos[] = { TL_FIRST_RTO_POLICIES(TL_ENTRY_OF) TL_FIRST_RTO_PRESETS(TL_PRESET_OF) };
TL_CHOOSABLE(tl_first_rtos, first_rtos, "first RTO policy", "first-rto", "none");
