/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions that are the same for all kinds of algorithms. */
#include "lookup.h"
#include "tcplearn/spec.h"

const struct tl_kind *tl_kind_at(enum tl_kind_of kind, enum tl_arithmetic arithmetic)
{
	static const struct tl_kind *const kinds[TL_KINDS] = { tl_estimator_kinds, tl_loss_kinds,
							       tl_startup_kinds, tl_resend_kinds,
							       tl_first_rto_kinds };

	return kinds[kind] + (arithmetic == TL_FIX);
}

const struct tl_algorithm *tl_algorithm_read(enum tl_kind_of kind, enum tl_arithmetic arithmetic,
					     const char *spec, void *params, uint64_t *given, char *error,
					     size_t error_bytes)
{
	const size_t length = strlen(spec);
	struct tl_spec out;

	if (tl_spec_read(tl_kind_at(kind, arithmetic), spec,
			 length < UINT32_MAX ? (uint32_t)length : UINT32_MAX, &out, params, error,
			 (uint32_t)error_bytes))
		return NULL;
	if (given)
		*given = out.given;
	return out.algorithm;
}
