/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The lists unrolled, once for all hosts, in every arithmetic that the host can run. For each estimator ID of
 * estimators/list.h, with the suffix _f64 or _fix, on memory that the caller owns (aligned for int64_t):
 *
 *   void     tl_wrap_defaults_ID(void *params)         of a preset: tl_wrap_defaults_ID_PRESET
 *   int      tl_wrap_set_ID(void *params, uint32_t index, VALUE)    0, or -1: refused; tl_param_index()
 *   VALUE    tl_wrap_get_ID(const void *params, uint32_t index)     of params.h finds a key's index
 *   uint32_t tl_wrap_state_bytes_ID(const void *params)
 *   void     tl_wrap_init_ID(void *state, const void *params)
 *   void     tl_wrap_update_ID(void *state, const struct tl_sample *)
 *   void     tl_wrap_query_ID(const void *state, struct tl_prediction_ARITHMETIC *)
 *
 * VALUE is a double, or an int64_t with 30 fractional bits, for every type of parameter. Another kind of
 * algorithm adds the wrap.h of its folder here. */
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
