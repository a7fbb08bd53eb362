/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "tcplearn/tcplearn.h"
#include "tcplearn/wrap.h"

#include "params_table.h"

#define TL_TABLE(id, label, list, learned, summary, about) \
	static const struct tl_param table_##id[] = { list(TL_INFO) };
TL_RESEND_POLICIES(TL_TABLE)

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
