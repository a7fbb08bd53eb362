/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every estimator in every number model the host can run: names end in _f64 or _fix. */
#ifndef TCPLEARN_ESTIMATORS_H
#define TCPLEARN_ESTIMATORS_H

#include "params.h"
#include "estimators/experts_q16_arithmetic.h"
#include "sample.h"

#ifndef TL_NO_F64
#include "arithmetic/double.h"
#include "estimators/all.h"
#include "arithmetic/end.h"
#endif

#include "arithmetic/fixed.h"
#include "estimators/all.h"
#include "arithmetic/end.h"

#endif
