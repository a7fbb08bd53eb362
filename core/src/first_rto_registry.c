/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "lookup.h"
#include "tcplearn/wrap.h"

#define TL_ENTRY_VERBS(id) \
	TL(wrap_report_##id), TL(wrap_doubt_##id), TL(wrap_resent_##id), TL(wrap_rto_us_##id)
/* integers in both arithmetics */
#define tl_first_rto_registry_f64 tl_first_rto_registry_fix

TL_FIRST_RTO_POLICIES(TL_TABLE_OF)

#include "tcplearn/arithmetic/fixed.h"
TL_REGISTRY(tl_first_rto_policy, tl_first_rto_registry_fix, TL_FIRST_RTO_POLICIES, TL_FIRST_RTO_PRESETS)
#include "tcplearn/arithmetic/end.h"

TL_LOOK_UP(tl_first_rto, tl_first_rto_policy, tl_first_rto_registry, "first RTO policy", "first-rto")
