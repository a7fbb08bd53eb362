/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <string.h>

#include "tcplearn/tcplearn.h"
#include "tcplearn/wrap.h"

#include "params_table.h"

#define TL_TABLE(id, label, list, history, summary, about) \
	static const struct tl_param table_##id[] = { list(TL_INFO) };
TL_STARTUP_POLICIES(TL_TABLE)

#include "tcplearn/arithmetic/fixed.h"

/* clang-format off */
#define TL_STARTUP_LIBRARY(id, label, list, history, summary, about) TL_LIBRARY_PARAMS(id)
TL_STARTUP_POLICIES(TL_STARTUP_LIBRARY)

#define TL_STARTUP_ENTRY(id, label, brief, glossary, defaults_fn) \
	{ label, brief, glossary, TL_COMMON_FIELDS(id, defaults_fn), TL(wrap_report_##id), TL(wrap_decide_##id), \
	  TL(wrap_note_##id) },
#define TL_STARTUP_POLICY_ENTRY(id, label, list, history, summary, about) \
	TL_STARTUP_ENTRY(id, label, summary, about, TL(wrap_defaults_##id))
#define TL_STARTUP_PRESET_ENTRY(id, preset, label, summary) \
	TL_STARTUP_ENTRY(id, label, summary, "", TL(wrap_defaults_##id##_##preset))

static const struct tl_startup_policy policies[] = {
	TL_STARTUP_POLICIES(TL_STARTUP_POLICY_ENTRY)
	TL_STARTUP_PRESETS(TL_STARTUP_PRESET_ENTRY)
};
/* clang-format on */

#include "tcplearn/arithmetic/end.h"

size_t tl_startup_count(void)
{
	return TL_COUNT_OF(policies);
}

const struct tl_startup_policy *tl_startup_at(size_t index)
{
	return index < tl_startup_count() ? &policies[index] : NULL;
}

const struct tl_startup_policy *tl_startup_find(const char *name)
{
	size_t i = 0;

	while (i < tl_startup_count() && strcmp(policies[i].name, name) != 0)
		i++;
	return tl_startup_at(i);
}
