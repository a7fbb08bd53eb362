/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "lookup.h"
#include "tcplearn/wrap.h"

TL_ESTIMATORS(TL_TABLE_OF)

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

#include "tcplearn/arithmetic/double.h"
#include "estimator_registry_arithmetic.h"
#include "tcplearn/arithmetic/end.h"

#include "tcplearn/arithmetic/fixed.h"
#include "estimator_registry_arithmetic.h"
#include "tcplearn/arithmetic/end.h"

TL_LOOK_UP(tl_estimator, tl_estimator, tl_estimator_registry, "estimator", "estimator")
