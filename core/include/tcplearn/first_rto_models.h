/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Made by python -m tcplearn.learn.export from core/models/: the trained models of the first RTO. */
#ifndef TCPLEARN_FIRST_RTO_MODELS_H
#define TCPLEARN_FIRST_RTO_MODELS_H

#include "first_rto.h"

enum tl_first_rto_choice { TL_FIRST_RTO_RFC6298 = 0, TL_FIRST_RTO_EMULATED = 1 };
#define TL_FIRST_RTO_MODEL_COUNT 2

TL_FN void tl_first_rto_rfc6298(struct tl_first_rto_model *out)
{
	tl_first_rto_set(&out->place, 0, 196608, 0, 0);
	tl_first_rto_leave(&out->prefix);
	tl_first_rto_leave(&out->hops);
	tl_first_rto_leave(&out->nothing);
	out->floor_us = 200000;
	out->cap_us = 1000000;
	out->max_age_us = 3600000000;
}

TL_FN void tl_first_rto_emulated(struct tl_first_rto_model *out)
{
	tl_first_rto_set(&out->place, 0, 0, 93949, 0);
	tl_first_rto_leave(&out->prefix);
	tl_first_rto_leave(&out->hops);
	tl_first_rto_set(&out->nothing, 305643, 0, 0, 0);
	out->floor_us = 20000;
	out->cap_us = 1000000;
	out->max_age_us = 604800000000;
}

TL_FN void tl_first_rto_shipped(uint32_t model, struct tl_first_rto_model *out)
{
	if (model == TL_FIRST_RTO_EMULATED)
		tl_first_rto_emulated(out);
	else
		tl_first_rto_rfc6298(out);
}

#endif
