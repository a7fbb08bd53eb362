/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* No include guard: the registry of one arithmetic over resend/wrap.h. TL_ARITHMETIC is TL_F64 or TL_FIX. */

#ifndef TCPLEARN_RESEND_REGISTRY_ARITHMETIC_H
#define TCPLEARN_RESEND_REGISTRY_ARITHMETIC_H

/* clang-format off */
#define TL_LIBRARY_RESEND(id, label, list, learned, summary, about) TL_LIBRARY_PARAMS(id)

#define TL_RESEND_ENTRY(id, label, brief, glossary, defaults_fn) \
	{ TL_ARITHMETIC, (int)tl_learned_of_##id, label, brief, glossary, table_##id, TL_COUNT_OF(table_##id), \
	  sizeof(struct TL(id##_params)), defaults_fn, TL(set_##id), TL(get_##id), TL(state_bytes_##id), \
	  TL(wrap_init_##id), TL(wrap_send_##id), TL(wrap_timer_##id), TL(wrap_ack_##id) },
#define TL_RESEND_POLICY_ENTRY(id, label, list, learned, summary, about) \
	TL_RESEND_ENTRY(id, label, summary, about, TL(wrap_defaults_##id))
#define TL_RESEND_PRESET_ENTRY(id, preset, label, summary) \
	TL_RESEND_ENTRY(id, label, summary, "", TL(wrap_defaults_##id##_##preset))
#endif

TL_RESEND_POLICIES(TL_LIBRARY_RESEND)

static const struct tl_resend_policy TL(resend_registry)[] = {
	TL_RESEND_POLICIES(TL_RESEND_POLICY_ENTRY)
	TL_RESEND_PRESETS(TL_RESEND_PRESET_ENTRY)
};
/* clang-format on */
