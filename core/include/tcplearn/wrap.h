/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions with fixed names for every algorithm, in every available arithmetic. For each estimator ID in
 * estimators/list.h there are these functions, with the suffix _f64 or _fix. They work on memory that the
 * caller owns, aligned for int64_t:
 *
 *   void     tl_wrap_defaults_ID(void *params)         for a preset: tl_wrap_defaults_ID_PRESET
 *   int      tl_wrap_set_ID(void *params, uint32_t index, VALUE)    returns 0, or -1: refused
 *   VALUE    tl_wrap_get_ID(const void *params, uint32_t index)
 *   uint32_t tl_wrap_state_bytes_ID(const void *params)
 *   void     tl_wrap_init_ID(void *state, const void *params)
 *   void     tl_wrap_update_ID(void *state, const struct tl_sample *)
 *   void     tl_wrap_query_ID(const void *state, struct tl_prediction_ARITHMETIC *)
 *
 * VALUE is a double, or an int64_t with 30 fractional bits, whatever the type of the parameter. Another kind of
 * algorithm adds the wrap.h of its own folder to the includes below. */
#ifndef TCPLEARN_WRAP_H
#define TCPLEARN_WRAP_H

#include "estimators.h"
#include "first_rto_models.h"
#include "loss.h"
#include "resend.h"
#include "startup.h"

#ifndef TL_NO_F64
#include "arithmetic/double.h"
#include "estimators/wrap.h"
#include "loss/wrap.h"
#include "resend/wrap.h"
#include "arithmetic/end.h"
#endif

#include "arithmetic/fixed.h"
#include "estimators/wrap.h"
#include "loss/wrap.h"
#include "resend/wrap.h"
#include "startup/wrap.h"
#include "first_rto/list.h"
#include "first_rto/wrap.h"
#include "arithmetic/end.h"

#endif
