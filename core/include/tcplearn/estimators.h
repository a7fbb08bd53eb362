/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every estimator in every arithmetic the host can run: names end in _f64 or _fix. */
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
