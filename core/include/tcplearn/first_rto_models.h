/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Made by python -m tcplearn.learn.export of core/models/. */
#ifndef TCPLEARN_FIRST_RTO_MODELS_H
#define TCPLEARN_FIRST_RTO_MODELS_H

#include "first_rto.h"

enum tl_first_rto_choice { TL_FIRST_RTO_RFC6298 = 0, TL_FIRST_RTO_EMULATED = 1 };
#define TL_FIRST_RTO_MODEL_COUNT 2

TL_FN void tl_first_rto_rfc6298(struct tl_first_rto_model *out)
{
	out->place.constant_us = 0;
	out->place.last_q16 = 196608;
	out->place.high_q16 = 0;
	out->place.hop_us = 0;
	out->place.there = 1;
	out->prefix.constant_us = 0;
	out->prefix.last_q16 = 0;
	out->prefix.high_q16 = 0;
	out->prefix.hop_us = 0;
	out->prefix.there = 0;
	out->hops.constant_us = 0;
	out->hops.last_q16 = 0;
	out->hops.high_q16 = 0;
	out->hops.hop_us = 0;
	out->hops.there = 0;
	out->nothing.constant_us = 0;
	out->nothing.last_q16 = 0;
	out->nothing.high_q16 = 0;
	out->nothing.hop_us = 0;
	out->nothing.there = 0;
	out->floor_us = 200000;
	out->cap_us = 1000000;
	out->max_age_us = 3600000000;
}

TL_FN void tl_first_rto_emulated(struct tl_first_rto_model *out)
{
	out->place.constant_us = 0;
	out->place.last_q16 = 0;
	out->place.high_q16 = 93949;
	out->place.hop_us = 0;
	out->place.there = 1;
	out->prefix.constant_us = 0;
	out->prefix.last_q16 = 0;
	out->prefix.high_q16 = 0;
	out->prefix.hop_us = 0;
	out->prefix.there = 0;
	out->hops.constant_us = 0;
	out->hops.last_q16 = 0;
	out->hops.high_q16 = 0;
	out->hops.hop_us = 0;
	out->hops.there = 0;
	out->nothing.constant_us = 305643;
	out->nothing.last_q16 = 0;
	out->nothing.high_q16 = 0;
	out->nothing.hop_us = 0;
	out->nothing.there = 1;
	out->floor_us = 20000;
	out->cap_us = 1000000;
	out->max_age_us = 604800000000;
}

TL_FN void tl_first_rto_model(uint32_t model, struct tl_first_rto_model *out)
{
	if (model == TL_FIRST_RTO_EMULATED)
		tl_first_rto_emulated(out);
	else
		tl_first_rto_rfc6298(out);
}

#endif
