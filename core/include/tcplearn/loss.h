/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Includes every loss classifier (was a loss random or caused by congestion?) in every available
 * arithmetic. Names end in _f64 (double precision, not available in a kernel or in BPF) or _fix (fixed
 * point). */
#ifndef TCPLEARN_LOSS_H
#define TCPLEARN_LOSS_H

#include "loss/events.h"
#include "params.h"
#include "sample.h"

#ifndef TL_NO_F64
#include "arithmetic/double.h"
#include "loss/list.h"
#include "arithmetic/end.h"
#endif

#include "arithmetic/fixed.h"
#include "loss/list.h"
#include "arithmetic/end.h"

#endif
