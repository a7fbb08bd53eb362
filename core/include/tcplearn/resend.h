/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every resend policy in every arithmetic the host can run: names end in _f64 or _fix. */
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
