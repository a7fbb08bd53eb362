/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "tcplearn/tcplearn.h"
#include "tcplearn/wrap.h"

#include "params_table.h"

#define TL_TABLE(id, label, list, state, timer, origin, summary, about) \
	static const struct tl_param table_##id[] = { list(TL_INFO) };
TL_ESTIMATORS(TL_TABLE)

static struct tl_sample tl_sample_of_row(const struct tl_columns *c, size_t k)
{
	struct tl_sample in;

	in.time_us = c->time_us[k];
	in.sent_us = c->sent_us[k];
	in.rtt_us = c->rtt_us[k];
	in.ack_delay_us = c->ack_delay_us ? c->ack_delay_us[k] : 0;
	in.flight_segments = c->flight_segments ? c->flight_segments[k] : 0;
	in.ttl = c->ttl ? c->ttl[k] : 0;
	in.hops = c->hops ? c->hops[k] : 0;
	return in;
}

#define TL_ARITHMETIC TL_F64
#include "tcplearn/arithmetic/double.h"
#include "registry_arithmetic.h"
#include "tcplearn/arithmetic/end.h"
#undef TL_ARITHMETIC

#define TL_ARITHMETIC TL_FIX
#include "tcplearn/arithmetic/fixed.h"
#include "registry_arithmetic.h"
#include "tcplearn/arithmetic/end.h"
#undef TL_ARITHMETIC

TL_LOOK_UP(tl_estimator, tl_estimator, tl_registry)
