/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* No include guard: the registry of one arithmetic, by the macros of resend_registry.c. */

/* clang-format off */
TL_RESEND_POLICIES(TL_LIBRARY_RESEND)

static const struct tl_resend_policy TL(resend_registry)[] = {
	TL_RESEND_POLICIES(TL_RESEND_POLICY_ENTRY)
	TL_RESEND_PRESETS(TL_RESEND_PRESET_ENTRY)
};
/* clang-format on */
