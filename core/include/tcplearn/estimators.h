/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Includes every RTO estimator in every available arithmetic. Names end in _f64 (double precision, not
 * available in a kernel or in BPF) or _fix (fixed point). */
#ifndef TCPLEARN_ESTIMATORS_H
#define TCPLEARN_ESTIMATORS_H

#include "params.h"
#include "sample.h"
#include "timer.h"

#ifndef TL_NO_F64
#include "arithmetic/double.h"
#include "estimators/list.h"
#include "arithmetic/end.h"
#endif

#include "arithmetic/fixed.h"
#include "estimators/list.h"
#include "arithmetic/end.h"

#endif
