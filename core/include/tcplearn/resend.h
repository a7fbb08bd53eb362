/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Includes every resend policy (when the retransmission timer sends again) in every available arithmetic.
 * Names end in _f64 (double precision, not available in a kernel or in BPF) or _fix (fixed point). */
#ifndef TCPLEARN_RESEND_H
#define TCPLEARN_RESEND_H

#include "estimators.h"
#include "resend/events.h"

#ifndef TL_NO_F64
#include "arithmetic/double.h"
#include "resend/list.h"
#include "arithmetic/end.h"
#endif

#include "arithmetic/fixed.h"
#include "resend/list.h"
#include "arithmetic/end.h"

#endif
