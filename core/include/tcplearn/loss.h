/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every classifier of a loss's cause in every arithmetic the host can run: names end in _f64 or _fix. */
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
