/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "tcplearn/tcplearn.h"
#include "tcplearn/wrap.h"

#include "params_table.h"

#define TL_TABLE(id, label, list, learned, summary, about) \
	static const struct tl_param table_##id[] = { list(TL_INFO) };
TL_RESEND_POLICIES(TL_TABLE)

/* clang-format off */
#define TL_LIBRARY_RESEND(id, label, list, learned, summary, about) TL_LIBRARY_PARAMS(id)

#define TL_RESEND_ENTRY(id, label, brief, glossary, defaults_fn) \
	{ TL_ARITHMETIC, (int)tl_learned_of_##id, label, brief, glossary, TL_COMMON_FIELDS(id, defaults_fn), \
	  TL(wrap_inherit_##id), TL(wrap_send_##id), TL(wrap_timer_##id), TL(wrap_ack_##id) },
#define TL_RESEND_POLICY_ENTRY(id, label, list, learned, summary, about) \
	TL_RESEND_ENTRY(id, label, summary, about, TL(wrap_defaults_##id))
#define TL_RESEND_PRESET_ENTRY(id, preset, label, summary) \
	TL_RESEND_ENTRY(id, label, summary, "", TL(wrap_defaults_##id##_##preset))
/* clang-format on */

#define TL_ARITHMETIC TL_F64
#include "tcplearn/arithmetic/double.h"
#include "resend_registry_arithmetic.h"
#include "tcplearn/arithmetic/end.h"
#undef TL_ARITHMETIC

#define TL_ARITHMETIC TL_FIX
#include "tcplearn/arithmetic/fixed.h"
#include "resend_registry_arithmetic.h"
#include "tcplearn/arithmetic/end.h"
#undef TL_ARITHMETIC

TL_LOOK_UP(tl_resend, tl_resend_policy, tl_resend_registry)
